#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// The environment of a run. Names are checked, values never printed.
using environment = std::map<std::string, secret>;

/// A variable of a sandbox config. The value is sealed at rest and written
/// only: it leaves the store for a run, never for an API.
struct variable {
  variable_id id;
  organization_id organization;
  config_id config;
  std::string key;
  std::string description;
  timestamp created_at{};
  timestamp updated_at{};
  std::string created_by;
  std::string updated_by;
};

/// The same for an agent.
struct agent_variable {
  agent_variable_id id;
  organization_id organization;
  std::string agent_id;
  std::string key;
  std::string description;
  timestamp created_at{};
  timestamp updated_at{};
};

/// A name must be `[A-Za-z_][A-Za-z0-9_]*`, at most 256 bytes, and none that
/// would change how a process is loaded (LD_PRELOAD, LD_LIBRARY_PATH,
/// PYTHONPATH's kin such as PYTHONHOME, NODE_OPTIONS, BASH_ENV, ...).
result<void> check_variable_name(std::string_view name,
                                 std::string_view pointer = "/key");
/// No NUL, at most 127 KiB.
result<void> check_variable_value(std::string_view value,
                                  std::string_view pointer = "/value");

} // namespace troupe
