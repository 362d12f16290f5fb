#include "runtime/model/address.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace troupe {

namespace {

struct closed_range {
  ip_network network;
  std::string_view reason;
};

constexpr ip_network four(std::uint8_t a, std::uint8_t b, std::uint8_t c,
                          std::uint8_t d, std::uint8_t length) {
  return {{{a, b, c, d}, false}, length};
}

constexpr ip_network six(std::array<std::uint8_t, 16> bytes,
                         std::uint8_t length) {
  return {{bytes, true}, length};
}

// The IANA registries of special-purpose addresses (RFC 6890 and successors),
// plus what clouds add.
constexpr closed_range closed_ranges[] = {
  {four(0, 0, 0, 0, 8), "this host"},
  {four(10, 0, 0, 0, 8), "private range"},
  {four(100, 64, 0, 0, 10), "carrier-grade NAT range"},
  {four(127, 0, 0, 0, 8), "loopback"},
  {four(168, 63, 129, 16, 32), "metadata address"}, // Azure's host agent
  {four(169, 254, 0, 0, 16), "link-local or metadata range"},
  {four(172, 16, 0, 0, 12), "private range"},
  {four(192, 0, 0, 0, 24), "protocol assignments"},
  {four(192, 0, 2, 0, 24), "documentation range"},
  {four(192, 31, 196, 0, 24), "AS112 range"},
  {four(192, 52, 193, 0, 24), "multicast tunnel range"},
  {four(192, 88, 99, 0, 24), "6to4 relays"},
  {four(192, 168, 0, 0, 16), "private range"},
  {four(192, 175, 48, 0, 24), "AS112 range"},
  {four(198, 18, 0, 0, 15), "benchmarking range"},
  {four(198, 51, 100, 0, 24), "documentation range"},
  {four(203, 0, 113, 0, 24), "documentation range"},
  {four(224, 0, 0, 0, 4), "multicast"},
  {four(240, 0, 0, 0, 4), "reserved or broadcast"},
  {six({}, 96), "unspecified, loopback or IPv4 inside IPv6"},
  {six({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96), "IPv4 inside IPv6"},
  {six({0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96), "IPv4 inside IPv6"},
  {six({0x00, 0x64, 0xff, 0x9b}, 96), "IPv4 inside IPv6 (NAT64)"},
  {six({0x00, 0x64, 0xff, 0x9b, 0, 1}, 48), "IPv4 inside IPv6 (NAT64)"},
  {six({0x01}, 64), "discard range"},
  {six({0x20, 0x01}, 23), "protocol assignments, Teredo"},
  {six({0x20, 0x01, 0x0d, 0xb8}, 32), "documentation range"},
  {six({0x20, 0x02}, 16), "IPv4 inside IPv6 (6to4)"},
  {six({0x26, 0x20, 0x00, 0x4f, 0x80}, 48), "AS112 range"},
  {six({0x3f, 0xff}, 20), "documentation range"},
  {six({0x5f}, 16), "segment routing range"},
  {six({0xfc}, 7), "private range"},
  {six({0xfe, 0x80}, 10), "link-local"},
  {six({0xfe, 0xc0}, 10), "site-local"},
  {six({0xff}, 8), "multicast"},
};

bool same_front(const ip_address& a, const ip_address& b, std::size_t bits) {
  auto whole = bits / 8;
  for (std::size_t i = 0; i < whole; ++i)
    if (a.bytes[i] != b.bytes[i])
      return false;
  auto rest = bits % 8;
  return rest == 0 || ((a.bytes[whole] ^ b.bytes[whole]) >> (8 - rest)) == 0;
}

/// ...:0:5efe:a.b.c.d or ...:200:5efe:a.b.c.d, below any prefix.
bool is_isatap(const ip_address& a) {
  auto& b = a.bytes;
  return a.v6 && (b[8] & 0xfd) == 0 && b[9] == 0 && b[10] == 0x5e
    && b[11] == 0xfe;
}

/// IANA has given out unicast addresses below 2000::/3 only.
bool is_unassigned(const ip_address& a) {
  return a.v6 && (a.bytes[0] & 0xe0) != 0x20;
}

std::string quoted(std::string_view text) {
  return "'" + std::string{text.substr(0, 64)} + "'";
}

} // namespace

result<ip_address> parse_address(std::string_view text) {
  ip_address a;
  std::string copy{text}; // inet_pton wants a terminator
  if (copy.find('\0') == copy.npos && copy.size() < INET6_ADDRSTRLEN) {
    if (::inet_pton(AF_INET, copy.c_str(), a.bytes.data()) == 1)
      return a;
    a.v6 = true;
    if (::inet_pton(AF_INET6, copy.c_str(), a.bytes.data()) == 1)
      return a;
  }
  return bad_field("", quoted(text) + " is not an IP address");
}

std::string to_string(const ip_address& a) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(a.v6 ? AF_INET6 : AF_INET, a.bytes.data(), text.data(),
              text.size());
  return text.data();
}

std::string to_string(const ip_address& a, std::uint16_t port) {
  auto text = a.v6 ? "[" + to_string(a) + "]" : to_string(a);
  return text + ":" + std::to_string(port);
}

bool ip_network::contains(const ip_address& a) const noexcept {
  return a.v6 == base.v6 && same_front(a, base, length);
}

bool ip_network::contains(const ip_network& other) const noexcept {
  return other.length >= length && contains(other.base);
}

result<ip_network> parse_ip_network(std::string_view text) {
  auto slash = text.find('/');
  auto base = parse_address(text.substr(0, slash));
  if (!base)
    return base.error();
  ip_network n{*base, static_cast<std::uint8_t>(base->size() * 8)};
  if (slash == text.npos)
    return n;
  auto digits = text.substr(slash + 1);
  unsigned length = 0;
  auto [end, bad]
    = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (bad != std::errc{} || end != digits.data() + digits.size()
      || length > n.length)
    return bad_field("", quoted(text) + " has no valid prefix length",
                     "write 10.0.0.0/8");
  n.length = static_cast<std::uint8_t>(length);
  for (std::size_t bit = length; bit < base->size() * 8; ++bit)
    if ((base->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0)
      return bad_field("", quoted(text) + " has bits set after its prefix",
                       "use the first address of the network");
  return n;
}

std::string to_string(const ip_network& n) {
  auto text = to_string(n.base);
  if (n.length < n.base.size() * 8)
    text += "/" + std::to_string(n.length);
  return text;
}

std::string_view special_purpose(const ip_address& a) noexcept {
  for (auto& r : closed_ranges)
    if (r.network.contains(a))
      return r.reason;
  if (is_isatap(a))
    return "IPv4 inside IPv6 (ISATAP)";
  if (is_unassigned(a))
    return "not a global address";
  return {};
}

std::vector<ip_network> closed_networks() {
  std::vector<ip_network> networks;
  for (auto& r : closed_ranges)
    networks.push_back(r.network);
  return networks;
}

bool is_closed(const ip_network& n) noexcept {
  for (auto& r : closed_ranges)
    if (r.network.contains(n))
      return true;
  return n.length >= 3 && is_unassigned(n.base);
}

} // namespace troupe
