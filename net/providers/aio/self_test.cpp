#include "net/providers/aio/self_test.hpp"

#include "runtime/base/error.hpp"
#include "runtime/json/printable.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/sandboxes/self_test_files.hpp"

namespace troupe::net {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace aio;
using told = result<std::string>;
using done = result<void>;

constexpr auto code_limit = 30s;

struct stage {
  sandbox_provider& whole;
  aio_client client;
  sandbox_handle in;
  call_scope scope;
  std::string folder = "/tmp/troupe-trial-" + make_uuid();
};

/// Whether an answer holds a text; which one it is in is its maker's.
asio::awaitable<done> expect(stage& on, operation what, std::string_view text) {
  std::string doing{what.doing};
  auto data = co_await on.client.call(std::move(what), on.scope);
  if (!data)
    co_return data.error();
  auto answer = json::to_text(*data);
  if (answer.find(text) == std::string::npos)
    co_return fail(ec::unavailable,
                   doing + ": '" + std::string{text}
                     + "' is not in its answer: " + printable(answer));
  co_return done{};
}

asio::awaitable<done> look_into(stage& on, const std::string& file) {
  auto fine = co_await expect(on, read_lines(file, 1, 2), "needle");
  if (fine)
    fine = co_await expect(on, find_names(on.folder, "*.txt"), "needle.txt");
  if (fine)
    fine = co_await expect(on, grep(on.folder, "needle"), "needle.txt");
  if (fine)
    fine = co_await expect(on, replace_text(file, "needle", "thread"), "");
  if (fine)
    fine = co_await expect(on, search_file(file, "thr.ad"), "thread");
  co_return fine;
}

asio::awaitable<told> search(stage& on) {
  auto file = on.folder + "/needle.txt";
  auto* files = on.whole.files();
  std::vector<sandbox_file> some;
  some.push_back({file, "hay\nneedle\n"});
  auto put = co_await files->write(on.in, some, on.scope);
  if (!put)
    co_return put.error();
  auto fine = co_await look_into(on, file);
  // In a container that others use nothing is left, whatever came of it.
  auto gone = co_await files->remove(on.in, on.folder, on.scope);
  if (!fine || !gone)
    co_return fine ? gone.error() : fine.error();
  co_return std::string{"found by name and text, and replaced"};
}

asio::awaitable<told> code(stage& on) {
  for (auto& what :
       {run_jupyter("print(6 * 7)", code_limit),
        run_node("console.log(6 * 7)", code_limit),
        run_code("python", "print(6 * 7)", code_limit),
        run_code("javascript", "console.log(6 * 7)", code_limit)}) {
    auto data = co_await on.client.call(what, on.scope);
    if (!data)
      co_return data.error();
    auto printed = parse_printed(*data);
    if (!printed)
      co_return printed.error().within(std::string{what.doing});
    if (*printed != "42\n")
      co_return fail(ec::unavailable,
                     std::string{what.doing} + ": it printed '"
                       + printable(*printed) + "' instead of 42");
  }
  co_return std::string{"by Jupyter, Node, and by language"};
}

using act = asio::awaitable<told> (*)(stage&);

asio::awaitable<told> play(act what, sandbox_provider& whole, aio_client client,
                           sandbox_handle in, call_scope scope) {
  stage on{whole, std::move(client), std::move(in), std::move(scope)};
  auto came = co_await what(on);
  co_return came;
}

} // namespace

std::vector<sandbox_self_test> aio_self_tests(sandbox_provider& whole,
                                              aio_client client) {
  std::vector<sandbox_self_test> all;
  all.push_back(files_self_test(*whole.files()));
  auto add = [&](std::string name, act what) {
    all.push_back({std::move(name),
                   [&whole, client, what](sandbox_handle in, call_scope scope) {
                     return play(what, whole, client, std::move(in),
                                 std::move(scope));
                   }});
  };
  add("search and replace", search);
  add("code", code);
  return all;
}

} // namespace troupe::net
