#include "net/server/request_parser.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace troupe::net {

namespace http = boost::beast::http;

namespace {

// Chunk extensions mean nothing to us; more than a few bytes are an attack.
constexpr std::size_t extension_limit = 256;

std::string_view plain(boost::beast::string_view v) {
  return {v.data(), v.size()};
}

refusal malformed(std::string_view text) {
  return {400, "bad_request", std::string{text}};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= 20
    && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c)
    || c == '-' || c == '.' || c == '_';
}

bool is_address_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')
    || c == ':' || c == '.';
}

/// Beast's error, in our words: never its text, never an offset.
refusal translate(const boost::beast::error_code& ec) {
  if (ec == http::error::bad_version)
    return {505, "http_version_not_supported", "speak HTTP/1.1"};
  if (ec == http::error::bad_method)
    return malformed("malformed method");
  if (ec == http::error::bad_target)
    return malformed("malformed request target");
  if (ec == http::error::bad_content_length
      || ec == http::error::multiple_content_length)
    return malformed("malformed or conflicting Content-Length");
  if (ec == http::error::bad_transfer_encoding)
    return malformed("malformed or conflicting Transfer-Encoding");
  if (ec == http::error::bad_chunk || ec == http::error::bad_chunk_extension)
    return malformed("malformed chunk");
  return malformed("malformed request");
}

std::optional<method> known_method(http::verb verb) {
  switch (verb) {
  case http::verb::get:
    return method::get;
  case http::verb::head:
    return method::head;
  case http::verb::post:
    return method::post;
  case http::verb::put:
    return method::put;
  case http::verb::patch:
    return method::patch;
  case http::verb::delete_:
    return method::del;
  case http::verb::options:
    return method::options;
  default:
    return std::nullopt;
  }
}

} // namespace

message_parser::message_parser(request& out, const server_options& options)
    : out_{out}, options_{options} {
  body_limit(boost::none); // the route decides, in `limit`
  header_limit(static_cast<std::uint32_t>(options.head_limit) + 8);
}

std::optional<refusal> message_parser::read_head() {
  std::string_view head{out_.head};
  // A folded field would reach us unfolded, and others read it otherwise.
  for (auto at = head.find('\n'); at != std::string_view::npos;
       at = head.find('\n', at + 1))
    if (at + 1 < head.size() && (head[at + 1] == ' ' || head[at + 1] == '\t'))
      return malformed("folded header fields are not accepted");
  error_code ec;
  eager(false);
  auto used = put(boost::asio::buffer(head.data(), head.size()), ec);
  if (refused_)
    return refused_;
  if (ec == http::error::header_limit)
    return too_large_head(options_.head_limit);
  if (ec && ec != http::error::need_more)
    return translate(ec);
  if (used != head.size() || !is_header_done())
    return malformed("malformed request");
  if (auto bad = check_framing())
    return bad;
  return check_target();
}

std::optional<refusal> message_parser::check_framing() {
  auto encodings = out_.count("transfer-encoding");
  auto lengths = out_.count("content-length");
  if (encodings != 0) {
    if (lengths != 0)
      return malformed("Content-Length beside Transfer-Encoding");
    if (out_.http10)
      return malformed("Transfer-Encoding needs HTTP/1.1");
    if (encodings != 1
        || !equal_ignoring_case(out_.field("transfer-encoding"), "chunked"))
      return refusal{501, "not_implemented",
                     "the only supported Transfer-Encoding is 'chunked'"};
    chunked_body_ = has_body_ = true;
  } else if (lengths != 0) {
    if (lengths != 1 || !all_digits(out_.field("content-length")))
      return malformed("malformed or conflicting Content-Length");
    announced_ = content_length() ? *content_length() : 0;
    has_body_ = announced_ != 0;
  }
  auto hosts = out_.count("host");
  if (hosts > 1 || (hosts == 0 && !out_.http10))
    return malformed("exactly one Host field is required");
  if (hosts == 1 && !host_name(out_.field("host")))
    return malformed("malformed Host field");
  auto connection = out_.field("connection");
  wants_more_ = out_.http10 ? has_token(connection, "keep-alive")
                            : !has_token(connection, "close");
  return std::nullopt;
}

