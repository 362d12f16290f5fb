#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

enum class network_mode : std::uint8_t {
  off,    // no socket beyond the sandbox
  open,   // "public": the internet, never loopback, private or metadata ranges
  listed, // "allow": only the named hosts, never the same ranges by surprise
};

/// What a run may connect to. Decided on the address really connected to.
struct network_policy {
  network_mode mode = network_mode::open;
  /// For `listed`: `host`, `host:port`, `*.domain`, `address` or `cidr`.
  std::vector<std::string> allow;

  friend bool operator==(const network_policy&, const network_policy&)
    = default;
};

/// The stricter of two: what both allow.
network_policy strictest(const network_policy& a, const network_policy& b);

} // namespace troupe
