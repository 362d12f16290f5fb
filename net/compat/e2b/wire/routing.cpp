#include "net/compat/e2b/wire/routing.hpp"

#include "net/compat/e2b/wire/tokens.hpp"
#include "net/server/request_parser.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t longest_name = 64;

/// The interpreter asks for "//execute" where its address ends with a slash.
std::string without_empty_segments(std::string_view path) {
  std::string out;
  for (const char c : path)
    if (c != '/' || !out.ends_with('/'))
      out += c;
  return out;
}

bool starts_segment(std::string_view path, std::string_view segment) {
  return path.starts_with(segment)
    && (path.size() == segment.size() || path[segment.size()] == '/');
}

/// A client that names no port means one of two.
std::uint16_t port_by_path(std::string_view path) {
  return starts_segment(path, "/execute") || starts_segment(path, "/contexts")
    ? code_port
    : envd_port;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, port);
  if (code != std::errc{} || at != end || port == 0)
    return std::nullopt;
  return port;
}

/// Ids of old clients carry that of a machine behind a dash.
std::string_view without_suffix(std::string_view id) {
  return id.substr(0, id.find('-'));
}

std::string into(std::string_view id, std::uint16_t port,
                 std::string_view path) {
  std::string out{base_path};
  out.append("/data/").append(id);
  if (port == envd_port)
    return out.append("/envd").append(path);
  if (port == code_port)
    return out.append("/code").append(path);
  return out.append("/port/").append(std::to_string(port));
}

std::string malformed() {
  return std::string{malformed_path};
}

struct named_port {
  std::string id;
  std::uint16_t port = 0;
};

/// "49983-ID.domain"
std::optional<named_port> port_in_host(std::string_view host) {
  const auto name = host_name(host);
  if (!name)
    return std::nullopt;
  const auto label = std::string_view{*name}.substr(0, name->find('.'));
  const auto dash = label.find('-');
  if (dash == label.npos || label.size() == name->size())
    return std::nullopt;
  const auto port = parse_port(label.substr(0, dash));
  const auto id = label.substr(dash + 1);
  if (!port || !is_sandbox_name(id))
    return std::nullopt;
  return named_port{std::string{id}, *port};
}

bool has_signature(std::string_view query) {
  return query.starts_with("signature=")
    || query.find("&signature=") != query.npos;
}

} // namespace

bool is_sandbox_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name
    && std::all_of(text.begin(), text.end(), [](char c) {
         return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
       });
}

std::string route_of(const request& in, std::string_view raw_path) {
  const auto path = without_empty_segments(raw_path);
  const auto said_port = in.field("e2b-sandbox-port");
  const auto port = parse_port(said_port);
  if (!said_port.empty() && !port)
    return malformed();
  if (in.has("e2b-sandbox-id")) {
    const auto id = without_suffix(in.field("e2b-sandbox-id"));
    if (!is_sandbox_name(id))
      return malformed();
    return into(id, port.value_or(port_by_path(path)), path);
  }
  if (const auto named = port_in_host(in.field("host")))
    return into(named->id, named->port, path);
  if (in.has("x-access-token") && !in.has("x-api-key")) {
    const auto id = sandbox_of_token(in.field("x-access-token"));
    return into(id.empty() ? unnamed : id, port.value_or(port_by_path(path)),
                path);
  }
  if (path == "/files" && has_signature(in.query))
    return into(unnamed, envd_port, path);
  if (port)
    return malformed();
  return std::string{base_path} + "/api" + (path == "/" ? "" : path);
}

} // namespace troupe::net::e2b_facade
