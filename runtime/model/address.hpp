#pragma once

#include "runtime/base/error.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// An IP address of either version, as bytes in network order.
struct ip_address {
  std::array<std::uint8_t, 16> bytes{}; // version 4 uses the first four
  bool v6 = false;

  std::size_t size() const noexcept { return v6 ? 16 : 4; }
  friend auto operator<=>(const ip_address&, const ip_address&) = default;
};

/// Accepts what inet_pton accepts: no octal, no "127.1", no zone index.
result<ip_address> parse_address(std::string_view text);
std::string to_string(const ip_address& a);
/// "93.184.216.34:443", "[2001:db8::1]:443".
std::string to_string(const ip_address& a, std::uint16_t port);

/// `address/length`, or an address alone, which is a network of one.
struct ip_network {
  ip_address base;
  std::uint8_t length = 0; // bits

  bool contains(const ip_address& a) const noexcept;
  bool contains(const ip_network& other) const noexcept;
  friend bool operator==(const ip_network&, const ip_network&) = default;
};

/// Host bits must be zero: `10.0.0.1/8` is more likely a mistake.
result<ip_network> parse_ip_network(std::string_view text);
std::string to_string(const ip_network& n);

/// Why an address is closed to untrusted code, or "" when it is an ordinary
/// address of the internet. Addresses that carry a version 4 one inside
/// (mapped, NAT64, 6to4, Teredo, ISATAP) are never ordinary: a list that wants
/// that address can name it plainly.
std::string_view special_purpose(const ip_address& a) noexcept;

/// Nothing special about it: may be reached under the policy "public".
inline bool is_public(const ip_address& a) noexcept {
  return special_purpose(a).empty();
}

/// The ranges behind `special_purpose`, for filters. Version 6 has more: what
/// is not below 2000::/3.
std::vector<ip_network> closed_networks();

/// The whole network lies in one closed range.
bool is_closed(const ip_network& n) noexcept;

} // namespace troupe
