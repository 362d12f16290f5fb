#include "net/http/response.hpp"

#include "net/http/problem.hpp"
#include "net/http/request.hpp"

#include <zlib.h>

#include <charconv>

namespace troupe::net {

namespace {

// JSON for machines: never sniffed, never cached, framed or followed.
constexpr std::string_view always = "x-content-type-options: nosniff\r\n"
                                    "referrer-policy: no-referrer\r\n";
constexpr std::string_view hsts
  = "strict-transport-security: max-age=31536000\r\n";
constexpr std::string_view no_store = "cache-control: no-store\r\n";
constexpr std::string_view no_content
  = "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n";

void append_number(std::string& out, std::uint64_t n) {
  char text[20];
  auto end = std::to_chars(text, text + sizeof text, n).ptr;
  out.append(text, end);
}

bool has_field(const response& r, std::string_view name) {
  for (const auto& [key, value] : r.fields)
    if (equal_ignoring_case(key, name))
      return true;
  return false;
}

void append_connection(std::string& out, const answer_frame& frame) {
  if (!frame.keep)
    out += "connection: close\r\n";
  else if (frame.http10)
    out += "connection: keep-alive\r\n";
}

} // namespace

bool is_field_value(std::string_view text) {
  for (unsigned char c : text)
    if ((c < 0x20 && c != '\t') || c == 0x7f)
      return false;
  return true;
}

void append_answer(std::string& out, const response& r,
                   const answer_frame& frame) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint64_t>(r.status));
  out += ' ';
  out += reason_phrase(r.status);
  out += "\r\ndate: ";
  out += frame.date;
  out += "\r\n";
  bool bodiless = r.status == 204 || r.status == 304 || r.status < 200;
  if (!r.type.empty() && !bodiless)
    out.append("content-type: ").append(r.type).append("\r\n");
  for (const auto& [name, value] : r.fields)
    if (is_field_value(value))
      out.append(name).append(": ").append(value).append("\r\n");
  if (!frame.request_id.empty())
    out.append("x-request-id: ").append(frame.request_id).append("\r\n");
  out += always;
  if (r.fields.empty() || !has_field(r, "cache-control"))
    out += no_store;
  if (r.fields.empty() || !has_field(r, "content-security-policy"))
    out += no_content;
  if (frame.tls)
    out += hsts;
  append_connection(out, frame);
  if (frame.chunked) {
    out += "transfer-encoding: chunked\r\n";
  } else if (!bodiless && !(frame.http10 && !frame.keep && r.body.empty())) {
    out += "content-length: ";
    append_number(out, r.body.size());
    out += "\r\n";
  }
  out += "\r\n";
  if (!frame.head_only && !bodiless)
    out += r.body;
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    auto comma = accept_encoding.find(',');
    auto entry = trim(accept_encoding.substr(0, comma));
    auto semicolon = entry.find(';');
    auto name = trim(entry.substr(0, semicolon));
    if (equal_ignoring_case(name, "gzip") || name == "*") {
      if (semicolon == std::string_view::npos)
        return true;
      // q=0, q=0.0, ... mean no.
      auto q = trim(entry.substr(semicolon + 1));
      return q.size() < 3 || q.find_first_not_of("0.", 2) != q.npos;
    }
    if (comma == std::string_view::npos)
      break;
    accept_encoding.remove_prefix(comma + 1);
  }
  return false;
}

std::optional<std::string> gzip(std::string_view text) {
  z_stream z{};
  // Window bits 15 + 16: gzip's own frame. Level 1: this is an io thread.
  if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::string out(deflateBound(&z, static_cast<uLong>(text.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  auto done = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  if (done != Z_STREAM_END)
    return std::nullopt;
  return out;
}

} // namespace troupe::net
