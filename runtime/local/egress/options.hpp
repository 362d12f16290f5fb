#pragma once

#include "runtime/local/egress/host_addresses.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace troupe::network {

/// What brokered calls may cost the host. Nothing of it is charged to the
/// run's control group, since it is a broker that spends it.
struct broker_budget {
  /// Sockets. They are the host's, its ports and its memory; nobody tells us
  /// when one is closed.
  std::uint64_t sockets_at_once;
  std::uint64_t sockets_per_second;
  /// Messages that wait for room in a socket.
  std::uint64_t held_bytes;
  /// Blocking calls in flight; each has two descriptors.
  std::uint64_t waiting_calls;
  /// Time of brokers on processors. Who has used it up gets slow.
  std::uint64_t percent_of_a_processor;
};

struct broker_options {
  /// Where names are looked up. Empty: what /etc/resolv.conf of the host says.
  /// They may be private addresses: the tool never talks to them itself.
  std::vector<ip_address> nameservers;
  std::uint16_t nameserver_port = 53;

  /// How long one lookup may take, over all nameservers.
  std::chrono::milliseconds lookup_timeout{5'000};

  broker_budget of_a_run{1'024, 100, 1u << 20, 256, 25};
  broker_budget of_an_organization{8'192, 1'000, 16u << 20, 2'048, 100};

  std::size_t events = 256;  // of one run; the rest is only counted
  std::size_t names = 1'024; // remembered for one run
  std::size_t lookups = 64;  // waiting for an answer, of one run

  /// Gives every socket a filter inside the kernel that lets nothing in from
  /// a closed address and no connection from outside, whatever the tool finds
  /// to get around the broker. Left out where the host does not let us.
  bool guard_sockets = true;

  /// Networks for special purposes that count as ordinary all the same: tests
  /// have their peers on loopback.
  std::vector<ip_network> ordinary;
  /// Why another address is closed, "" when it is not. Stays in this process.
  std::function<std::string_view(const ip_address&)> closed = closed_address;
};

} // namespace troupe::network
