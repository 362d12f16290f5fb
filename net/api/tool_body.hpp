#pragma once

#include "runtime/engine/engine.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/model/tool.hpp"

#include <optional>
#include <string>

namespace troupe::net {

/// How two front doors spell the same members.
struct tool_spelling {
  std::string_view metadata = "metadata";
  bool names = true; // `name` and `project_id` may be given
};

/// Lays the given members over `base`; what is absent stays.
tool read_tool(json::reader& in, tool base, const tool_spelling& spelling);

/// Gives a tool without a schema the one that its source says, with name and
/// description. TypeScript tools need one of their own.
void complete_tool(engine& core, const caller& who, tool value,
                   handler<tool> done);

/// A tool with new source and its old schema: it gets the one that the source
/// says. Where none can be derived, the old one stays.
void refresh_tool(engine& core, const caller& who, tool value,
                  handler<tool> done);

} // namespace troupe::net
