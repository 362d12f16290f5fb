// Sandboxes that are made before they are asked for. Nothing of a tenant's has
// been in one; what was handed out is never taken back.
#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// Others are made when none has been asked for so long: not in the way of
/// those that a caller waits for.
constexpr std::chrono::milliseconds quiet_time{5};

constexpr std::chrono::seconds longest_preparation{30};

} // namespace

local_sandboxes::entry_ptr
local_sandboxes::take_prepared(const sandbox_request& wanted) {
  if (!wanted.snapshot.empty() || wanted.limits != options_.prepared_limits)
    return nullptr;
  while (!prepared_.empty()) {
    auto taken = std::move(prepared_.back());
    prepared_.pop_back();
    if (!taken->gone && !taken->sandbox->is_over())
      return taken;
  }
  return nullptr;
}

void local_sandboxes::prepare_later() {
  if (prepared_.size() >= options_.prepared)
    return;
  prepare_timer_.expires_after(quiet_time);
  prepare_timer_.async_wait(
    [weak = weak_from_this()](boost::system::error_code code) {
      auto self = weak.lock();
      if (self && !code)
        self->prepare_one();
    });
}

/// One at a time. One that fails is tried again after the next creation.
void local_sandboxes::prepare_one() {
  if (preparing_ || prepared_.size() >= options_.prepared)
    return;
  auto ordered = order(options_.prepared_limits, {});
  if (!ordered)
    return;
  preparing_ = *ordered;
  auto prepare = [](std::shared_ptr<local_sandboxes> self,
                    entry_ptr made) -> asio::awaitable<void> {
    call_scope scope{std::chrono::steady_clock::now() + longest_preparation,
                     nullptr};
    const bool told = co_await made->ready->wait(std::move(scope));
    self->preparing_.reset();
    if (!told) {
      self->kill(*made, fail(ec::unavailable, "it was not made in time"));
    } else if (!made->gone) {
      self->prepared_.push_back(std::move(made));
      self->prepare_later();
    }
  };
  asio::co_spawn(executor_, prepare(shared_from_this(), *ordered),
                 asio::detached);
}

} // namespace troupe
