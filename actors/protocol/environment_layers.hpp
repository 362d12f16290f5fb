#pragma once

#include "actors/state/run_policy.hpp"
#include "runtime/engine/backend.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// The layers that had to be looked up or unsealed.
struct resolved_variables {
  std::shared_ptr<const environment> of_config;
  std::shared_ptr<const environment> of_webhook;
  std::shared_ptr<const environment> of_agent; // stored
  std::vector<std::string> notes;
};

struct layered_environment {
  environment variables;
  /// Every variable with the layer that it comes from, and those it hides:
  /// "run over webhook over config". For explanations.
  std::vector<std::pair<std::string, std::string>> origins;
};

/// The environment of a run, in the one documented order, later wins:
///   process (local only) < config < webhook < agent < run < ids.
/// No layer overrides the ids: LETTA_AGENT_ID, LETTA_PROJECT_ID, LETTA_TOOL_ID,
/// their TROUPE_ twins and TRACEPARENT. What there is no id for is absent.
result<layered_environment>
layer_environment(const run_request& request, const tool_id& tool,
                  backend_name backend, const resolved_variables& found,
                  const run_rules& rules, bool with_origins = false);

} // namespace troupe
