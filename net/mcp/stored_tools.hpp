#pragma once

#include "net/mcp/list_wish.hpp"
#include "runtime/engine/catalog.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net::mcp {

/// A tool of an organization by the name that clients know it by.
struct stored_tool {
  std::string name;
  std::shared_ptr<const tool> what;
};

/// Those that a request may see, by name. A name that clients would not take is
/// changed, and so is one that a tool of ours has.
std::vector<stored_tool> stored_tools(const service& home, const caller& who,
                                      const list_wish& wish);

/// The entry of `tools/list`.
std::string stored_tool_json(const stored_tool& of);

/// Runs one: an ordinary isolated run, without a session.
void call_stored_tool(request_call& call, const stored_tool& which,
                      const json::object& arguments);

} // namespace troupe::net::mcp
