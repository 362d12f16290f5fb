#include "net/server/stream_budget.hpp"

#include "net/server/exchange.hpp"

#include <algorithm>

namespace troupe::net {

namespace {

// Less would make a stream of every few events.
constexpr std::size_t least_share = 16u << 10;

} // namespace

void stream_budget::enter(const std::shared_ptr<exchange>& stream) {
  std::lock_guard lock{mutex_};
  open_.emplace(stream.get(), stream);
  count_ = open_.size();
}

void stream_budget::leave(const exchange& stream) noexcept {
  std::lock_guard lock{mutex_};
  open_.erase(&stream);
  count_ = open_.size();
}

void stream_budget::keep_within_limit() {
  while (held_.load() > limit_) {
    auto stream = slowest();
    if (!stream)
      return; // it has just gone by itself
    stream->give_up();
  }
}

std::size_t stream_budget::share(std::size_t most) const noexcept {
  // Half of it: the rest is for those who came when there were fewer.
  auto fair = limit_ / 2 / std::max<std::size_t>(count_.load(), 1);
  return std::min(most, std::max(fair, least_share));
}

std::shared_ptr<exchange> stream_budget::slowest() {
  std::weak_ptr<exchange> oldest, largest;
  const auto much = 2 * share(limit_);
  {
    std::lock_guard lock{mutex_};
    auto longest = exchange::clock::time_point::max();
    std::size_t most = 0;
    // None of them goes away meanwhile: it would have to leave first.
    for (const auto& [stream, owned] : open_) {
      const auto n = stream->behind();
      if (n > much && stream->waits_since() < longest) {
        longest = stream->waits_since();
        oldest = owned;
      }
      if (n > most) {
        most = n;
        largest = owned;
      }
    }
  }
  // Outside of the lock: we may turn out to be its last owner.
  if (auto found = oldest.lock())
    return found;
  return largest.lock();
}

} // namespace troupe::net
