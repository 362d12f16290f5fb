#pragma once

#include "runtime/engine/sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <vector>

namespace troupe {

/// Something that coroutines wait for and a callback tells once, on one
/// executor. It must be there until the last of them goes on.
class call_wait {
public:
  explicit call_wait(boost::asio::any_io_executor executor)
      : executor_{std::move(executor)} {}

  void tell();

  /// False: the deadline or the cancellation came first.
  boost::asio::awaitable<bool> wait(call_scope scope);

private:
  // A timer for each that waits: one for all would end the waits of others
  // whenever it is set.
  using timer = boost::asio::steady_timer;

  boost::asio::any_io_executor executor_;
  std::vector<std::weak_ptr<timer>> waiting_;
  bool told_ = false;
};

inline bool is_cancelled(const call_scope& scope) {
  return scope.cancel && scope.cancel->cancelled();
}

/// What a call says that did not end in its time.
error not_in_time(const call_scope& scope, std::string doing);

} // namespace troupe
