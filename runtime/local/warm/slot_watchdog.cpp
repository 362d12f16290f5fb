// What is watched from outside of a slot, because a tool may see to it that the
// inside is late or wrong: the CPU time of everybody in it together, and
// whether an order to end was obeyed. And whether slots come at all.
#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

namespace troupe::zygote {

namespace {

using clock = std::chrono::steady_clock;

/// How often a look is taken while anything runs. What a run uses before the
/// first look at it is not counted: this much on every processor.
constexpr std::chrono::milliseconds period{50};

/// Microseconds that a group has used: cpu.stat of version 2, cpuacct.usage of
/// version 1. Empty: nobody counts.
std::optional<std::uint64_t> used(const unique_fd& file) {
  char text[128];
  const auto size = file ? ::pread(file.get(), text, sizeof text, 0) : -1;
  if (size <= 0)
    return std::nullopt;
  std::string_view rest{text, static_cast<std::size_t>(size)};
  constexpr std::string_view name = "usage_usec ";
  const bool in_microseconds = rest.starts_with(name);
  if (in_microseconds)
    rest.remove_prefix(name.size());
  std::uint64_t number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return in_microseconds ? number : number / 1000;
}

} // namespace

void slot_carrier::impl::watch_soon() {
  if (watching_)
    return;
  watching_ = true;
  watch_timer_.expires_after(period);
  watch_timer_.async_wait(
    [weak = weak_from_this()](const boost::system::error_code& bad) {
      auto self = weak.lock();
      if (!self)
        return;
      self->watching_ = false;
      if (!bad)
        self->watch();
    });
}

void slot_carrier::impl::watch() {
  const auto now = clock::now();
  std::vector<job_ptr> late;
  for (const auto& [ticket, j] : running_) {
    watch_cpu(*j, now);
    if (now >= j->kill_by)
      late.push_back(j);
  }
  for (const auto& j : late) {
    // Its socket closes when it is dead, and tells the rest.
    j->kill_by = clock::time_point::max();
    if (j->on)
      provisioner_->release(j->on->ticket(), {});
  }
  watch_over(now);
  watch_makers(now);
  if (!running_.empty() || making_count_ + over_count_ > 0)
    watch_soon();
}

void slot_carrier::impl::watch_makers(clock::time_point now) {
  for (const auto& s : pool_.all()) {
    if (s->now != slot::state::making || now - s->since < options_.make_within)
      continue;
    const auto home = home_.find(s->ticket());
    if (home != home_.end())
      return give_up(home->second); // takes others of `pool_` with it
  }
}

void slot_carrier::impl::watch_cpu(job& j, clock::time_point now) {
  if (j.kill_asked || !j.on || now < j.look_at || now - j.on->since < period)
    return;
  const auto spent = used(j.on->on().cpu);
  if (!spent) {
    j.look_at = clock::time_point::max(); // RLIMIT_CPU has to do
    return;
  }
  if (!j.cpu_before)
    j.cpu_before = *spent;
  const auto limit = static_cast<std::uint64_t>(
    std::chrono::microseconds{j.what.run->limits.cpu}.count());
  const auto so_far = *spent - std::min(*spent, *j.cpu_before);
  if (so_far >= limit) {
    j.cpu_exceeded = true;
    kill(j.what.run->id);
    return;
  }
  // With every processor at work the rest cannot be gone sooner.
  const auto processors = std::max(1u, std::thread::hardware_concurrency());
  j.look_at = now
    + std::max(std::chrono::microseconds{period},
               std::chrono::microseconds{(limit - so_far) / processors});
}

} // namespace troupe::zygote
