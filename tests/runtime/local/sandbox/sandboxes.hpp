#pragma once

#include "runtime/local/sandbox/local_sandboxes.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::test {

inline call_scope within(std::chrono::milliseconds time) {
  return {std::chrono::steady_clock::now() + time, {}};
}

/// What one `execute` told.
struct executed {
  std::optional<process_outcome> how;
  std::string out;
  std::string err;

  bool good() const { return how && how->end; }
  std::int32_t code() const {
    BOOST_REQUIRE_MESSAGE(good(), to_string(how->end.error()));
    return how->end->exit_code;
  }
  ec refused() const {
    BOOST_REQUIRE(how && !how->end);
    return how->end.error().code;
  }
};

/// What a process that was started tells, from another thread.
class process_watch : public std::enable_shared_from_this<process_watch> {
public:
  process_events events();
  bool wait_for_output(const std::string& text);
  result<process_end> wait();
  std::string output();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::optional<result<process_end>> end_;
};

/// The sandboxes of one backend, called from a test's thread.
class sandbox_host {
public:
  explicit sandbox_host(local_host& host = shared_host(),
                        local_sandbox_options options = {})
      : host_{host}, sandboxes_{local_sandboxes::make(host.backend().strand(),
                                                      host.backend().wardens(),
                                                      options)} {}

  /// Waits for it in the test's thread.
  template <class T>
  T call(boost::asio::awaitable<T> work) {
    std::promise<T> promise;
    auto answer = promise.get_future();
    auto keep = [](boost::asio::awaitable<T> it,
                   std::promise<T> to) -> boost::asio::awaitable<void> {
      to.set_value(co_await std::move(it));
    };
    boost::asio::co_spawn(host_.backend().strand(),
                          keep(std::move(work), std::move(promise)),
                          boost::asio::detached);
    const auto in_time = answer.wait_for(std::chrono::seconds{60});
    BOOST_REQUIRE(in_time == std::future_status::ready);
    return answer.get();
  }

  local_sandboxes& provider() { return *sandboxes_; }
  sandbox_files& files() { return *sandboxes_->files(); }
  local_host& host() { return host_; }

  static sandbox_request request();
  sandbox_handle make(sandbox_request wanted = request());
  executed run(const sandbox_handle& in, process_request what,
               std::chrono::milliseconds time = std::chrono::seconds{30});
  /// By the shell.
  executed shell(const sandbox_handle& in, std::string line,
                 std::chrono::milliseconds time = std::chrono::seconds{30});
  result<sandbox_process_ptr> start(const sandbox_handle& in, std::string line,
                                    process_watch& seen,
                                    bool open_input = false);
  void destroy(const sandbox_handle& sandbox);

  result<void> write(const sandbox_handle& in, std::string path,
                     std::string content);
  result<std::string> read(const sandbox_handle& in, std::string path);
  result<std::vector<std::string>> names(const sandbox_handle& in,
                                         std::string path);
  result<void> remove(const sandbox_handle& in, std::string path);
  result<void> move(const sandbox_handle& in, std::string from, std::string to);
  result<void> make_folder(const sandbox_handle& in, std::string path);
  result<sandbox_entry> stat(const sandbox_handle& in, std::string path);

private:
  local_host& host_;
  std::shared_ptr<local_sandboxes> sandboxes_;
};

/// One that goes with its test.
class living {
public:
  explicit living(sandbox_host& host,
                  sandbox_request wanted = sandbox_host::request())
      : host_{host}, handle_{host.make(std::move(wanted))} {}
  ~living() { host_.destroy(handle_); }
  const sandbox_handle& operator*() const { return handle_; }

private:
  sandbox_host& host_;
  sandbox_handle handle_;
};

/// Every process of the host that says that it lies below the warden and is
/// somebody else than it: keepers, and all that is in their sandboxes.
std::vector<int> processes_below(int pid);

/// A backend that starts nothing but what a test asks for.
local_options without_interpreters();

/// What /proc/PID/status says.
std::string status_line(int pid, const std::string& name);

} // namespace troupe::test
