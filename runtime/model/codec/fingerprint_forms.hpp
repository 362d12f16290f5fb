#pragma once

#include "runtime/model/sandbox_config.hpp"

#include <string>
#include <string_view>

namespace troupe {

// The fingerprint of a sandbox config is one number in three forms.

/// All of it, as runs carry it: 64 hex digits.
std::string hex_fingerprint(const sandbox_config& config);

/// As people see it, and /v1: its first 12 digits.
std::string_view short_fingerprint(std::string_view hex);

/// As `fingerprint` and Letta's clients have it. What is no digest stays.
std::string decimal_fingerprint(std::string_view hex);

} // namespace troupe
