#pragma once

#include "runtime/model/run.hpp"

#include <string>
#include <vector>

namespace troupe::bench {

/// A tool to measure with. No zygote has ever seen one of these: their warm-up
/// is a tool of its own.
struct local_tool {
  std::string name;
  std::string source;
  std::string function;
  std::string args; // JSON
  language lang = language::python;
};

/// Light: counts words. Medium: regular expressions, dates, an exception,
/// base64. Heavy: defines a pydantic model on every call.
const std::vector<local_tool>& local_tools();

/// The light one, in TypeScript.
const local_tool& typescript_tool();

} // namespace troupe::bench
