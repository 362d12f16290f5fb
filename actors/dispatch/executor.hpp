#pragma once

#include "actors/context/engine_context.hpp"

namespace troupe {

/// Bulkhead in front of one backend: dispatchers send it attempts, it calls the
/// backend, and the backend reports the result directly to the dispatcher. A
/// backend that throws or hangs takes one executor with it and no dispatcher.
/// After its death, which the supervisor announces, dispatchers send attempts
/// that had not begun to another executor; those that had begun continue.
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