std::optional<refusal> message_parser::check_target() {
  auto target = out_.target;
  if (target.size() > options_.target_limit)
    return refusal{414, "target_too_long",
                   "the request target is longer than "
                     + std::to_string(options_.target_limit)
                     + " bytes; send long values in the body"};
  for (unsigned char c : target)
    if (c <= 0x20 || c >= 0x7f || c == '\\' || c == '#' || c == '"' || c == '<'
        || c == '>')
      return malformed("malformed request target");
  if (target == "*") {
    if (out_.verb != method::options)
      return malformed("'*' is a target for OPTIONS only");
    out_.path = "*";
    return std::nullopt;
  }
  if (target.front() != '/') {
    // The absolute form, for this host and no other.
    auto scheme = target.find("://");
    auto name = target.substr(0, scheme);
    if (scheme == std::string_view::npos
        || !(equal_ignoring_case(name, "http")
             || equal_ignoring_case(name, "https")))
      return malformed("malformed request target");
    target.remove_prefix(scheme + 3);
    auto slash = target.find_first_of("/?");
    auto authority = target.substr(0, slash);
    if (!host_name(authority)
        || !equal_ignoring_case(authority, out_.field("host")))
      return malformed("the target names another host than Host does");
    target = slash == std::string_view::npos ? std::string_view{"/"}
                                             : target.substr(slash);
  }
  auto question = target.find('?');
  if (question != std::string_view::npos)
    out_.query = target.substr(question + 1);
  if (options_.pages_of_tenants) {
    out_.path = "/"; // what it means is not ours to say
    return std::nullopt;
  }
  return check_path(target.substr(0, question));
}

/// Decodes the path once, refusing what could mean two things to two readers.
std::optional<refusal> message_parser::check_path(std::string_view path) {
  if (path.empty())
    path = "/";
  for (auto at = path.find('%'); at != std::string_view::npos;
       at = path.find('%', at + 1)) {
    auto hex = path.substr(at + 1, 2);
    if (equal_ignoring_case(hex, "2f") || equal_ignoring_case(hex, "5c"))
      return malformed("encoded slashes are not accepted in a path");
  }
  auto decoded = percent_decode(path);
  if (!decoded)
    return malformed("malformed percent-encoding in the path");
  for (unsigned char c : *decoded)
    if (c < 0x20 || c == 0x7f)
      return malformed("control characters are not accepted in a path");
  // Dot segments: nothing here is a file, so they are never meant well.
  for (auto at = decoded->find("/."); at != std::string::npos;
       at = decoded->find("/.", at + 1)) {
    std::string_view rest{*decoded};
    rest.remove_prefix(at + 1);
    auto segment = rest.substr(0, rest.find('/'));
    if (segment == "." || segment == "..")
      return malformed("dot segments are not accepted in a path");
  }
  out_.path = std::move(*decoded);
  return std::nullopt;
}

std::size_t message_parser::feed(std::string_view bytes,
                                 std::optional<refusal>& refused) {
  in_body_ = true;
  std::size_t used = 0;
  // Without its eager mode Beast takes one piece per call, and never runs
  // into the next request.
  while (!is_done() && used < bytes.size()) {
    error_code ec;
    auto n
      = put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), ec);
    used += n;
    if (refused_) {
      refused = refused_;
      return used;
    }
    if (ec == http::error::need_more)
      break;
    if (ec) {
      refused = translate(ec);
      return used;
    }
  }
  return used;
}

void message_parser::on_request_impl(http::verb verb, view, view target,
                                     int version, error_code& ec) {
  out_.http10 = version == 10;
  out_.target = plain(target);
  if (auto known = known_method(verb)) {
    out_.verb = *known;
    return;
  }
  refused_ = refusal{501, "not_implemented", "this method is not known"};
  ec = http::error::bad_method;
}

