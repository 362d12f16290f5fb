#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/json/json.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What words of a command line stand for. `name` is the option that errors
/// name.

/// A whole file, "-" being standard input.
result<std::string> read_said_file(const std::string& path,
                                   std::string_view name);
/// A JSON object: as text, in a file (@file), or on standard input (-).
result<json::object> said_object(const std::string& text,
                                 std::string_view name);
/// The same for the arguments of a tool, whose integers may be of any size
/// (runtime/json/big_integers.hpp).
result<json::object> said_arguments(const std::string& text);
json::array to_array(const std::vector<std::string>& texts);
/// NAME=VALUE, or NAME to pass on a variable of our own.
result<environment> said_variables(const std::vector<std::string>& words,
                                   std::string_view name);

/// --timeout: more than nothing, and with a unit.
result<std::chrono::milliseconds> said_timeout(const std::string& text);

} // namespace troupe
