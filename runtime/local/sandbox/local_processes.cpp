// What is executed in sandboxes of this machine, to its end or beside others.
#include "runtime/local/sandbox/inside/living_tree.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"
#include "runtime/local/warden/launch_block.hpp"

#include <csignal>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// How long the end of a process that was killed may take: beyond 10 s its
/// sandbox is ended, which takes some time as well.
constexpr std::chrono::seconds end_patience{20};

/// What every process has, unless its sandbox or its caller says otherwise.
std::vector<std::pair<std::string, secret>>
variables_of(const sandbox_handle& sandbox, const process_request& what) {
  environment all{{"HOME", secret{isolation::living_home}},
                  {"LANG", secret{"C.UTF-8"}},
                  {"PATH",
                   secret{"/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:"
                          "/usr/sbin:/sbin"}},
                  {"SHELL", secret{"/bin/sh"}},
                  {"TMPDIR", secret{"/tmp"}},
                  {"USER", secret{"user"}}};
  if (what.terminal)
    all.insert_or_assign("TERM", secret{"xterm-256color"});
  for (const auto& [name, value] : sandbox.env)
    all.insert_or_assign(name, value);
  for (const auto& [name, value] : what.env)
    all.insert_or_assign(name, secret{value});
  return {all.begin(), all.end()};
}

} // namespace

result<local_sandboxes::beginning>
local_sandboxes::begin(const sandbox_handle& sandbox, process_request what,
                       bool open_input, process_events events,
                       unique_fd channel, unique_fd input_file) {
  auto found = find(sandbox);
  if (!found)
    return found.error();
  if (what.cwd.empty())
    what.cwd = isolation::living_home;
  if (what.cwd.front() != '/' || what.cwd.find('\0') != what.cwd.npos
      || what.cwd.size() > 4'096)
    return bad_field("/cwd", "it is not an absolute path");
  auto block = make_launch_block(what.argv, variables_of(sandbox, what));
  if (!block)
    return block.error();
  living_sandbox::command command;
  auto process = what.terminal
    ? living_process::make_at_terminal(executor_, what.input, std::move(events))
    : living_process::make(executor_, what.input, open_input, std::move(events),
                           command.ends);
  if (!process)
    return process.error();
  beginning out{(*found)->sandbox, *process,
                std::make_shared<call_wait>(executor_),
                std::make_shared<std::optional<error>>()};
  if (input_file)
    command.ends.in = std::move(input_file);
  command.process = *process;
  command.ends.channel = std::move(channel);
  command.launch = std::move(*block);
  command.cwd = std::move(what.cwd);
  command.terminal = what.terminal;
  command.may_leave = (*found)->network.may_leave;
  (*found)->network.has_begun = true;
  command.begun
    = [begun = out.begun, refused = out.refused](std::optional<error> no) {
        *refused = std::move(no);
        begun->tell();
      };
  if (auto begun = (*found)->sandbox->begin(std::move(command)); !begun)
    return begun.error();
  return out;
}

asio::awaitable<result<sandbox_process_ptr>>
local_sandboxes::start(const sandbox_handle& sandbox, process_request what,
                       bool open_input, process_events events,
                       call_scope scope) {
  auto self = shared_from_this();
  auto begun = begin(sandbox, std::move(what), open_input, std::move(events));
  if (!begun)
    co_return begun.error();
  const bool told = co_await begun->begun->wait(scope);
  if (!told) {
    begun->process->forget();
    (void)begun->process->signal(SIGKILL);
    co_return not_in_time(scope, "beginning a process");
  }
  if (*begun->refused)
    co_return **begun->refused;
  tell_begun(scope);
  co_return sandbox_process_ptr{begun->process};
}

asio::awaitable<process_outcome>
local_sandboxes::execute(const sandbox_handle& sandbox, process_request what,
                         output_sink sink, call_scope scope) {
  auto self = shared_from_this();
  auto ended = std::make_shared<call_wait>(executor_);
  auto how = std::make_shared<std::optional<result<process_end>>>();
  process_events events;
  events.output = std::move(sink);
  events.ended = [ended, how](result<process_end> end) {
    *how = std::move(end);
    ended->tell();
  };
  auto begun = begin(sandbox, std::move(what), false, std::move(events));
  if (!begun)
    co_return process_outcome{begun.error(), false};
  const bool told = co_await begun->begun->wait(scope);
  if (told && *begun->refused) // a keeper that is lost has not said which
    co_return process_outcome{**begun->refused, begun->sandbox->is_over()};
  if (told)
    tell_begun(scope);
  const bool over = told ? co_await ended->wait(scope) : false;
  if (over) {
    const auto& end = how->value();
    if (end)
      co_return process_outcome{*end};
    co_return process_outcome{end.error(), true};
  }
  auto why = not_in_time(scope, "the process");
  (void)begun->process->signal(SIGKILL);
  call_scope patience{std::chrono::steady_clock::now() + end_patience, {}};
  co_await ended->wait(patience);
  begun->process->forget();
  co_return process_outcome{std::move(why), true};
}

asio::awaitable<process_outcome>
local_sandboxes::run_script(const sandbox_handle& sandbox, language lang,
                            sandbox_script script, output_sink sink,
                            call_scope scope) {
  process_request what;
  what.argv = {lang == language::python ? "python3" : "node", "-"};
  what.input = script.text();
  return execute(sandbox, std::move(what), std::move(sink), std::move(scope));
}

} // namespace troupe
