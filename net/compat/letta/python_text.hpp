#pragma once

#include "runtime/json/json.hpp"

#include <string>
#include <string_view>

namespace troupe::net::letta {

/// What Python's `str()` says about a value that came as JSON.
std::string python_str(const json::value& v);
/// The same for the text of a value; one that cannot be read stays as it is.
std::string python_str(std::string_view value_json);

} // namespace troupe::net::letta
