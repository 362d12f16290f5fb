#pragma once

#include "runtime/base/unique_fd.hpp"

#include <cstdint>
#include <vector>

namespace troupe::inside {

/// A non-blocking socket to a server in this network, by version 4 or 6 of the
/// protocol; connected, or on its way where the server is slow to accept. Empty
/// with errno set: ECONNREFUSED when there is no server.
unique_fd connect_to_port(std::uint16_t port) noexcept;

/// The TCP ports of this network that are listened on, in order, no more than a
/// packet tells. An errno, or 0.
int list_ports(std::vector<std::uint16_t>& out);

} // namespace troupe::inside
