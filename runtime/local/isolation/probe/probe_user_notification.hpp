#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Whether this kernel lets a filter ask another process, and lets that process
/// answer with a descriptor. Tried in a child of the caller.
outcome try_network_questions() noexcept;

/// Whether a packet filter can be locked into a socket.
bool try_socket_filter() noexcept;

} // namespace troupe::isolation
