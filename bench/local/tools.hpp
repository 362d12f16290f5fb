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

/// The light one, in TypeScript, and what is left of it without its types: who
/// starts a node per call is spared their removal.
const local_tool& typescript_tool();
const local_tool& javascript_tool();

} // namespace troupe::bench
