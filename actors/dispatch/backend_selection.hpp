#pragma once

#include "actors/state/backend_registry.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/run.hpp"

#include <bitset>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What decides where a run may go.
struct backend_preference {
  std::optional<backend_name> of_run;        // binding: nowhere else
  std::optional<backend_name> of_tool;       // first choice
  backend_name standard = backend_kind::e2b; // when nobody says, or fails
  /// By kind: its config does not let a run go on to a weaker isolation.
  std::bitset<backend_kinds> no_weaker;
  isolation_level local_isolation = isolation_level::standard;
  /// What is for a provider is refused rather than run by this engine.
  bool fail_closed = false;
};

/// Where a run may go, best first, with a sentence on every decision.
struct backend_plan {
  std::vector<backend_name> candidates;
  /// Those that would have gone first, were they well: the answer says so.
  std::vector<failover_step> passed_over;
  /// Why this engine is no candidate; "": it is, or nobody wanted it.
  std::string kept_away;
  std::vector<std::string> reasons;
};

/// What the plan needs to know about one backend.
struct backend_view : circuit_breaker::picture {
  bool configured = false;
  std::string not_ready; // "": it is ready
};
using backend_viewer = std::function<backend_view(backend_name)>;

/// The order of backends: the run's, the tool's, the standard, local. Sick
/// ones go last; an error names what is missing and what to do. Reasons are
/// given to those who ask for them.
result<backend_plan> plan_backends(const backend_preference& wish,
                                   const backend_viewer& look,
                                   bool with_reasons = false);

/// How strongly a kind separates runs from us and from each other.
int isolation_rank(backend_name backend, isolation_level local);

/// Whether the next candidate may have the run after a failure.
bool may_fail_over(const error& why, bool may_have_started, bool idempotent);

} // namespace troupe
