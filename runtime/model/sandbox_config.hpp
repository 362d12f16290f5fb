#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/backend_name.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/isolation.hpp"
#include "runtime/model/limits.hpp"
#include "runtime/model/network_policy.hpp"
#include "runtime/model/package_requirement.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

using timestamp = std::chrono::time_point<std::chrono::system_clock,
                                          std::chrono::microseconds>;

/// A stored sandbox config. `config` is the payload after defaulting, without
/// null members: exactly the object that the fingerprint covers.
struct sandbox_config {
  config_id id;
  organization_id organization;
  backend_kind type = backend_kind::local;
  json::object config;
  std::uint64_t revision = 1; // grows with every change; the ETag
  timestamp created_at{};
  timestamp updated_at{};
  std::string created_by;
  std::string updated_by;
};

/// What every kind of config may say beside its own fields.
struct common_config {
  limit_overrides limits;
  std::optional<network_policy> network;
  std::optional<isolation_level> isolation;
  bool allow_weaker_fallback = true; // may fail over to a weaker isolation
};

struct local_config {
  std::string sandbox_dir; // "": the engine's private directory
  bool use_venv = false;
  std::string venv_name = "venv";
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  common_config common;
};

struct e2b_config {
  std::chrono::seconds timeout{300};
  std::string template_id; // "": the provider's default
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  bool reuse = false; // keep a sandbox for the same organization and config
  common_config common;
};

struct modal_config {
  std::chrono::seconds timeout{60};
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  std::string language = "python";
  common_config common;
};

struct daytona_config {
  std::chrono::seconds timeout{300};
  std::string snapshot; // one of snapshot and image, or neither
  std::string image;
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  bool reuse = false; // as e2b_config's
  common_config common;
};

struct aio_config {
  std::chrono::seconds timeout{300};
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  common_config common;
};

/// What a config of any kind says that every backend understands.
struct config_requirements {
  std::vector<pip_requirement> pip;
  std::vector<npm_requirement> npm;
  common_config common;
};

/// Typed views of `sandbox_config::config`. Absent members take defaults.
result<local_config> as_local(const json::object& config);
result<e2b_config> as_e2b(const json::object& config);
result<modal_config> as_modal(const json::object& config);
result<daytona_config> as_daytona(const json::object& config);
result<aio_config> as_aio(const json::object& config);
result<config_requirements> requirements_of(backend_kind type,
                                            const json::object& config);

/// What process settings add to a config that does not say.
struct config_defaults {
  std::string sandbox_dir; // TOOL_EXEC_DIR, else ~/.letta/tool_execution_dir
  std::string e2b_template_id; // E2B_SANDBOX_TEMPLATE_ID
  std::string venv_name;       // TOOL_EXEC_VENV_NAME; "": no venv
};

/// Checks a payload of a known type and returns it as it is to be stored:
/// defaulted, without nulls. Unknown members are refused with the nearest name
/// (`strict`) or dropped as Letta does (`lenient`).
enum class unknown_members : std::uint8_t { refuse, drop };
result<json::object> normalize_config(backend_kind type,
                                      const json::object& payload,
                                      const config_defaults& defaults,
                                      unknown_members policy);

/// The default config: normalized, and with the venv that
/// the process settings name.
result<json::object> standard_config(backend_kind type,
                                     const config_defaults& defaults);

/// For an update, as Letta stores it: only the members that were given, plus
/// the injected ones.
result<json::object> normalize_update(backend_kind type,
                                      const json::object& payload,
                                      const config_defaults& defaults,
                                      unknown_members policy);

/// Which type an untyped payload is: an explicit `type` wins, else Letta's
/// rule (docs/reference/letta.md#recognizing-an-untyped-config).
result<backend_kind> recognize_config(const json::object& payload);

/// SHA-256 of the canonical JSON, as a decimal number:
/// docs/reference/letta.md#fingerprint.
std::string fingerprint(backend_kind type,
                        const std::optional<std::string>& organization,
                        const json::object& config);
std::string fingerprint(const sandbox_config& config);

} // namespace troupe
