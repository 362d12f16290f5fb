#include "net/providers/daytona/self_test.hpp"

#include "net/providers/daytona/calls.hpp"
#include "net/providers/daytona/messages.hpp"
#include "net/providers/daytona/replies.hpp"
#include "net/providers/shell_quote.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/printable.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/sandboxes/self_test_files.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace daytona;
using told = result<std::string>;
using done = result<void>;

constexpr std::uint16_t some_port = 3'000;
constexpr auto command_limit = 30s;

struct stage {
  sandbox_provider& whole;
  std::shared_ptr<daytona_client> client;
  sandbox_handle in;
  call_scope scope;
  std::string folder = "/tmp/troupe-trial-" + make_uuid();

  asio::awaitable<result<client_response>> ask(daytona::call what) {
    return client->perform(in, std::move(what), scope);
  }
};

error odd(std::string text) {
  return fail(ec::unavailable, std::move(text));
}

/// Whether an answer holds a text; which one it is in is its provider's.
asio::awaitable<done> expect(stage& on, daytona::call what,
                             std::string_view text) {
  std::string doing{what.doing};
  auto reply = co_await on.ask(std::move(what));
  if (!reply)
    co_return reply.error();
  if (reply->body.find(text) == std::string::npos)
    co_return odd(doing + ": '" + std::string{text}
                  + "' is not in its answer: " + printable(reply->body));
  co_return done{};
}

// -- files --------------------------------------------------------------------

asio::awaitable<told> search(stage& on) {
  auto file = on.folder + "/needle.txt";
  std::vector<std::string> paths{file};
  std::vector<sandbox_file> files;
  files.push_back({file, "hay\nneedle\n"});
  auto put = co_await on.whole.files()->write(on.in, files, on.scope);
  if (!put)
    co_return put.error();
  auto fine
    = co_await expect(on, search_names(on.folder, "*.txt"), "needle.txt");
  if (fine)
    fine = co_await expect(on, find_text(on.folder, "needle"), "needle.txt");
  if (fine)
    fine = co_await expect(on, replace_text(paths, "needle", "thread"),
                           "\"success\":true");
  if (fine)
    fine = co_await expect(on, download(file), "hay\nthread\n");
  if (fine)
    fine = co_await expect(on, set_permissions(file, "600"), "");
  if (fine)
    fine = co_await expect(on, remove(file, false), "");
  if (!fine)
    co_return fine.error();
  co_return std::string{"found by name and text, replaced, and made private"};
}

// -- commands -----------------------------------------------------------------

asio::awaitable<result<mixed_output>> run(stage& on, daytona::call what) {
  auto reply = co_await on.ask(std::move(what));
  if (!reply)
    co_return reply.error();
  co_return parse_execution(reply->body);
}

asio::awaitable<told> commands(stage& on) {
  std::map<std::string, std::string> env{{"WORD", "it's \"here\""}};
  auto what
    = execute("printf %s \"$WORD\"; exit 3", "/tmp", env, command_limit);
  auto came = co_await run(on, std::move(what));
  if (!came)
    co_return came.error();
  if (came->exit_code != 3 || came->text.find(env["WORD"]) == std::string::npos)
    co_return odd("the command ended as " + std::to_string(came->exit_code)
                  + " with: " + printable(came->text));
  std::vector<std::string> words{"x"};
  what = run_code("import os, sys\nprint(sys.argv[1] + os.environ['WORD'])",
                  "python", words, env, command_limit);
  came = co_await run(on, std::move(what));
  if (!came)
    co_return came.error();
  if (came->exit_code != 0
      || came->text.find("x" + env["WORD"]) == std::string::npos)
    co_return odd("the code ended as " + std::to_string(came->exit_code)
                  + " with: " + printable(came->text));
  co_return std::string{"a command and code, with words and variables"};
}

// -- git ----------------------------------------------------------------------

asio::awaitable<done> commit_something(stage& on, const std::string& where) {
  std::vector<std::string> names{"a.txt"};
  std::vector<sandbox_file> files;
  files.push_back({where + "/a.txt", "a\n"});
  auto put = co_await on.whole.files()->write(on.in, files, on.scope);
  if (!put)
    co_return put.error();
  auto fine = co_await expect(on, git_status(where), "a.txt");
  if (fine)
    fine = co_await expect(on, git_add(where, names), "");
  if (fine)
    fine = co_await expect(
      on, git_commit(where, "a first one", "Troupe", "trial@example.org"),
      "hash");
  co_return fine;
}

