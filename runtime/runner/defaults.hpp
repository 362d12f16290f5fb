#pragma once

#include <algorithm>
#include <cstddef>

/// Bounds of what a runner may answer. The runners keep to the same numbers;
/// these are the defaults.
namespace troupe::script::defaults {

/// Status, error message and traceback: 16 Ki characters each, and 12 bytes
/// per character where JSON must escape.
inline constexpr std::size_t max_head_bytes = 1u << 20;

/// However small the limit of a run: room for `null`, a flag, a short text.
inline constexpr std::size_t min_value_bytes = 1024;

/// A tool may grow its agent's memory, but not without end.
constexpr std::size_t max_state_bytes(std::size_t before) {
  return std::max<std::size_t>(16 * before, 1u << 20);
}

/// Compiled code is larger than its source, but not by orders of magnitude.
constexpr std::size_t max_code_bytes(std::size_t source) {
  return 64 * source + (4u << 20);
}

/// A JSON schema, for a person or a model to read.
inline constexpr std::size_t max_schema_bytes = 4u << 20;

/// Levels of nesting in a return value: the runners stop at 60.
inline constexpr std::size_t max_value_depth = 64;

/// Characters of an exception's name: a word, for logs and for statistics.
inline constexpr std::size_t max_name_characters = 200;

/// Characters of a friendly message, as Letta has it.
inline constexpr std::size_t max_friendly_characters = 1000;

} // namespace troupe::script::defaults
