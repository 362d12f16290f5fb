#pragma once

#include "net/mcp/list_wish.hpp"

#include <string>
#include <vector>

namespace troupe::net::mcp {

/// The entries of `tools/list` that a request sees: ours in their order, then
/// the organization's by name.
std::vector<std::string> tool_list(const service& home, const caller& who,
                                   const list_wish& wish, bool with_data);

} // namespace troupe::net::mcp
