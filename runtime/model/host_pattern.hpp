#pragma once

#include "runtime/model/address.hpp"
#include "runtime/model/network_policy.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// One entry of an allow list, parsed.
struct host_pattern {
  enum class kind : std::uint8_t {
    open,    // "public": every public address
    name,    // "example.org": this name
    below,   // "*.example.org": names below it, not itself
    network, // "10.1.0.0/16" or one address
  };
  kind what = kind::name;
  std::string name; // lower case, without the final dot
  ip_network network;
  std::optional<std::uint16_t> port; // absent: every port

  friend bool operator==(const host_pattern&, const host_pattern&) = default;
};

/// `host`, `host:443`, `*.example.org`, `10.0.0.0/8`, `[2001:db8::1]:443`,
/// `public`. Refuses wildcards elsewhere, and texts that are no host name.
result<host_pattern> parse_host_pattern(std::string_view text);
std::string to_string(const host_pattern& p);

/// Lower case, no final dot; "" when it is no name that DNS could know.
std::string normalized_host(std::string_view name);

/// Whether a lookup of this name could lead to something that is allowed.
bool covers_name(const host_pattern& p, std::string_view normalized);

/// Whether a pattern opens an address, given the names that resolved to it.
/// A name never opens a closed address (DNS rebinding), nor does a network
/// that holds public addresses as well; naming the closed one itself does.
bool covers(const host_pattern& p, const ip_address& address,
            std::uint16_t port, const std::set<std::string>& names,
            bool is_ordinary);
inline bool covers(const host_pattern& p, const ip_address& address,
                   std::uint16_t port, const std::set<std::string>& names) {
  return covers(p, address, port, names, is_public(address));
}

/// What both cover. A name and an address have nothing in common: that is
/// not known before the name is resolved.
std::optional<host_pattern> common(const host_pattern& a,
                                   const host_pattern& b);

/// The entries of a policy; those that cannot be read are left out, which
/// only makes it stricter. `off` has none, `open` has one.
std::vector<host_pattern> patterns(const network_policy& p);

} // namespace troupe
