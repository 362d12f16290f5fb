#include "actors/state/admission.hpp"

#include <algorithm>
#include <tuple>

namespace troupe {

namespace {

constexpr std::uint32_t few_waiting = 16; // runs of one organization

void take_one(std::unordered_map<organization_id, std::uint32_t>& counts,
              const organization_id& organization) {
  auto i = counts.find(organization);
  if (i != counts.end() && --i->second == 0)
    counts.erase(i); // organizations come and go; the map must not grow
}

std::uint32_t
count_of(const std::unordered_map<organization_id, std::uint32_t>& counts,
         const organization_id& organization) {
  auto i = counts.find(organization);
  return i == counts.end() ? 0 : i->second;
}

} // namespace

admission::admission(admission_limits limits) : limits_{std::move(limits)} {
  bounds_.fill(limits_.running_per_other_backend);
  for (const auto& [kind, bound] : limits_.running_per_backend)
    bounds_[kind.index()] = bound;
}

result<admission::verdict> admission::enter(ticket& s,
                                            const organization_id& organization,
                                            backend_name backend,
                                            std::int32_t priority, waiter who) {
  std::lock_guard guard{mutex_};
  s.organization = organization;
  s.backend = backend;
  auto& line = queues_[backend.index()];
  // Whoever comes now must not pass the ones that wait for the same thing.
  if (line.size(organization) == 0 && room_for(organization, backend)) {
    occupy(s, backend);
    return verdict::run;
  }
  const auto waiting = count_of(waiting_of_, organization);
  // The last places are for those of whom few wait: two that flood must not
  // shut out everybody else.
  const bool all_full = counts_.waiting >= limits_.waiting
    || (waiting >= few_waiting
        && counts_.waiting >= limits_.waiting - limits_.waiting / 4);
  if (all_full || waiting >= limits_.waiting_per_organization) {
    error full;
    full.code = ec::exhausted;
    full.text = (all_full ? std::string{"the engine's queue is full ("}
                     + std::to_string(limits_.waiting)
                          : std::string{"this organization's queue is full ("}
                     + std::to_string(limits_.waiting_per_organization))
      + " runs queued); try again later";
    full.retry_after = wait_estimate();
    return full;
  }
  auto weight = limits_.weights.find(organization);
  s.place = line.push(organization, priority,
                      weight == limits_.weights.end() ? 1 : weight->second,
                      entry{&s, std::move(who)});
  s.now = ticket::state::waiting;
  ++counts_.waiting;
  ++counts_.waiting_by_backend[backend.index()];
  ++waiting_of_[organization];
  return verdict::wait;
}

bool admission::enter_at_once(ticket& s, const organization_id& organization,
                              backend_name backend) {
  std::lock_guard guard{mutex_};
  if (!room_for(organization, backend))
    return false;
  s.organization = organization;
  occupy(s, backend);
  return true;
}

std::vector<admission::waiter> admission::leave(ticket& s) {
  std::vector<waiter> may_start;
  std::lock_guard guard{mutex_};
  vacate(s);
  wake(may_start);
  return may_start;
}

bool admission::move(ticket& s, backend_name to,
                     std::vector<waiter>& may_start) {
  std::lock_guard guard{mutex_};
  vacate(s);
  const bool fits = room_for(s.organization, to);
  if (fits)
    occupy(s, to);
  wake(may_start);
  return fits;
}

admission::counts admission::now() const {
  std::lock_guard guard{mutex_};
  return counts_;
}

std::uint32_t admission::limit_of(backend_name kind) const {
  return bounds_[kind.index()];
}

std::vector<std::pair<organization_id, std::uint32_t>>
admission::longest_queues(std::size_t most) const {
  using line = std::pair<organization_id, std::uint32_t>;
  std::unique_lock lock{mutex_};
  std::vector<line> all{waiting_of_.begin(), waiting_of_.end()};
  lock.unlock();
  const auto count = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<long>(count),
                    all.end(), [](const line& a, const line& b) {
                      return std::tie(b.second, a.first)
                        < std::tie(a.second, b.first);
                    });
  all.resize(count);
  return all;
}

bool admission::room_for(const organization_id& organization,
                         backend_name backend) const {
  return counts_.running < limits_.running
    && counts_.running_by_backend[backend.index()] < bounds_[backend.index()]
    && count_of(running_of_, organization) < limits_.running_per_organization;
}

void admission::occupy(ticket& s, backend_name backend) {
  s.now = ticket::state::running;
  s.backend = backend;
  ++counts_.running;
  ++counts_.running_by_backend[backend.index()];
  ++running_of_[s.organization];
}

void admission::vacate(ticket& s) {
  switch (s.now) {
  case ticket::state::outside:
    return;
  case ticket::state::waiting:
    queues_[s.backend.index()].take(s.place);
    --counts_.waiting;
    --counts_.waiting_by_backend[s.backend.index()];
    take_one(waiting_of_, s.organization);
    break;
  case ticket::state::running: {
    --counts_.running;
    --counts_.running_by_backend[s.backend.index()];
    take_one(running_of_, s.organization);
    auto now = std::chrono::steady_clock::now();
    if (last_leave_ != decltype(last_leave_){}) {
      std::chrono::duration<double, std::milli> since = now - last_leave_;
      leave_interval_ms_ += 0.1 * (since.count() - leave_interval_ms_);
    }
    last_leave_ = now;
    break;
  }
  }
  s.now = ticket::state::outside;
}

void admission::wake(std::vector<waiter>& may_start) {
  // Backends take turns too: a global bound must not starve the second one.
  std::size_t idle = 0;
  while (counts_.waiting > 0 && counts_.running < limits_.running
         && idle < backend_name::count()) {
    next_backend_ = (next_backend_ + 1) % backend_name::count();
    if (counts_.waiting_by_backend[next_backend_] == 0
        || counts_.running_by_backend[next_backend_]
          >= bounds_[next_backend_]) {
      ++idle; // nobody of its queue need be looked at
      continue;
    }
    auto backend = backend_name::at(next_backend_);
    auto next = queues_[next_backend_].pop(
      [&](const organization_id& who) { return room_for(who, backend); });
    if (!next) {
      ++idle;
      continue;
    }
    idle = 0;
    --counts_.waiting;
    --counts_.waiting_by_backend[next_backend_];
    take_one(waiting_of_, next->of->organization);
    occupy(*next->of, backend);
    may_start.push_back(std::move(next->who));
  }
}

std::chrono::milliseconds admission::wait_estimate() const {
  // The queue drains one run per interval; half of it is a fair time to ask
  // again. Between 100 ms, so that nobody hammers, and 30 s.
  const double ms = leave_interval_ms_ * counts_.waiting / 2;
  return std::chrono::milliseconds{
    static_cast<std::int64_t>(std::clamp(ms, 100.0, 30'000.0))};
}

} // namespace troupe
