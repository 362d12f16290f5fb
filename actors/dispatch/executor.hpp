#pragma once

#include "actors/context/engine_context.hpp"

namespace troupe {

/// Carries out attempts at one backend, which tells the dispatcher how they
/// end. When it dies, the dispatchers learn that from the supervisor: what it
/// had not begun goes to another one, and what it had begun goes on.
struct executor_state {
  static constexpr auto name = "executor";

  executor_actor::pointer self = nullptr;
  backend_entry* desk = nullptr;
  context_ptr context;

  void start(const attempt& what);
  void cancel(const run_id& id, exit_reason why);
};

executor_actor::behavior_type
executor(executor_actor::stateful_pointer<executor_state> self,
         context_ptr context, backend_kind kind);

} // namespace troupe
