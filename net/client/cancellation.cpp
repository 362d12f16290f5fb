#include "net/client/cancellation.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe::net {

namespace asio = boost::asio;

asio::awaitable<bool> pause(asio::any_io_executor executor,
                            std::chrono::milliseconds delay,
                            std::chrono::steady_clock::time_point deadline,
                            std::shared_ptr<abort_switch> abort) {
  if (abort && abort->tripped())
    co_return false;
  asio::steady_timer timer{executor};
  auto until = std::chrono::steady_clock::now() + delay;
  timer.expires_at(std::min(until, deadline));
  if (abort)
    abort->arm([&timer] { timer.cancel(); });
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  if (abort)
    abort->disarm();
  co_return !(abort && abort->tripped()) && until < deadline;
}

} // namespace troupe::net
