#pragma once

#include "runtime/engine/backend.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::test {

/// Waits for the end of one run and remembers what it was told before.
class waiting_observer final : public run_observer {
public:
  void started() override {
    std::lock_guard guard{mutex_};
    started_ = true;
    changed_.notify_all();
  }
  void output(output_stream from, std::string_view bytes) override {
    std::lock_guard guard{mutex_};
    (from == output_stream::out ? out_ : err_) += bytes;
    changed_.notify_all();
  }
  void progress(std::string_view line) override {
    std::lock_guard guard{mutex_};
    lines_.emplace_back(line);
  }
  void finished(run_outcome outcome) override {
    std::lock_guard guard{mutex_};
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }

  run_outcome wait() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return outcome_.has_value(); });
    return *outcome_;
  }
  /// Until so much was printed.
  void wait_for_output(std::string_view text) {
    std::unique_lock lock{mutex_};
    changed_.wait(
      lock, [&] { return outcome_ || out_.find(text) != std::string::npos; });
  }
  bool started_yet() const {
    std::lock_guard guard{mutex_};
    return started_;
  }
  std::string out() const {
    std::lock_guard guard{mutex_};
    return out_;
  }
  std::vector<std::string> lines() const {
    std::lock_guard guard{mutex_};
    return lines_;
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<run_outcome> outcome_;
  bool started_ = false;
  std::string out_;
  std::string err_;
  std::vector<std::string> lines_;
};

} // namespace troupe::test
