#pragma once

#include "actors/context.hpp"

#include <unordered_map>

namespace troupe {

/// Carries out attempts at one backend. The backend's threads never touch it:
/// they mail it, and it tells the dispatcher. When it dies, the dispatchers
/// learn that from the supervisor and take over what it had.
struct executor_state {
  static constexpr auto name = "executor";

  struct job {
    live_run_ptr run;
    std::uint32_t number = 0;
    dispatcher_actor home;
  };

  executor_actor::pointer self = nullptr;
  backend_desk* desk = nullptr;
  context_ptr context;
  std::unordered_map<std::uint64_t, job> jobs; // by ticket
  std::uint64_t last_ticket = 0;

  void start(attempt what);
  void cancel(const run_id& id, exit_reason why);
  void forget(const live_run_ptr& run);
  void finish(std::uint64_t ticket, std::shared_ptr<run_outcome> outcome);
};

executor_actor::behavior_type
executor(executor_actor::stateful_pointer<executor_state> self,
         context_ptr context, backend_kind kind);

} // namespace troupe
