#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"
#include "runtime/model/package_requirement.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

enum class language : std::uint8_t { python, typescript, javascript, shell };

std::string_view to_string(language l);
result<language> parse_language(std::string_view text);

inline constexpr std::uint32_t default_return_char_limit = 50'000;
inline constexpr std::uint32_t max_return_char_limit = 1'000'000;

/// A function that an agent may call.
struct tool {
  tool_id id;
  organization_id organization;
  std::string name; // unique in its organization
  std::string description;
  std::string tool_type = "custom";
  language source_type = language::python;
  std::string source_code;
  std::optional<json::object> json_schema;
  std::optional<json::object> args_json_schema;
  std::vector<std::string> tags;
  std::uint32_t return_char_limit = default_return_char_limit;
  std::vector<pip_requirement> pip_requirements;
  std::vector<npm_requirement> npm_requirements;
  std::optional<bool> default_requires_approval;
  bool enable_parallel_execution = false;
  json::object metadata; // `sandbox` picks the backend
  std::string project_id;
  std::uint64_t revision = 1;
  timestamp created_at{};
  timestamp updated_at{};
  std::string created_by;
  std::string updated_by;
};

/// In a tool's metadata: its arguments are bound leniently, as `bind_options`
/// says, however it is run.
inline constexpr std::string_view lenient_mark = "lenient_arguments";

/// The function's name inside the source: the schema's name.
std::string function_name(const tool& t);

/// Twelve hex digits over source and packages, as Letta computes them:
/// docs/reference/letta.md#tool-hash.
std::string tool_hash(const tool& t);

} // namespace troupe
