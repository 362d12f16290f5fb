#pragma once

#include "bench/bench.hpp"
#include "runtime/async/io_thread.hpp"
#include "runtime/local/local_backend.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <future>
#include <memory>
#include <string>
#include <vector>

namespace troupe::bench {

/// Or the measurement ends, with what was wrong.
void demand(bool holds, const char* what);

/// This machine's sandboxes, called from a thread that waits.
class sandbox_machine {
public:
  explicit sandbox_machine(std::size_t prepared = 0,
                           network::broker_options network = {});
  ~sandbox_machine();

  template <class T>
  T call(boost::asio::awaitable<T> work) {
    std::promise<T> promise;
    auto answer = promise.get_future();
    auto keep = [](boost::asio::awaitable<T> it,
                   std::promise<T> to) -> boost::asio::awaitable<void> {
      to.set_value(co_await std::move(it));
    };
    boost::asio::co_spawn(backend_->strand(),
                          keep(std::move(work), std::move(promise)),
                          boost::asio::detached);
    return answer.get();
  }

  static sandbox_request request();
  sandbox_handle make(sandbox_request wanted = request());
  /// What it prints.
  std::string output_of(const sandbox_handle& in,
                        std::vector<std::string> argv);
  void run(const sandbox_handle& in, std::vector<std::string> argv) {
    output_of(in, std::move(argv));
  }
  /// So many of them side by side, to the end of the last.
  void run_at_once(const sandbox_handle& in, std::size_t count);
  void read_file(const sandbox_handle& in);
  void destroy(const sandbox_handle& sandbox);
  void wait_until_prepared();

  local_backend& backend() { return *backend_; }
  std::shared_ptr<local_sandboxes> provider() { return sandboxes_; }

private:
  io_thread io_;
  local_options options_;
  std::size_t prepared_;
  std::shared_ptr<local_backend> backend_;
  std::shared_ptr<local_sandboxes> sandboxes_;
};

/// posix_spawn and wait.
void spawn_and_wait(const std::vector<std::string>& argv,
                    std::size_t at_once = 1);

/// A byte to another process and back over an AF_UNIX pair.
class byte_echo {
public:
  byte_echo();
  ~byte_echo();
  void round_trip();

private:
  int ours_ = -1;
  int echo_ = -1; // its process
};

/// What the engine's actors add to an `exec`.
void measure_engine_part(report& out);

/// Contexts that go on in other sandboxes.
void measure_branches(report& out);

} // namespace troupe::bench
