#pragma once

#include "net/mcp/request_call.hpp"

namespace troupe::net::mcp {

/// The stream of a legacy session's changes. Answers the exchange.
void open_legacy_stream(const std::shared_ptr<service>& home,
                        const exchange_ptr& ex, protocol_session_ptr session);

} // namespace troupe::net::mcp
