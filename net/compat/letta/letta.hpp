#pragma once

#include "net/server/router.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/catalog.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace troupe {
class engine;
class environments;
} // namespace troupe

namespace troupe::net::letta {

struct letta_options {
  /// What /v1/health/ says; clients compare it with what they know.
  std::string version = "0.16.8";
  std::size_t body_limit = 16u << 20;
  config_defaults defaults;         // of sandbox configs, from the process
  environments* packages = nullptr; // of local runs; null: no local backend
  secret password;                  // Letta's secure mode; "": off, as there
  /// Open values of variables, which are masked without them.
  std::function<result<secret>(const sealed_variable&)> reveal;
  std::function<result<secret>(const sealed_agent_variable&)> reveal_agent;
};

/// Letta's tool and sandbox endpoints below /compat/letta/v1 and
/// /compat/letta/latest: an unmodified client needs only this base URL.
void add_letta(router& routes, engine& core, letta_options options = {});

} // namespace troupe::net::letta
