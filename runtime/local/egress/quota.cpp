// Budgets that fill up with time are kept as the moment until which everything
// is paid for: one number, right after any pause, and fit to be shared. What is
// taken moves it on; it may lie ahead of now by as much as may be taken at
// once.
#include "runtime/local/egress/quota.hpp"

#include <algorithm>

namespace troupe::network {

namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t second = 1'000'000'000;

/// So much time of a processor may be used before its share counts.
constexpr nanoseconds first_burst = std::chrono::milliseconds{500};

std::int64_t number(quota::clock::time_point t) {
  return std::chrono::duration_cast<nanoseconds>(t.time_since_epoch()).count();
}

std::int64_t price(const broker_budget& b) {
  return second
    / static_cast<std::int64_t>(
           std::max<std::uint64_t>(b.sockets_per_second, 1));
}

bool has_room(std::int64_t until, std::int64_t now, const broker_budget& b) {
  const auto cost = price(b);
  return std::max(until, now) + cost - now
    <= cost * static_cast<std::int64_t>(b.sockets_at_once);
}

/// Moves it on by that much, from now at the earliest, and says where it is.
std::int64_t move_on(std::atomic<std::int64_t>& until, std::int64_t now,
                     std::int64_t by) {
  auto seen = until.load(std::memory_order_relaxed);
  std::int64_t next = 0;
  do
    next = std::max(seen, now) + by;
  while (!until.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  return next;
}

std::int64_t time_for(nanoseconds used, const broker_budget& b) {
  return used.count() * 100
    / static_cast<std::int64_t>(
           std::max<std::uint64_t>(b.percent_of_a_processor, 1));
}

} // namespace

bool quota::take_socket(clock::time_point now) {
  const auto at = number(now);
  auto& together = (*account_)->sockets_paid_until;
  if (!has_room(sockets_paid_until_, at, run_)
      || !has_room(together.load(std::memory_order_relaxed), at, all_))
    return false;
  sockets_paid_until_ = std::max(sockets_paid_until_, at) + price(run_);
  move_on(together, at, price(all_));
  return true;
}

quota::hold quota::wait_with(std::size_t bytes) {
  auto& page = **page_;
  auto& together = **account_;
  const auto size = static_cast<std::int64_t>(bytes);
  const auto fits
    = [&](std::int64_t calls, std::int64_t held, const broker_budget& b) {
        return calls < static_cast<std::int64_t>(b.waiting_calls)
          && held + size <= static_cast<std::int64_t>(b.held_bytes);
      };
  if (!fits(page.waiting_calls, page.held_bytes, run_)
      || !fits(together.waiting_calls, together.held_bytes, all_))
    return {};
  // Ours first: should this process die in between, the engine takes too much
  // back by one call, and never too little.
  page.waiting_calls += 1;
  page.held_bytes += size;
  together.waiting_calls += 1;
  together.held_bytes += size;
  return {this, size};
}

quota::hold& quota::hold::operator=(hold&& other) noexcept {
  release();
  of_ = std::exchange(other.of_, nullptr);
  bytes_ = other.bytes_;
  return *this;
}

void quota::hold::release() noexcept {
  auto* of = std::exchange(of_, nullptr);
  if (of == nullptr)
    return;
  auto& page = **of->page_;
  auto& together = **of->account_;
  together.waiting_calls -= 1;
  together.held_bytes -= bytes_;
  page.waiting_calls -= 1;
  page.held_bytes -= bytes_;
}

nanoseconds quota::charge(nanoseconds used, clock::time_point now) {
  const auto at = number(now);
  const auto of_run = time_for(used, run_);
  time_paid_until_ = std::max(time_paid_until_, at) + of_run;
  const auto until
    = move_on((*account_)->time_paid_until, at, time_for(used, all_));
  const auto rest
    = std::max(time_paid_until_ - at - time_for(first_burst, run_),
               until - at - time_for(first_burst, all_));
  return nanoseconds{std::max<std::int64_t>(rest, 0)};
}

} // namespace troupe::network
