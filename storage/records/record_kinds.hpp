#pragma once

#include "storage/records/typed_store.hpp"

namespace troupe {

// What the simple stores keep, and how: see `typed_store`.

struct tool_traits {
  using record = tool;
  static constexpr column where = column::tools;
  static constexpr std::string_view name = "tool";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

struct config_traits {
  using record = sandbox_config;
  static constexpr column where = column::configs;
  static constexpr std::string_view name = "sandbox config";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

/// Ordered by config, so that a config goes with its variables.
struct variable_traits {
  using record = sealed_variable;
  static constexpr column where = column::variables;
  static constexpr std::string_view name = "variable";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

/// Ordered by agent, then by name.
struct agent_variable_traits {
  using record = sealed_agent_variable;
  static constexpr column where = column::agent_variables;
  static constexpr std::string_view name = "agent variable";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

/// Only hashes: a key itself is never kept.
struct key_traits {
  using record = api_key;
  static constexpr column where = column::keys;
  static constexpr std::string_view name = "API key";
  static std::string key(const record& r);
  static std::string encode(const record& r);
  static result<record> decode(std::string_view bytes);
};

extern template class typed_store<tool_traits>;
extern template class typed_store<config_traits>;
extern template class typed_store<variable_traits>;
extern template class typed_store<agent_variable_traits>;
extern template class typed_store<key_traits>;

using tool_store = typed_store<tool_traits>;
using config_store = typed_store<config_traits>;
using variable_store = typed_store<variable_traits>;
using agent_variable_store = typed_store<agent_variable_traits>;
using key_store = typed_store<key_traits>;

} // namespace troupe
