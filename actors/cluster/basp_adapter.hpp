#pragma once

#include "actors/protocol/messages.hpp"

#include <chrono>

/// Messages that are internal to CAF's broker for the traffic between nodes.
/// They are the only door to hand it a connection of our own, and stable since
/// the version is: one file, one test.
namespace troupe {

/// The broker; to be asked for once, before any link is made.
caf::actor basp_broker_of(caf::actor_system& system);

/// A peer has connected: `fd` is its socket, and it may talk to `gate`. The
/// descriptor belongs to the broker from here on.
void adopt_inbound(caf::actor_system& system, const caf::actor& broker, int fd,
                   const gateway_actor& gate);

/// We have dialed: the other node's gate. Blocks.
result<gateway_actor> adopt_outbound(caf::actor_system& system,
                                     const caf::actor& broker, int fd,
                                     std::chrono::milliseconds patience);

} // namespace troupe
