#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/text.hpp"

#include <string_view>

namespace troupe {

/// A decimal number that is finite and uses the whole text.
result<double> parse_number(std::string_view text);

/// "30s", "500ms", "1.5min": in milliseconds. The unit must stand there.
result<double> parse_milliseconds(std::string_view text);

/// "512MiB", "64 KB", "4096": in bytes.
result<double> parse_bytes(std::string_view text);

} // namespace troupe
