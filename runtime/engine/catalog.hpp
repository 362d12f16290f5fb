#pragma once

#include "runtime/base/persistent_map.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"
#include "runtime/model/tool.hpp"
#include "runtime/model/variable.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

// -- what is known -----------------------------------------------------------

/// A variable as it lies in the store: the value only as sealed bytes.
struct sealed_variable {
  variable about;
  std::string sealed;
};
struct sealed_agent_variable {
  agent_variable about;
  std::string sealed;
};

/// What a key is good for. `admin` includes `run` and `config`; `operate` (to
/// people "operator") includes all of them, for every organization.
enum class scope : std::uint8_t { run = 1, config = 2, admin = 4, operate = 8 };

/// An API key. The key itself is shown once, when it is made, and never kept.
struct api_key {
  key_id id;
  organization_id organization;
  std::string name;
  std::string hash;        // hex SHA-256 of the key, which is random and long
  std::uint8_t scopes = 0; // of `scope`
  timestamp created_at{};
  std::optional<timestamp> expires_at;
};

/// Everything of one organization. Immutable: a change makes a new one, which
/// shares with the old one what did not change.
struct organization_catalog {
  organization_id id;
  persistent_map<tool_id, std::shared_ptr<const tool>> tools;
  persistent_map<std::string, tool_id> tools_by_name;
  persistent_map<config_id, std::shared_ptr<const sandbox_config>> configs;
  persistent_map<backend_kind, config_id> configs_by_type;
  /// By config, then by name.
  persistent_map<
    config_id,
    persistent_map<std::string, std::shared_ptr<const sealed_variable>>>
    variables;
  persistent_map<variable_id, std::shared_ptr<const sealed_variable>>
    variables_by_id;
  /// By agent, then by name.
  persistent_map<
    std::string,
    persistent_map<std::string, std::shared_ptr<const sealed_agent_variable>>>
    agent_variables;
};

/// A consistent picture of all configuration, read without any lock.
struct catalog {
  std::uint64_t version = 0;
  persistent_map<organization_id, std::shared_ptr<const organization_catalog>>
    organizations;
  persistent_map<std::string, std::shared_ptr<const api_key>> keys_by_hash;

  const organization_catalog* find(const organization_id& id) const;
};

using catalog_ptr = std::shared_ptr<const catalog>;

// -- what may change ---------------------------------------------------------
// One struct per change; the writer applies it as a whole or not at all.

/// What the conflict points to when an `if_revision` is not met; a conflict
/// about anything else points elsewhere.
inline constexpr std::string_view revision_pointer = "/revision";

struct put_tool { // create, or replace the one of that name
  tool value;     // an empty id: a new one is made
  bool must_be_new = false;
  std::optional<std::uint64_t> if_revision{}; // of the one that is replaced
};
struct update_tool { // `value` with the id of the one to replace
  tool value;
  std::optional<std::uint64_t> if_revision;
};
struct delete_tool {
  tool_id id;
  std::optional<std::uint64_t> if_revision{};
};
struct put_config { // create, or replace the one of that type
  backend_kind type = backend_kind::local;
  json::object config;                        // normalized
  std::optional<std::uint64_t> if_revision{}; // of the one that is replaced
};
struct default_config { // get, or create with the defaults
  backend_kind type = backend_kind::local;
};
struct update_config {
  config_id id;
  json::object config; // normalized, of the same type
  std::optional<std::uint64_t> if_revision;
  std::optional<backend_kind> type; // as recognised; another one is refused
};
struct delete_config { // and its variables
  config_id id;
  std::optional<std::uint64_t> if_revision{};
};
struct put_variable { // create, or replace by name
  config_id config;
  std::string key;
  secret value;
  std::string description;
};
struct update_variable {
  variable_id id;
  std::optional<std::string> key;
  std::optional<secret> value;
  std::optional<std::string> description;
};
struct delete_variable {
  variable_id id;
};
struct put_agent_variables { // the whole set of one agent
  std::string agent_id;
  std::map<std::string, secret> values;
  bool replace_all = true; // false: only add and overwrite
};
struct delete_agent_variable {
  std::string agent_id;
  std::string key;
};
struct put_key {
  api_key value; // hash already computed
};
struct delete_key {
  key_id id;
};
/// Everything that belongs to it, and what its values are sealed with. Its
/// audit stays. The caller may belong to another one: the API checks
/// that.
struct delete_organization {
  organization_id id;
};

using catalog_change
  = std::variant<put_tool, update_tool, delete_tool, put_config, default_config,
                 update_config, delete_config, put_variable, update_variable,
                 delete_variable, put_agent_variables, delete_agent_variable,
                 put_key, delete_key, delete_organization>;

/// What is there after the change; which member is set follows the change.
struct change_reply {
  bool created = false;
  std::shared_ptr<const troupe::tool> tool;
  std::shared_ptr<const sandbox_config> config;
  std::shared_ptr<const sealed_variable> variable;
  std::vector<std::shared_ptr<const sealed_agent_variable>> agent_variables;
  std::shared_ptr<const api_key> key;
};

} // namespace troupe
