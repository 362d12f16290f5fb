#include "tests/runtime/local/sandbox/serve_sandboxes.hpp"

#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>

namespace troupe::test {

namespace {

using boost::asio::awaitable;

awaitable<void> use_sandboxes(std::shared_ptr<local_sandboxes> all,
                              busy_sandboxes& state) {
  while (!state.over) {
    auto made = co_await all->create(sandbox_host::request(),
                                     within(std::chrono::seconds{30}));
    if (!made.sandbox) { // as long as there is no warden
      co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                                 boost::asio::use_awaitable);
      continue;
    }
    ++state.made;
    const auto box = *made.sandbox;
    process_request what;
    what.argv
      = {"/bin/sh", "-c", "(setsid sleep 1000 &) >/dev/null 2>&1; echo on"};
    auto sink = output_sink{};
    co_await all->execute(box, std::move(what), sink,
                          within(std::chrono::seconds{30}));
    std::vector<sandbox_file> files;
    files.push_back({"/home/user/f", std::string(100'000, 'x')});
    auto written = co_await all->files()->write(
      box, std::move(files), within(std::chrono::seconds{30}));
    auto read = co_await all->files()->read(box, "/home/user/f",
                                            within(std::chrono::seconds{30}));
    co_await all->destroy(box, within(std::chrono::seconds{30}));
  }
  --state.users;
}

} // namespace

busy_sandboxes::busy_sandboxes(boost::asio::any_io_executor strand,
                               std::shared_ptr<local_sandboxes> all, int count)
    : users{count} {
  for (int i = 0; i < count; ++i)
    boost::asio::co_spawn(strand, use_sandboxes(all, *this),
                          boost::asio::detached);
}

int serve_sandboxes(const char* state_dir) {
  boost::asio::io_context io;
  auto busy = boost::asio::make_work_guard(io);
  std::thread thread{[&] { io.run(); }};
  auto options = without_interpreters();
  options.state_dir = state_dir;
  auto backend = local_backend::open(io.get_executor(), options);
  if (!backend || !(*backend)->wait_until_probed())
    return 1;
  auto all = local_sandboxes::make((*backend)->strand(), (*backend)->wardens(),
                                   {0, 2, sandbox_host::request().limits});
  const busy_sandboxes busy_with{(*backend)->strand(), all, 3};
  std::cout << (*backend)->instance_directory() << std::endl;
  thread.join(); // never: we are killed
  return 0;
}

} // namespace troupe::test
