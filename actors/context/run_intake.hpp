#pragma once

#include "actors/context/run_services.hpp"
#include "actors/state/in_flight_counts.hpp"

namespace troupe {

/// What every way into the engine does with a request before a dispatcher gets
/// it, so that none passes by the bounds or by the other organizations.

/// Arguments longer than this are bound on a thread beside the dispatchers: at
/// some 200 MB/s they take longer than a handler may.
inline constexpr std::size_t inline_arguments = 32u << 10; // bytes

/// Whether its arguments and files are copied and checked in no time.
bool is_light(const run_request& request);

/// What is counted on the way in, beside what runs share.
struct run_intake : run_services {
  explicit run_intake(const engine_options& options);

  const std::uint32_t most_pending; // requests in any state
  const event_bounds events;        // of each run
  std::atomic<std::uint32_t> pending{0};
  in_flight_counts in_flight;
};
using run_intake_ptr = std::shared_ptr<run_intake>;

struct accepted_run {
  active_run_ptr run;
  /// One of an organization with few under way passes the thousands that
  /// another one may just have sent: the queue behind is fair, but they must
  /// get there first.
  caf::message_priority priority = caf::message_priority::normal;
};

/// Makes a run of the request and counts it in; `release_run` counts it out.
result<accepted_run> accept_run(run_intake& intake, caller&& who,
                                run_request&& request);
void release_run(run_intake& intake, const active_run& run);

/// Chooses the dispatcher of a run and notes it in the run.
result<dispatcher_actor> choose_dispatcher(const run_services& services,
                                           active_run& run);

} // namespace troupe
