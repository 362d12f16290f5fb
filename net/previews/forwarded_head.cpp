#include "net/previews/forwarded_head.hpp"

#include "net/http/response.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace troupe::net {

namespace {

using names = std::span<const std::string_view>;

/// Of one connection, and not of what goes through it.
constexpr std::array<std::string_view, 9> hop_by_hop{
  "connection",          "keep-alive", "proxy-connection", "proxy-authenticate",
  "proxy-authorization", "te",         "trailer",          "upgrade",
  "http2-settings"};

/// What a client says of itself on the way here is not known to be true.
constexpr std::array<std::string_view, 10> claimed_by_clients{
  "host",
  "expect",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-by",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-real-ip",
  "x-forwarded-prefix"};

/// What an answer would set for the whole origin, which in the path form is the
/// API's.
constexpr std::array<std::string_view, 8> of_the_origin{
  "set-cookie",
  "service-worker-allowed",
  "clear-site-data",
  "alt-svc",
  "strict-transport-security",
  "public-key-pins",
  "set-cookie2",
  "content-security-policy-report-only"};

constexpr std::string_view kept_apart
  = "content-security-policy: sandbox allow-scripts allow-forms\r\n"
    "x-content-type-options: nosniff\r\n"
    "referrer-policy: no-referrer\r\n";

bool is_one_of(std::string_view name, names all) {
  return std::ranges::any_of(
    all, [&](auto each) { return equal_ignoring_case(name, each); });
}

bool is_token_char(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
    || (c >= 'A' && c <= 'Z')
    || std::string_view{"!#$%&'*+-.^_`|~"}.find(static_cast<char>(c))
    != std::string_view::npos;
}

void add_field(std::string& to, std::string_view name, std::string_view value) {
  to.append(name).append(": ").append(value).append("\r\n");
}

/// The cookies of the server inside: all but ours.
std::string other_cookies(std::string_view all) {
  std::string kept;
  while (!all.empty()) {
    const auto one = trim(all.substr(0, all.find(';')));
    all.remove_prefix(std::min(
      all.size(), all.find(';') == all.npos ? all.size() : all.find(';') + 1));
    if (!one.empty() && trim(one.substr(0, one.find('='))) != port_token_cookie)
      kept.append(kept.empty() ? "" : "; ").append(one);
  }
  return kept;
}

/// Of its own host only: what is set for a domain above would be sent to other
/// sandboxes, and read by them.
std::string own_cookie(std::string_view value) {
  std::string kept;
  bool first = true;
  while (!value.empty() || first) {
    const auto end = value.find(';');
    const auto one = trim(value.substr(0, end));
    value.remove_prefix(end == value.npos ? value.size() : end + 1);
    const auto name = trim(one.substr(0, one.find('=')));
    if (first && name == port_token_cookie)
      return {};
    if (first || !equal_ignoring_case(name, "domain"))
      kept.append(first ? "" : "; ").append(one);
    first = false;
  }
  return kept;
}

/// A place of the server's own, as the client finds it.
std::string outside(std::string_view location, const std::string& prefix) {
  const bool is_path = location.starts_with('/') && !location.starts_with("//");
  return is_path ? prefix + std::string{location} : std::string{location};
}

struct field {
  std::string_view name;
  std::string_view value;
};

/// Line by line, as strictly as what comes from clients. False: no field.
bool read_field(std::string_view line, field& out) {
  const auto colon = line.find(':');
  if (colon == line.npos || colon == 0)
    return false;
  out.name = line.substr(0, colon);
  out.value = trim(line.substr(colon + 1));
  return std::ranges::all_of(out.name, is_token_char)
    && is_field_value(out.value);
}

std::optional<int> read_status(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' '
      || (line[7] != '0' && line[7] != '1')
      || (line.size() > 12 && line[12] != ' ') || !is_field_value(line))
    return std::nullopt;
  int status = 0;
  const auto* end = line.data() + 12;
  if (std::from_chars(line.data() + 9, end, status).ptr != end || status < 100)
    return std::nullopt;
  return status;
}

std::optional<std::uint64_t> read_length(std::string_view text) {
  std::uint64_t length = 0;
  const auto* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, length);
  if (text.empty() || code != std::errc{} || at != end)
    return std::nullopt;
  return length;
}

/// Reads an answer's fields and writes those that are passed on.
class answer_writer {
public:
  answer_writer(const answer_rules& rules, forwarded_answer& out)
      : rules_{rules}, out_{out} {}

  bool take(const field& f) {
    if (equal_ignoring_case(f.name, "transfer-encoding"))
      chunked_ = true;
    if (equal_ignoring_case(f.name, "content-length")) {
      const auto length = read_length(f.value);
      if (!length || (out_.length && *out_.length != *length))
        return false;
      if (!out_.length)
        add_field(out_.text, f.name, f.value);
      out_.length = length;
      return true;
    }
    if (equal_ignoring_case(f.name, "upgrade") && out_.upgraded)
      add_field(out_.text, f.name, f.value);
    if (is_one_of(f.name, hop_by_hop))
      return true;
    if (!rules_.prefix.empty())
      return take_apart(f);
    if (!equal_ignoring_case(f.name, "set-cookie"))
      add_field(out_.text, f.name, f.value);
    else if (const auto cookie = own_cookie(f.value); !cookie.empty())
      add_field(out_.text, f.name, cookie);
    return true;
  }

