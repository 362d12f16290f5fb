#pragma once

#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"
#include "runtime/toolkit/tool_entry.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::toolkit {

/// A tool with its schema.
struct listed_tool {
  tool_entry entry;
  json::object schema; // of its arguments
};

/// All of them, in the order in which they are listed.
const std::vector<listed_tool>& catalogue();

/// By its name, or a name that others give it; null: there is none.
const listed_tool* find_tool(std::string_view name);

/// The names, for a hint at the nearest one.
std::vector<std::string_view> tool_names();

/// Arguments as the tool gets them: other names for them are understood, null
/// is "not given", texts become what the schema wants. A failure has one line
/// per mistake.
result<json::object> read_arguments(const listed_tool& of, json::object said);

/// What a client is told of all of them.
std::string_view instructions();

} // namespace troupe::toolkit
