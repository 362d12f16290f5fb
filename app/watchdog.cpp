#include "app/watchdog.hpp"

namespace troupe {

watchdog::watchdog(std::chrono::milliseconds patience,
                   std::function<void()> bite)
    : thread_{[this, patience, bite = std::move(bite)] {
        std::unique_lock lock{mutex_};
        if (!wake_.wait_for(lock, patience, [this] { return done_; }))
          bite();
      }} {}

watchdog::~watchdog() {
  {
    std::lock_guard lock{mutex_};
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

} // namespace troupe
