#include "runtime/local/sandbox/call_wait.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe {

namespace asio = boost::asio;

asio::awaitable<bool> call_wait::wait(call_scope scope) {
  while (!told_ && !is_cancelled(scope)
         && std::chrono::steady_clock::now() < scope.deadline) {
    timer_.expires_at(scope.deadline);
    if (scope.cancel)
      scope.cancel->on_cancel([this] { timer_.cancel(); });
    boost::system::error_code ignored;
    co_await timer_.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
    if (scope.cancel)
      scope.cancel->clear();
  }
  co_return told_;
}

error not_in_time(const call_scope& scope, std::string doing) {
  return fail(ec::timeout,
              doing
                + (is_cancelled(scope) ? " was cancelled"
                                       : " took longer than its deadline"));
}

} // namespace troupe
