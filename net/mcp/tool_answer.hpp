#pragma once

#include "net/mcp/request_call.hpp"
#include "runtime/toolkit/outcome.hpp"

#include <memory>

namespace troupe::net::mcp {

/// Answers a call of a tool with what came of it.
void answer_outcome(request_call& call, const toolkit::outcome& what);

/// A place among the caller's calls, until it is let go; null, and answered,
/// when there are as many as there may be.
std::shared_ptr<void> take_place(request_call& call);

} // namespace troupe::net::mcp
