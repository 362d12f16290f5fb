#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace troupe::net {

/// Calls requests off: closes whatever connection they are on. Used on the
/// client's executor only.
class abort_switch {
public:
  void trip() {
    tripped_ = true;
    if (close_)
      close_();
  }
  bool tripped() const { return tripped_; }
  void arm(std::function<void()> close) { close_ = std::move(close); }
  void disarm() { close_ = nullptr; }

private:
  bool tripped_ = false;
  std::function<void()> close_;
};

/// Waits for `delay`. False when the deadline or the switch (may be empty)
/// came first: there is no time to go on.
boost::asio::awaitable<bool>
pause(boost::asio::any_io_executor executor, std::chrono::milliseconds delay,
      std::chrono::steady_clock::time_point deadline,
      std::shared_ptr<abort_switch> abort);

} // namespace troupe::net