/// The repository is made by git itself, if it is there.
asio::awaitable<told> git(stage& on) {
  auto where = on.folder + "/repository";
  auto line = "mkdir -p " + shell_quote(where) + " && git -C "
    + shell_quote(where) + " init -q -b main";
  auto begin = execute(line, "", {}, command_limit);
  auto made = co_await run(on, std::move(begin));
  if (!made)
    co_return made.error();
  if (made->exit_code == 127)
    co_return std::string{"not tried: this snapshot has no git"};
  if (made->exit_code != 0)
    co_return odd("git init: " + printable(made->text));
  auto fine = co_await commit_something(on, where);
  if (fine)
    fine = co_await expect(on, git_create_branch(where, "other"), "");
  if (fine)
    fine = co_await expect(on, git_branches(where), "other");
  if (fine)
    fine = co_await expect(on, git_checkout(where, "other"), "");
  if (fine)
    fine = co_await expect(on, git_status(where), "other");
  if (fine)
    fine = co_await expect(on, git_checkout(where, "main"), "");
  if (fine)
    fine = co_await expect(on, git_delete_branch(where, "other"), "");
  if (!fine)
    co_return fine.error();
  co_return std::string{"committed, branched and checked out"};
}

// -- the sandbox itself -------------------------------------------------------

asio::awaitable<told> previews(stage& on) {
  for (auto signed_too : {false, true}) {
    auto what = signed_too ? signed_preview(on.in.id, some_port, 60s)
                           : preview(on.in.id, some_port);
    auto reply = co_await on.ask(std::move(what));
    if (!reply)
      co_return reply.error();
    auto url = parse_text(reply->body, "url");
    auto read = url ? parse_base_url(*url) : result<base_url>{url.error()};
    if (!read)
      co_return read.error().within("the URL of a port");
  }
  co_return std::string{"URLs of a port, plain and signed"};
}

/// What it is found by has to stay.
asio::awaitable<told> labels(stage& on) {
  auto shown = co_await on.ask(show_sandbox(on.in.id));
  if (!shown)
    co_return shown.error();
  auto all = parse_labels(shown->body);
  if (!all)
    co_return all.error();
  all->insert_or_assign("troupe_trial", "1");
  auto fine = co_await expect(on, set_labels(on.in.id, *all), "");
  if (fine)
    fine = co_await expect(on, show_sandbox(on.in.id), "troupe_trial");
  if (fine)
    fine = co_await expect(on, set_autostop(on.in.id, 30min), "");
  if (!fine)
    co_return fine.error();
  co_return std::string{"one more label, and half an hour until it stops"};
}

asio::awaitable<done> wait_for(stage& on, std::string_view wanted) {
  daytona_client::poll_interval interval;
  for (;;) {
    auto shown = co_await on.ask(show_sandbox(on.in.id));
    if (!shown)
      co_return shown.error();
    auto now = parse_sandbox(shown->body);
    if (!now)
      co_return now.error();
    if (now->state == wanted)
      co_return done{};
    if (now->failed())
      co_return odd("it is " + now->state + " instead of "
                    + std::string{wanted});
    auto waited = co_await on.client->pause(interval, on.scope);
    if (!waited)
      co_return waited.error();
  }
}

/// Ours are deleted when they stop: this one is not, for once.
asio::awaitable<told> stop_and_start(stage& on) {
  auto fine = co_await expect(on, set_autodelete(on.in.id, 60min), "");
  if (fine)
    fine = co_await expect(on, stop_sandbox(on.in.id), "");
  if (fine)
    fine = co_await wait_for(on, "stopped");
  if (fine)
    fine = co_await expect(on, start_sandbox(on.in.id), "");
  if (fine)
    fine = co_await wait_for(on, "started");
  if (!fine)
    co_return fine.error();
  co_return std::string{"stopped, and runs again"};
}

using act = asio::awaitable<told> (*)(stage&);

asio::awaitable<told> play(act what, sandbox_provider& whole,
                           std::shared_ptr<daytona_client> client,
                           sandbox_handle in, call_scope scope) {
  stage on{whole, std::move(client), std::move(in), std::move(scope)};
  auto came = co_await what(on);
  co_return came;
}

} // namespace

std::vector<sandbox_self_test> daytona_self_tests(sandbox_provider& whole,
                                                  daytona_client client) {
  std::vector<sandbox_self_test> all;
  all.push_back(files_self_test(*whole.files()));
  auto shared = std::make_shared<daytona_client>(std::move(client));
  auto add = [&](std::string name, act what) {
    all.push_back({std::move(name),
                   [&whole, shared, what](sandbox_handle in, call_scope scope) {
                     return play(what, whole, shared, std::move(in),
                                 std::move(scope));
                   }});
  };
  add("search and replace", search);
  add("short commands", commands);
  add("git", git);
  add("previews", previews);
  add("labels and times", labels);
  add("stop and start", stop_and_start);
  return all;
}

} // namespace troupe::net
