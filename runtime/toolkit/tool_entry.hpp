#pragma once

#include "runtime/json/json.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::toolkit {

class toolkit_call;
using call_ptr = std::shared_ptr<toolkit_call>;

/// A tool as models see it, and what carries it out.
struct tool_entry {
  std::string_view name;
  std::string_view title;
  std::string_view toolset; // "files"
  std::string_view description;
  std::string_view hints;      // of R(ead only) D(estructive) I(dempotent)
                               // O(pen world); what is absent is not so
  std::string_view properties; // of the arguments' schema, as JSON
  std::string_view required;   // as a JSON array
  void (*run)(const call_ptr&);
  /// The schema of what it answers, as JSON; "": it answers text.
  std::string_view output{};
  /// Nothing to make a sandbox for.
  bool needs_sandbox = true;

  bool hint(char letter) const { return hints.find(letter) != hints.npos; }
};

/// Those of one file each; `catalogue` puts them together.
std::vector<tool_entry> reading_tools();
std::vector<tool_entry> writing_tools();
std::vector<tool_entry> searching_tools();
std::vector<tool_entry> process_tools();
std::vector<tool_entry> git_tools();
std::vector<tool_entry> code_tools();
std::vector<tool_entry> sandbox_tools();

} // namespace troupe::toolkit
