#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace troupe {

struct watchdog_options {
  using ms = std::chrono::milliseconds;

  ms every{1'000};      // how often each thread is asked to do something
  ms warn_after{5'000}; // it has not: the log is told
  ms end_after{60'000}; // it still has not: the process ends; 0: never
  /// Ends the process, after a last line that says why. Null: that line goes
  /// to standard error, and the exit code is that of a failed engine, 70.
  std::function<void(std::string_view why)> end;
  /// Called each time all threads responded within `well_within`.
  std::function<void()> all_well;
  ms well_within{5'000};
};

/// Sees to it that what has to go on does: threads that must turn, questions
/// that must be answered, and stops that must be over in time. A thread that
/// waits where it must not takes every run and every answer with it, for as
/// long as it likes; a process that has ended is started again.
///
/// Only time in which the watchdog itself turns counts. A process that was
/// stopped, or whose machine was asleep, is given no hour's worth of blame.
class watchdog {
public:
  using clock = std::chrono::steady_clock; // stands still while a laptop sleeps
  using ms = std::chrono::milliseconds;
  /// Makes the watched thread call `turned`; from any thread.
  using question = std::function<void(std::function<void()> turned)>;

  /// Watched for as long as this lives. May outlive the watchdog.
  class watched;

  explicit watchdog(watchdog_options options = {});
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  /// Begins to turn, on a thread of its own.
  void start();

  /// The thread of this executor must respond; `watched` must not outlive it.
  watched turns(std::string name, boost::asio::any_io_executor thread);
  /// Must answer. The process is not ended otherwise: what many threads do
  /// together may take long without any of them being stuck.
  watched answers(std::string name, question ask);
  /// Has to be over within this time; "`what` did not finish in time" else.
  watched is_over(std::string what, ms within);

  /// One turn, at this time: for tests, instead of `start`.
  void turn(clock::time_point now);

  /// For /metrics.
  std::string metrics() const;

private:
  struct entry;
  struct ledger;
  struct told;

  void work();

  std::shared_ptr<ledger> ledger_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_; // last: it uses the others
};

class watchdog::watched {
public:
  watched() = default;
  watched(watched&&) noexcept = default;
  watched& operator=(watched&& other) noexcept;
  ~watched() { stop(); }

  /// Nothing is asked any more once this returns.
  void stop();

private:
  friend class watchdog;
  watched(std::shared_ptr<ledger> of, std::shared_ptr<entry> e)
      : ledger_{std::move(of)}, entry_{std::move(e)} {}

  std::shared_ptr<ledger> ledger_;
  std::shared_ptr<entry> entry_;
};

} // namespace troupe
