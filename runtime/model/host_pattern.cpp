#include "runtime/model/host_pattern.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

using kind = host_pattern::kind;

constexpr std::size_t longest_name = 253;      // RFC 1035
constexpr std::size_t longest_host_label = 63; // RFC 1035
constexpr std::string_view wildcard = "*.";
constexpr std::string_view way_out
  = "write host, host:port, *.domain, address or address/length";

error bad_pattern(std::string_view text, std::string_view reason) {
  return bad_field(
    "", "'" + std::string{text.substr(0, 64)} + "' " + std::string{reason},
    std::string{way_out});
}

/// Splits "x:80" and "[x]:80"; a bare IPv6 address has no port.
bool split_port(std::string_view text, std::string_view& host,
                std::optional<std::uint16_t>& port) {
  host = text;
  std::string_view digits;
  if (text.starts_with('[')) {
    auto end = text.find(']');
    if (end == text.npos)
      return false;
    host = text.substr(1, end - 1);
    digits = text.substr(end + 1);
    if (digits.empty())
      return true;
    if (!digits.starts_with(':'))
      return false;
    digits.remove_prefix(1);
  } else {
    auto colon = text.find(':');
    if (colon == text.npos || text.find(':', colon + 1) != text.npos)
      return true;
    host = text.substr(0, colon);
    digits = text.substr(colon + 1);
  }
  std::uint16_t number = 0;
  auto end = digits.data() + digits.size();
  auto [stop, bad] = std::from_chars(digits.data(), end, number);
  if (bad != std::errc{} || stop != end || number == 0)
    return false;
  port = number;
  return true;
}

bool is_below(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() + 1 && name.ends_with(suffix)
    && name[name.size() - suffix.size() - 1] == '.';
}

/// Of two patterns that are both names or wildcards: the narrower, or none.
const host_pattern* narrower_name(const host_pattern& a,
                                  const host_pattern& b) {
  if (a.what == b.what && a.name == b.name)
    return &a;
  if (a.what == kind::below && is_below(b.name, a.name))
    return &b;
  if (b.what == kind::below && is_below(a.name, b.name))
    return &a;
  return nullptr;
}

const host_pattern* narrower_network(const host_pattern& a,
                                     const host_pattern& b) {
  // A closed address that only one of them names on purpose stays closed.
  if (is_closed(a.network) != is_closed(b.network))
    return nullptr;
  if (a.network.contains(b.network))
    return &b;
  return b.network.contains(a.network) ? &a : nullptr;
}

const host_pattern* narrower(const host_pattern& a, const host_pattern& b) {
  if (a.what == kind::open || b.what == kind::open) {
    auto& other = a.what == kind::open ? b : a;
    bool closed = other.what == kind::network && is_closed(other.network);
    return closed ? nullptr : &other;
  }
  if (a.what == kind::network && b.what == kind::network)
    return narrower_network(a, b);
  if (a.what == kind::network || b.what == kind::network)
    return nullptr;
  return narrower_name(a, b);
}

} // namespace

std::string normalized_host(std::string_view name) {
  if (name.ends_with('.'))
    name.remove_suffix(1);
  if (name.empty() || name.size() > longest_name)
    return {};
  std::string out;
  std::size_t label = 0;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c | 0x20);
    bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'
      || c == '_';
    if (!letter && (c != '.' || label == 0))
      return {};
    label = letter ? label + 1 : 0;
    if (label > longest_host_label)
      return {};
    out += c;
  }
  return label == 0 ? std::string{} : out;
}

result<host_pattern> parse_host_pattern(std::string_view text) {
  host_pattern p;
  std::string_view host;
  if (!split_port(text, host, p.port))
    return bad_pattern(text, "has no valid port");
  if (host == "public") {
    p.what = kind::open;
    return p;
  }
  if (auto network = parse_ip_network(host)) {
    p.what = kind::network;
    p.network = *network;
    return p;
  }
  if (host.find_first_of(":/") != host.npos)
    return bad_pattern(text, "is not an address or network");
  if (host.starts_with(wildcard)) {
    p.what = kind::below;
    host.remove_prefix(wildcard.size());
  }
  p.name = normalized_host(host);
  if (p.name.empty())
    return bad_pattern(text, "is not a host name");
  // Written out again it would be the word that opens everything.
  if (p.what == kind::name && p.name == "public")
    return bad_pattern(text, "is not the word 'public', and no other host");
  // "1.2.3" and "127.1" would be addresses to some resolvers.
  if (p.name.find_first_not_of("0123456789.") == p.name.npos)
    return bad_pattern(text, "is neither a host name nor a complete address");
  return p;
}

std::string to_string(const host_pattern& p) {
  std::string text;
  switch (p.what) {
  case kind::open:
    text = "public";
    break;
  case kind::name:
    text = p.name;
    break;
  case kind::below:
    text = std::string{wildcard} + p.name;
    break;
  case kind::network:
    text = to_string(p.network);
    if (p.port && p.network.base.v6)
      text = "[" + text + "]";
    break;
  }
  if (p.port)
    text += ":" + std::to_string(*p.port);
  return text;
}

bool covers_name(const host_pattern& p, std::string_view normalized) {
  switch (p.what) {
  case kind::open:
    return true;
  case kind::name:
    return p.name == normalized;
  case kind::below:
    return is_below(normalized, p.name);
  case kind::network:
    return false;
  }
  return false;
}

bool covers(const host_pattern& p, const ip_address& address,
            std::uint16_t port, const std::set<std::string>& names,
            bool is_ordinary) {
  if (p.port && *p.port != port)
    return false;
  if (p.what == kind::network)
    return p.network.contains(address) && (is_ordinary || is_closed(p.network));
  if (!is_ordinary)
    return false;
  return p.what == kind::open
    || std::any_of(names.begin(), names.end(),
                   [&](auto& name) { return covers_name(p, name); });
}

std::optional<host_pattern> common(const host_pattern& a,
                                   const host_pattern& b) {
  if (a.port && b.port && a.port != b.port)
    return std::nullopt;
  auto* less = narrower(a, b);
  if (less == nullptr)
    return std::nullopt;
  auto both = *less;
  both.port = a.port ? a.port : b.port;
  return both;
}

std::vector<host_pattern> patterns(const network_policy& p) {
  std::vector<host_pattern> out;
  if (p.mode == network_mode::open)
    out.emplace_back().what = kind::open;
  if (p.mode == network_mode::listed)
    for (auto& text : p.allow)
      if (auto one = parse_host_pattern(text))
        out.push_back(std::move(*one));
  return out;
}

} // namespace troupe
