#pragma once

#include "actors/dispatch/backend_selection.hpp"
#include "actors/state/run_policy.hpp"
#include "runtime/engine/backend.hpp"
#include "runtime/engine/catalog.hpp"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe {

/// A request with everything looked up that no backend changes.
struct resolved_run {
  /// What the backend gets, without config, limits and environment. The first
  /// one has it as it is, the next ones a copy.
  std::shared_ptr<prepared_run> base;
  std::vector<pip_requirement> pip; // the tool's and the run's
  std::vector<npm_requirement> npm;
  backend_preference wish;
  tool_id tool; // the stored one, or one made for this run
  limit_overrides tool_limits;
  std::optional<network_policy> tool_network;
};

/// What a run takes over from a stored tool, as it needs it.
struct tool_view {
  std::shared_ptr<const tool> of;
  std::string function;
  std::string json_schema; // "": none
  std::string args_json_schema;
  bool lenient_arguments = false;
  std::optional<backend_name> wish;
  limit_overrides limits;
  std::optional<network_policy> network;
};
using tool_view_ptr = std::shared_ptr<const tool_view>;

/// Reads tools once per revision: a schema takes longer to print than a run
/// takes through the engine. Not thread-safe.
class tool_views {
public:
  result<tool_view_ptr> find(const std::shared_ptr<const tool>& of);

private:
  std::unordered_map<tool_id, tool_view_ptr> known_;
};

/// Finds the tool, binds the arguments. Every complaint has a pointer.
result<resolved_run> resolve(const run_request& request,
                             const organization_catalog* catalog,
                             const run_rules& rules, tool_views& tools);

/// The stored config for this run at a backend, or nothing. A peer carries out
/// what this machine would have: its config is that of local runs.
std::shared_ptr<const sandbox_config>
stored_config(const run_request& request, backend_name backend,
              const organization_catalog* catalog);

/// The parts of a sandbox config that a run needs, whatever its kind.
struct config_view {
  std::shared_ptr<const sandbox_config> config;
  std::vector<pip_requirement> pip;
  std::vector<npm_requirement> npm;
  common_config common;
  std::string fingerprint;
};
using config_view_ptr = std::shared_ptr<const config_view>;

/// Reads configs once per revision: reading one and fingerprinting it costs
/// more than many a run's whole way through the engine. Not thread-safe.
class config_views {
public:
  /// The config in use: the one that the run names, else the organization's
  /// for this backend, else the defaults, which are not stored.
  result<config_view_ptr> find(const run_request& request, backend_name backend,
                               const organization_catalog* catalog,
                               const run_rules& rules);
  /// One that another node has sent along with a run (JSON).
  result<config_view_ptr> find_sent(const std::string& text,
                                    const organization_id& organization,
                                    const run_rules& rules);

private:
  using of_organization = std::unordered_map<organization_id, config_view_ptr>;

  config_view_ptr& place(const sandbox_config* stored,
                         const run_request& request, backend_name backend);

  std::unordered_map<config_id, config_view_ptr> stored_;
  std::map<backend_name, of_organization> defaults_;
  std::map<std::pair<organization_id, std::string>, config_view_ptr> sent_;
};

/// Makes `run`, a resolved one's base, fit for one backend: its config,
/// packages, limits and network. The strictest of server, config, tool and run
/// wins. May be done again for another backend.
result<void> fit(prepared_run& run, const resolved_run& resolved,
                 const run_request& request, const config_view& config,
                 const run_rules& rules);

} // namespace troupe
