#include "runtime/local/warm/slot_watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

namespace troupe::zygote {

namespace {

using clock = warm_run::clock;

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

void slot_watchdog::begin(std::weak_ptr<watched_slots> what) {
  if (std::exchange(is_set_, true))
    return;
  timer_.expires_after(period);
  timer_.async_wait(
    [weak = weak_from_this(), what](const boost::system::error_code& bad) {
      const auto self = weak.lock();
      const auto at = what.lock();
      if (!self || !at)
        return;
      self->is_set_ = false;
      if (bad)
        return;
      self->look(*at);
      if (!at->is_quiet())
        self->begin(what);
    });
}

void slot_watchdog::look(watched_slots& at) {
  const auto now = clock::now();
  for (const auto& run : at.running()) {
    look_at_cpu(at, *run, now);
    if (now < run->kill_by)
      continue;
    // Its socket closes when it is dead, and tells the rest.
    run->kill_by = clock::time_point::max();
    at.on_kill_ignored(*run);
  }
  for (const auto& s : at.slots())
    if (s->now == slot::state::over && now - s->since > kill_grace_)
      at.on_still_there(s);
    else if (s->now == slot::state::making && now - s->since >= make_within_)
      at.on_not_made(s);
}

void slot_watchdog::look_at_cpu(watched_slots& at, warm_run& run,
                                clock::time_point now) {
  if (run.kill_asked || !run.on || now < run.look_at
      || now - run.on->since < period)
    return;
  const auto spent = used(run.on->on().cpu);
  if (!spent) {
    run.look_at = clock::time_point::max(); // RLIMIT_CPU has to do
    return;
  }
  if (!run.cpu_before)
    run.cpu_before = *spent;
  const auto limit = static_cast<std::uint64_t>(
    std::chrono::microseconds{run.what.run->limits.cpu}.count());
  const auto so_far = *spent - std::min(*spent, *run.cpu_before);
  if (so_far >= limit) {
    run.cpu_exceeded = true;
    return at.on_cpu_exceeded(run);
  }
  // With every processor at work the rest cannot be gone sooner.
  const auto processors = std::max(1u, std::thread::hardware_concurrency());
  run.look_at = now
    + std::max(std::chrono::microseconds{period},
               std::chrono::microseconds{(limit - so_far) / processors});
}

} // namespace troupe::zygote
