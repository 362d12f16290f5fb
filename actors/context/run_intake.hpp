#pragma once

#include "actors/context/engine_context.hpp"

namespace troupe {

/// What every way into the engine does with a request before a dispatcher gets
/// it, so that nobody passes by the bounds or by the other organizations.

/// Arguments longer than this are bound on a thread beside the dispatchers: at
/// some 200 MB/s they take longer than a handler may.
inline constexpr std::size_t inline_arguments = 32u << 10; // bytes

struct accepted_run {
  live_run_ptr run;
  /// One of an organization with few under way passes the thousands that
  /// another one may just have sent: the queue behind is fair, but they must
  /// get there first.
  caf::message_priority priority = caf::message_priority::normal;
};

/// Makes a run of the request and counts it in; `let_go` counts it out.
result<accepted_run> accept_run(engine_context& context, caller&& who,
                                run_request&& request);
void let_go(engine_context& context, const active_run& run);

/// Chooses the dispatcher of a run and notes it in the run.
result<dispatcher_actor> choose_dispatcher(engine_context& context,
                                           active_run& run);

} // namespace troupe
