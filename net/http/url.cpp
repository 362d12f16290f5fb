#include "net/http/url.hpp"

#include <charconv>
#include <optional>

namespace troupe::net {

namespace {

constexpr std::size_t max_url_bytes = 2'048;

bool is_unreserved(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
    || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > 253)
    return false;
  for (unsigned char c : host)
    if (!is_unreserved(c) && c != ':')
      return false;
  return true;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  unsigned value = 0;
  auto [end, why]
    = std::from_chars(text.data(), text.data() + text.size(), value);
  if (why != std::errc{} || end != text.data() + text.size() || value == 0
      || value > 65'535)
    return {};
  return static_cast<std::uint16_t>(value);
}

error refuse(std::string_view text, std::string why) {
  return bad_field("",
                   "'" + std::string{text.substr(0, 200)}
                     + "' is not a service URL: " + std::move(why),
                   "write https://host[:port][/prefix]");
}

} // namespace

std::string base_url::authority() const {
  auto name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port == (tls ? 443 : 80))
    return name;
  return name + ":" + std::to_string(port);
}

std::string base_url::text() const {
  if (!socket.empty())
    return "unix://" + socket;
  return (tls ? "https://" : "http://") + authority() + prefix;
}

result<base_url> parse_base_url(std::string_view text) {
  base_url out;
  if (text.size() > max_url_bytes)
    return refuse(text, "it is too long");
  auto rest = text;
  if (rest.starts_with("https://"))
    rest.remove_prefix(8);
  else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    out.tls = false;
    out.port = 80;
  } else {
    return refuse(text, "the scheme is neither https nor http");
  }
  if (rest.find_first_of("?#@\\ \t\r\n") != rest.npos)
    return refuse(text, "user, query, fragment and spaces are not allowed");
  auto slash = rest.find('/');
  auto place = rest.substr(0, slash);
  if (slash != rest.npos)
    out.prefix = rest.substr(slash);
  while (out.prefix.ends_with('/'))
    out.prefix.pop_back();
  std::string_view port;
  if (place.starts_with('[')) {
    auto end = place.find(']');
    if (end == place.npos)
      return refuse(text, "']' is missing");
    out.host = place.substr(1, end - 1);
    auto after = place.substr(end + 1);
    if (!after.empty() && !after.starts_with(':'))
      return refuse(text, "only a port may follow ']'");
    port = after.empty() ? after : after.substr(1);
    if (!after.empty() && port.empty())
      return refuse(text, "the port is empty");
  } else {
    auto colon = place.find(':');
    out.host = place.substr(0, colon);
    if (out.host.find(':') != std::string::npos)
      return refuse(text, "put the IPv6 address in brackets");
    if (colon != place.npos) {
      port = place.substr(colon + 1);
      if (port.empty())
        return refuse(text, "the port is empty");
    }
  }
  if (!is_host(out.host))
    return refuse(text, "the host is missing or has invalid characters");
  if (!port.empty()) {
    auto number = parse_port(port);
    if (!number)
      return refuse(text, "the port is not a number from 1 to 65535");
    out.port = *number;
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (unsigned char c : text) {
    if (is_unreserved(c)) {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += digits[c >> 4];
      out += digits[c & 15];
    }
  }
  return out;
}

} // namespace troupe::net
