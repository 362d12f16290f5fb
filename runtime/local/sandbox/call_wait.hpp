#pragma once

#include "runtime/engine/sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace troupe {

/// Something that one coroutine waits for and a callback tells, on one
/// executor.
class call_wait {
public:
  explicit call_wait(boost::asio::any_io_executor executor)
      : timer_{std::move(executor)} {}

  void tell() {
    told_ = true;
    timer_.cancel();
  }

  /// False: the deadline or the cancellation came first.
  boost::asio::awaitable<bool> wait(call_scope scope);

private:
  boost::asio::steady_timer timer_;
  bool told_ = false;
};

inline bool is_cancelled(const call_scope& scope) {
  return scope.cancel && scope.cancel->cancelled();
}

/// What a call says that did not end in its time.
error not_in_time(const call_scope& scope, std::string doing);

} // namespace troupe
