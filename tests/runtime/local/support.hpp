#pragma once

#include "runtime/local/local_backend.hpp"
#include "runtime/model/run.hpp"

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace troupe::test {

/// What an observer of one run saw.
class watcher : public run_observer {
public:
  void started() override;
  void output(output_stream, std::string_view) override;
  void finished(run_outcome) override;

  /// Waits for the end; the test fails when it takes longer than a minute.
  run_outcome wait();
  /// Waits until the run has printed `text`, or has ended.
  bool wait_for_output(std::string_view text);
  bool has_started() const { return started_; }
  /// What it has printed so far.
  std::string output();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::optional<run_outcome> outcome_;
  std::atomic<bool> started_{false};
};

/// A backend with its own threads and, unless it is given one, state directory.
class local_host {
public:
  explicit local_host(local_options options = {});
  ~local_host();

  local_backend& backend() { return *backend_; }
  const std::string& state_dir() const { return state_dir_; }

  std::shared_ptr<watcher> start(prepared_run run);
  /// Runs it to its end. An error of the backend fails the test.
  run_result run(prepared_run run);

private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
    busy_;
  std::vector<std::thread> threads_;
  std::string state_dir_;
  bool own_state_dir_ = true;
  std::shared_ptr<local_backend> backend_;
};

/// Its warden, or the test ends: where there is none the number is -1, and who
/// signals that signals every process of the machine.
int living_warden(local_host& host);

/// One for all tests that do not mistreat it.
local_host& shared_host();

prepared_run shell(std::string line);
prepared_run program(std::vector<std::string> argv);
prepared_run python(std::string code);
prepared_run node(std::string code);

/// Why this host cannot do `layer`, or "": for tests to skip with a reason.
std::string lacks(std::string_view layer);
/// The same for warm Node: Debian's own is too old for it.
const std::string& lacks_warm_node();

/// Waits until `done` holds, by looking; false after ten seconds.
bool eventually(const std::function<bool()>& done);

/// The life of an engine that another test kills: prints its instance's
/// directory once its run has begun, then waits for the end.
int serve_a_sleeper(const char* state_dir);

} // namespace troupe::test

/// Ends a test, with a message, on a host that cannot do `layer`.
#define TROUPE_NEEDS(layer)                                                    \
  if (auto why = troupe::test::lacks(layer); !why.empty()) {                   \
    BOOST_TEST_MESSAGE("skipped, " << why);                                    \
    return;                                                                    \
  }
