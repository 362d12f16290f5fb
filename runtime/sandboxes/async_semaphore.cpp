#include "runtime/sandboxes/async_semaphore.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

asio::awaitable<bool> async_semaphore::take(call_scope scope) {
  auto over = [&scope] {
    return (scope.cancel && scope.cancel->cancelled())
      || steady::now() >= scope.deadline;
  };
  if (over())
    co_return false;
  if (!full()) {
    ++taken_;
    co_return true;
  }
  auto self = std::make_shared<waiter>(waiter{{executor_, scope.deadline}});
  waiting_.push_back(self);
  if (scope.cancel)
    scope.cancel->on_cancel([self] { self->timer.cancel(); });
  boost::system::error_code ignored;
  co_await self->timer.async_wait(
    asio::redirect_error(asio::use_awaitable, ignored));
  if (scope.cancel)
    scope.cancel->clear();
  std::erase(waiting_, self);
  if (self->granted && over()) {
    leave(); // it came too late for us
    co_return false;
  }
  co_return self->granted;
}

void async_semaphore::leave() {
  if (waiting_.empty()) {
    --taken_;
    return;
  }
  // Handed over, so that nobody who comes just now gets in between.
  auto next = std::move(waiting_.front());
  waiting_.pop_front();
  next->granted = true;
  next->timer.cancel();
}

} // namespace troupe
