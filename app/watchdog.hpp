#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

/// Calls `bite` unless it goes away in time: an actor system waits for a
/// forgotten actor for ever, an operator does not.
class watchdog {
public:
  watchdog(std::chrono::milliseconds patience, std::function<void()> bite);
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

} // namespace troupe
