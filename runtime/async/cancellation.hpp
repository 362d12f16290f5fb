#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

/// Ends a caller's operations early: whatever it waits for right now is told.
/// One operation at a time. Used on one executor only.
class cancellation {
public:
  void cancel() {
    cancelled_ = true;
    if (on_cancel_)
      on_cancel_();
  }
  bool cancelled() const { return cancelled_; }
  void on_cancel(std::function<void()> end) { on_cancel_ = std::move(end); }
  void clear() { on_cancel_ = nullptr; }

private:
  bool cancelled_ = false;
  std::function<void()> on_cancel_;
};

/// Waits for `delay`. False when the deadline or the cancellation (may be
/// empty) came first: there is no time to go on.
boost::asio::awaitable<bool>
pause(boost::asio::any_io_executor executor, std::chrono::milliseconds delay,
      std::chrono::steady_clock::time_point deadline,
      std::shared_ptr<cancellation> cancel);

} // namespace troupe
