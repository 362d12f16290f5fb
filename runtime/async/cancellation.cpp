#include "runtime/async/cancellation.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe {

namespace asio = boost::asio;

asio::awaitable<bool> pause(asio::any_io_executor executor,
                            std::chrono::milliseconds delay,
                            std::chrono::steady_clock::time_point deadline,
                            std::shared_ptr<cancellation> cancel) {
  if (cancel && cancel->cancelled())
    co_return false;
  asio::steady_timer timer{executor};
  auto until = std::chrono::steady_clock::now() + delay;
  timer.expires_at(std::min(until, deadline));
  if (cancel)
    cancel->on_cancel([&timer] { timer.cancel(); });
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  if (cancel)
    cancel->clear();
  co_return !(cancel && cancel->cancelled()) && until < deadline;
}

} // namespace troupe
