#pragma once

#include "runtime/sandboxes/sandbox_for_run.hpp"
#include "runtime/sandboxes/self_test.hpp"
#include "storage/adapters/memory_leases.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <future>
#include <map>
#include <string>

namespace troupe::test {

/// What came of all that a provider does beside runs.
struct self_tested {
  std::map<std::string, std::string> failed;
  std::vector<std::string> fine;
  std::size_t leases_left = 0;
  bool all_well = false;
};

inline self_tested self_tests_at(const remote_side::make_provider& make,
                                 backend_kind kind) {
  boost::asio::io_context io{1};
  auto client = std::make_shared<net::http_client>(io.get_executor(),
                                                   net::client_options{});
  auto where = make(client).value();
  auto book = std::make_shared<memory_lease_book>();
  auto run = std::make_shared<const prepared_run>(
    python_run(kind, "def f():\n  return 1\n"));
  call_scope scope{std::chrono::steady_clock::now() + std::chrono::seconds{60},
                   nullptr};
  self_tested out;
  auto tell = [&](const std::string& name, const result<std::string>& came) {
    if (came)
      out.fine.push_back(name);
    else
      out.failed[name] = came.error().text;
  };
  boost::asio::co_spawn(
    io, run_self_tests(where, sandbox_for(*run), book, tell, scope),
    [&](std::exception_ptr broke, bool fine) {
      out.all_well = fine && !broke;
      io.stop(); // what idles in a pool is not waited for
    });
  io.run();
  out.leases_left = book->list(kind).size();
  return out;
}

} // namespace troupe::test
