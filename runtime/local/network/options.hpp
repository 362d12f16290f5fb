#pragma once

#include "runtime/local/network/own_address.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace troupe::network {

struct broker_options {
  /// Where names are looked up. Empty: what /etc/resolv.conf of the host says.
  /// They may be private addresses: the tool never talks to them itself.
  std::vector<ip_address> nameservers;
  std::uint16_t nameserver_port = 53;

  /// How long one lookup may take, over all nameservers.
  std::chrono::milliseconds lookup_timeout{5'000};

  /// Sockets of one run. They are the host's, its ports and its memory, and no
  /// group of the run's is charged for them; nobody tells us when one is
  /// closed.
  std::size_t sockets_at_once = 1'024;
  std::size_t sockets_per_second = 100;

  std::size_t events = 256;  // of one run; the rest is only counted
  std::size_t names = 1'024; // remembered for one run
  std::size_t lookups = 64;  // waiting for an answer, of one run
  std::size_t pending = 256; // blocking calls in flight, of one run

  /// Gives every socket a filter inside the kernel that lets nothing in from
  /// a closed address and no connection from outside, whatever the tool finds
  /// to get around the broker. Left out where the host does not let us.
  bool guard_sockets = true;

  /// Why an address is closed, "" when it is not. Tests put theirs here.
  std::function<std::string_view(const ip_address&)> closed = closed_address;
};

} // namespace troupe::network
