#pragma once

#include "runtime/model/host_pattern.hpp"

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace troupe::network {

/// A filter for the packets that reach a socket, the second fence behind the
/// broker: packets from closed addresses are dropped unless the policy names
/// the address, and so is everybody who wants to connect to the socket. A tool
/// that tricked the broker could send a packet, but hear no answer, and TCP
/// does not even begin without one.
///
/// `resolver` is where the broker itself answers, on the host's loopback.
std::vector<sock_filter> guard_program(const std::vector<host_pattern>& allowed,
                                       bool is_stream,
                                       const ip_address& resolver,
                                       std::uint16_t resolver_port);

/// Attaches it for good: the tool can neither take it off nor replace it.
bool guard_socket(int socket, const std::vector<sock_filter>& program) noexcept;

/// Some hosts let only the privileged attach a filter to a socket. Tried once.
bool can_guard_sockets();

} // namespace troupe::network
