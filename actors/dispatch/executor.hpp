#pragma once

#include "actors/context/run_services.hpp"

namespace troupe {

/// The bulkhead in front of one backend: a backend that throws or hangs takes
/// one executor with it and no dispatcher. It turns a message into a call, and
/// that is all: breaker and counts of the backend stand in its entry, which
/// dispatchers read for every run and which outlives executors; leases belong
/// to the backend; and the end of an attempt goes from the backend straight to
/// the dispatcher, without a turn here. After its death, which the supervisor
/// announces, dispatchers send attempts that had not begun to another executor;
/// those that had begun continue.
struct executor_state {
  static constexpr auto name = "executor";

  executor_actor::pointer self = nullptr;
  run_services_ptr services;      // whose the entry is, and the clock
  backend_entry* entry = nullptr; // of the backend

  void start(const attempt& what);
  void cancel(const run_id& id, exit_reason why);
};

executor_actor::behavior_type
executor(executor_actor::stateful_pointer<executor_state> self,
         run_services_ptr services, backend_name kind);

} // namespace troupe