  /// False: it says two things about where its body ends.
  bool finish() {
    if (chunked_ && (out_.length || rules_.http10))
      return false;
    if (!rules_.prefix.empty())
      out_.text += kept_apart;
    out_.text += out_.upgraded ? "connection: Upgrade\r\n\r\n"
                               : "connection: close\r\n\r\n";
    const bool bodiless
      = rules_.head_only || out_.status == 204 || out_.status == 304;
    if (bodiless)
      out_.length = 0;
    return true;
  }

private:
  bool take_apart(const field& f) {
    if (is_one_of(f.name, of_the_origin))
      return true;
    if (equal_ignoring_case(f.name, "location"))
      add_field(out_.text, f.name, outside(f.value, rules_.prefix));
    else if (!equal_ignoring_case(f.name, "x-content-type-options")
             && !equal_ignoring_case(f.name, "referrer-policy"))
      add_field(out_.text, f.name, f.value);
    return true;
  }

  const answer_rules& rules_;
  forwarded_answer& out_;
  bool chunked_ = false;
};

} // namespace

body_shape body_shape_of(const request& in) {
  body_shape shape;
  shape.chunked = in.has("transfer-encoding");
  shape.length = read_length(in.field("content-length")).value_or(0);
  return shape;
}

std::string_view wanted_upgrade(const request& in) {
  const auto shape = body_shape_of(in);
  const bool wants = in.verb == method::get && !in.http10
    && has_token(in.field("connection"), "upgrade") && in.count("upgrade") == 1
    && !shape.chunked && shape.length == 0;
  return wants ? in.field("upgrade") : std::string_view{};
}

std::string forward_request(const request& in, const forward_rules& rules) {
  const auto upgrade = wanted_upgrade(in);
  const auto connection = in.field("connection");
  std::string out{to_string(in.verb)};
  out.append(" ").append(rules.target);
  out += in.http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  add_field(out, "host", rules.host);
  for (const auto& [name, value] : in.fields) {
    if (is_one_of(name, hop_by_hop) || is_one_of(name, claimed_by_clients)
        || equal_ignoring_case(name, port_token_field)
        || (has_token(connection, name)
            && !equal_ignoring_case(name, "content-length")
            && !equal_ignoring_case(name, "transfer-encoding"))
        || (!rules.keep_authorization
            && equal_ignoring_case(name, "authorization")))
      continue;
    if (!equal_ignoring_case(name, "cookie"))
      add_field(out, name, value);
    else if (const auto kept = other_cookies(value);
             rules.keep_cookies && !kept.empty())
      add_field(out, name, kept);
  }
  add_field(out, "x-forwarded-for", rules.peer);
  add_field(out, "x-forwarded-proto", rules.tls ? "https" : "http");
  add_field(out, "x-forwarded-host", in.field("host"));
  if (!rules.prefix.empty())
    add_field(out, "x-forwarded-prefix", rules.prefix);
  if (!upgrade.empty()) {
    add_field(out, "upgrade", upgrade);
    out += "connection: Upgrade\r\n\r\n";
  } else {
    out += "connection: close\r\n\r\n";
  }
  return out;
}

std::string_view token_in_query(std::string_view query) {
  while (!query.empty()) {
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.starts_with(port_token_query)
        && one.size() > port_token_query.size()
        && one[port_token_query.size()] == '=')
      return one.substr(port_token_query.size() + 1);
  }
  return {};
}

std::string without_token(std::string_view target) {
  const auto question = target.find('?');
  std::string kept{target.substr(0, question)};
  auto query = question == target.npos ? std::string_view{}
                                       : target.substr(question + 1);
  char separator = '?';
  while (!query.empty()) {
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.substr(0, one.find('=')) == port_token_query)
      continue;
    kept += separator;
    kept += one;
    separator = '&';
  }
  return kept;
}

std::string_view token_in_cookies(const request& in) {
  for (const auto& [name, value] : in.fields) {
    if (!equal_ignoring_case(name, "cookie"))
      continue;
    for (std::string_view all = value; !all.empty();) {
      const auto one = trim(all.substr(0, all.find(';')));
      all.remove_prefix(all.find(';') == all.npos ? all.size()
                                                  : all.find(';') + 1);
      const auto equals = one.find('=');
      if (equals != one.npos && one.substr(0, equals) == port_token_cookie)
        return one.substr(equals + 1);
    }
  }
  return {};
}

std::optional<forwarded_answer> forward_answer(std::string_view head,
                                               const answer_rules& rules) {
  const auto first = head.find("\r\n");
  const auto line = head.substr(0, first);
  const auto status = read_status(line);
  if (first == head.npos || !status || !head.ends_with("\r\n\r\n"))
    return std::nullopt;
  forwarded_answer out;
  out.status = *status;
  out.upgraded = *status == 101;
  if (out.upgraded && !rules.upgrade)
    return std::nullopt; // not asked for
  out.interim = *status < 200 && !out.upgraded;
  out.text = "HTTP/1.1";
  out.text.append(line.substr(8)).append("\r\n");
  answer_writer fields{rules, out};
  for (head = head.substr(first + 2, head.size() - first - 4); !head.empty();) {
    field one;
    if (!read_field(head.substr(0, head.find("\r\n")), one)
        || !fields.take(one))
      return std::nullopt;
    head.remove_prefix(head.find("\r\n") + 2);
  }
  if (!fields.finish())
    return std::nullopt;
  return out;
}

} // namespace troupe::net
