#pragma once

#include "runtime/json/json.hpp"

#include <string>
#include <string_view>

namespace troupe::net::letta {

/// What Python's `str()` says about a value that came as JSON. `odd_numbers`:
/// its texts NaN, Infinity and -Infinity are numbers.
std::string python_str(const json::value& v, bool odd_numbers = false);
/// The same for the text of a value; one that cannot be read stays as it is.
std::string python_str(std::string_view value_json, bool odd_numbers = false);

} // namespace troupe::net::letta
