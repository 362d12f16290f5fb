#pragma once

#include "net/client/http_client.hpp"
#include "runtime/sandboxes/provider_backend.hpp"
#include "storage/adapters/memory_leases.hpp"
#include "tests/support/engine/waiting_observer.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace troupe::test {

/// Our side of a provider: one io thread, one client, one backend.
class remote_side {
public:
  using make_provider = std::function<result<std::shared_ptr<sandbox_provider>>(
    std::shared_ptr<net::http_client>)>;

  remote_side() = default;
  ~remote_side();
  void open(const make_provider& make, provider_limits bounds = {},
            net::client_options how = {});

  /// To its end, and its sandbox's.
  run_outcome run(prepared_run r);
  /// Answers do not wait for the end of their sandbox; this does.
  void rest();
  /// The result, or a failed test.
  run_result good(prepared_run r);
  std::shared_ptr<waiting_observer> begin(prepared_run r);

  std::shared_ptr<provider_backend> backend;
  std::shared_ptr<memory_lease_book> leases
    = std::make_shared<memory_lease_book>();

private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    work_{io_.get_executor()};
  std::thread thread_{[this] { io_.run(); }};
};

prepared_run python_run(backend_kind where, std::string source,
                        std::string args = "{}");
prepared_run shell_run(backend_kind where, std::string line);

/// What every provider must make of the same runs: one table, one expectation.
/// `nothing_left` checks that no sandbox and no lease remains; `except` names
/// rows that a provider answers in a way of its own, tested beside.
void check_contract(remote_side& side, backend_kind where,
                    const std::function<void()>& nothing_left,
                    const std::vector<std::string>& except = {});

} // namespace troupe::test
