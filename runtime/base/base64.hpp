#pragma once

#include "runtime/base/error.hpp"

#include <string>
#include <string_view>

namespace troupe::frame {

/// Standard alphabet, with padding, in one line.
std::string to_base64(std::string_view bytes);

/// Strict: nothing outside of the alphabet, the right padding, no stray bits.
result<std::string> from_base64(std::string_view text);

} // namespace troupe::frame