void message_parser::on_field_impl(http::field, view name, view value,
                                   error_code& ec) {
  if (in_body_) {
    // Merged trailers could overwrite what was already decided.
    refused_ = malformed("trailer fields are not accepted");
    ec = http::error::bad_field;
    return;
  }
  if (out_.fields.size() >= options_.field_count_limit) {
    refused_ = refusal{431, "too_many_fields",
                       "there are more than "
                         + std::to_string(options_.field_count_limit)
                         + " header fields"};
    ec = http::error::header_limit;
    return;
  }
  out_.fields.emplace_back(plain(name), plain(value));
}

std::size_t message_parser::on_body_impl(view body, error_code&) {
  reserve_wiping(out_.body, body.size());
  out_.body.append(body.data(), body.size());
  return body.size();
}

void message_parser::on_chunk_header_impl(std::uint64_t size, view extensions,
                                          error_code& ec) {
  if (extensions.size() > extension_limit) {
    refused_ = malformed("chunk extensions are too long");
    ec = http::error::bad_chunk_extension;
  } else if (size > limit_ || out_.body.size() > limit_ - size) {
    refused_ = too_large_body(limit_);
    ec = http::error::body_limit;
  }
}

std::size_t message_parser::on_chunk_body_impl(std::uint64_t, view body,
                                               error_code&) {
  reserve_wiping(out_.body, body.size());
  out_.body.append(body.data(), body.size());
  return body.size();
}

refusal too_large_body(std::size_t limit) {
  return {
    413, "body_too_large",
    "the body is larger than " + std::to_string(limit)
      + " bytes, the limit of this path; the operator can raise http.max-body"};
}

refusal too_large_head(std::size_t limit) {
  return {431, "head_too_large",
          "the request line and the header fields are larger than "
            + std::to_string(limit)
            + " bytes; the operator can raise http.max-header"};
}

std::optional<refusal> check_beginning(std::string_view bytes,
                                       std::size_t seen) {
  // A line feed without its carriage return will never become a head.
  for (auto at = bytes.find('\n', seen); at != std::string_view::npos;
       at = bytes.find('\n', at + 1))
    if (at == 0 || bytes[at - 1] != '\r')
      return malformed("lines end with CR LF");
  auto line = bytes.substr(0, bytes.find("\r\n"));
  if (line.size() < bytes.size()
      && line.rfind(" HTTP/") == std::string_view::npos)
    return malformed("malformed request line");
  // TLS on a plain port begins with 0x16: say something instead of waiting.
  for (unsigned char c : line.substr(0, 8))
    if (c < 0x20 || c >= 0x7f)
      return malformed("malformed request line");
  return std::nullopt;
}

std::optional<std::string> host_name(std::string_view field) {
  auto name = field;
  std::string_view port;
  bool has_port = false;
  if (!field.empty() && field.front() == '[') {
    auto close = field.find(']');
    if (close == std::string_view::npos || close < 3)
      return std::nullopt;
    name = field.substr(1, close - 1);
    if (!std::all_of(name.begin(), name.end(), is_address_char))
      return std::nullopt;
    auto rest = field.substr(close + 1);
    has_port = !rest.empty();
    if (has_port && rest.front() != ':')
      return std::nullopt;
    port = has_port ? rest.substr(1) : rest;
  } else {
    auto colon = field.find(':');
    has_port = colon != std::string_view::npos;
    name = field.substr(0, colon);
    port = has_port ? field.substr(colon + 1) : std::string_view{};
    if (name.empty() || name.size() > 253
        || !std::all_of(name.begin(), name.end(), is_host_char))
      return std::nullopt;
  }
  if (has_port && (port.size() > 5 || !all_digits(port)))
    return std::nullopt;
  std::string lower{name};
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return lower;
}

} // namespace troupe::net
