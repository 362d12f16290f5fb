#include "runtime/local/sandbox/call_wait.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace troupe {

namespace asio = boost::asio;

void call_wait::tell() {
  told_ = true;
  for (const auto& each : waiting_)
    if (auto clock = each.lock())
      clock->cancel();
}

asio::awaitable<bool> call_wait::wait(call_scope scope) {
  auto clock = std::make_shared<timer>(executor_);
  std::erase_if(waiting_, [](const auto& each) { return each.expired(); });
  waiting_.push_back(clock);
  while (!told_ && !is_cancelled(scope)
         && std::chrono::steady_clock::now() < scope.deadline) {
    clock->expires_at(scope.deadline);
    if (scope.cancel)
      scope.cancel->on_cancel([clock] { clock->cancel(); });
    boost::system::error_code ignored;
    co_await clock->async_wait(
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
