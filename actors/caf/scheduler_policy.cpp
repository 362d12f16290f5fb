#include "actors/caf/scheduler_policy.hpp"

#include "actors/caf/actor_system.hpp"

#include <caf/actor_system.hpp>

namespace troupe {

namespace {

/// However much the actors have to do, sockets get a look after so many turns.
constexpr std::uint32_t turns_between_looks = 16;

/// Whose sockets this thread waits for.
thread_local const void* at_home = nullptr;

io_thread* sockets_of(caf::scheduler::abstract_coordinator* coordinator) {
  const auto* config
    = dynamic_cast<const system_config*>(&coordinator->system().config());
  return config ? config->sockets : nullptr;
}

} // namespace

scheduler_policy::coordinator_data::coordinator_data(
  caf::scheduler::abstract_coordinator* of)
    : sockets{sockets_of(of)} {}

caf::resumable* scheduler_policy::pop(coordinator_data& shared) {
  auto* job = shared.queue.front();
  shared.queue.pop_front();
  return job;
}

void scheduler_policy::put(coordinator_data& shared, caf::resumable* job) {
  bool wake_thread = false, wake_first = false;
  {
    std::lock_guard guard{shared.lock};
    shared.queue.push_back(job);
    // Who is at home comes back for the first job himself.
    if (at_home == &shared && shared.queue.size() == 1)
      return;
    if (shared.waiting > 0)
      wake_thread = true;
    else
      wake_first
        = at_home != &shared && std::exchange(shared.at_sockets, false);
  }
  if (wake_thread)
    shared.cv.notify_one();
  if (wake_first)
    shared.sockets->wake();
}

caf::resumable* scheduler_policy::take(coordinator_data& shared) {
  std::unique_lock guard{shared.lock};
  ++shared.waiting;
  shared.cv.wait(guard, [&] { return !shared.queue.empty(); });
  --shared.waiting;
  return pop(shared);
}

bool scheduler_policy::take_sockets(coordinator_data& shared) {
  if (!shared.sockets || !shared.sockets->take())
    return false;
  at_home = &shared;
  return true;
}

void scheduler_policy::leave_sockets(coordinator_data& shared) {
  at_home = nullptr;
  shared.sockets->give_back();
}

caf::resumable* scheduler_policy::take_between_events(coordinator_data& shared,
                                                      worker_data& own) {
  if (++own.turns % turns_between_looks == 0)
    shared.sockets->serve_ready();
  for (;;) {
    {
      std::lock_guard guard{shared.lock};
      shared.at_sockets = shared.queue.empty();
      if (!shared.at_sockets)
        return pop(shared);
    }
    shared.sockets->serve_one();
  }
}

} // namespace troupe
