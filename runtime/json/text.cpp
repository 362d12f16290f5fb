#include "runtime/json/big_integers.hpp"
#include "runtime/json/json.hpp"
#include "runtime/json/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace troupe::json {

namespace {

enum class style { plain, canonical, exact };

/// How long the canonical form can be: \u1234 for a byte, quotes and a comma.
std::size_t longest_canonical(const value& v) {
  constexpr std::size_t escape = 6, around = 4, number = 40;
  if (const auto* s = v.if_string())
    return escape * s->size() + around;
  std::size_t sum = number;
  if (const auto* o = v.if_object())
    for (const auto& m : *o)
      sum += escape * m.key().size() + around + longest_canonical(m.value());
  else if (const auto* a = v.if_array())
    for (const auto& item : *a)
      sum += around + longest_canonical(item);
  return sum;
}

constexpr std::string_view hex = "0123456789abcdef";

void append_u(std::string& out, std::uint32_t unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4)
    out += hex[unit >> shift & 15];
}

void append_ascii_escape(std::string& out, std::uint32_t code) {
  switch (code) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\b':
    out += "\\b";
    return;
  case '\f':
    out += "\\f";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  default:
    append_u(out, code);
  }
}

void append_utf16(std::string& out, std::uint32_t code) {
  if (code >= 0x10000) {
    code -= 0x10000;
    append_u(out, 0xd800 + (code >> 10));
    code = 0xdc00 + (code & 0x3ff);
  }
  append_u(out, code);
}

void append_quoted(std::string& out, std::string_view text, style how) {
  out += '"';
  while (!text.empty()) {
    auto plain = plain_prefix(text);
    auto front = text.substr(0, plain);
    // The canonical form escapes DEL as well, which `plain_prefix` lets pass.
    if (how == style::canonical)
      if (auto del = front.find('\x7f'); del != front.npos)
        front = front.substr(0, plain = del);
    out += front;
    text.remove_prefix(plain);
    if (text.empty())
      break;
    auto step = next_code_point(text);
    if (step.valid && step.code < 0x80)
      append_ascii_escape(out, step.code);
    else if (how == style::canonical)
      append_utf16(out, step.valid ? step.code : 0xfffd);
    else
      out += step.valid ? text.substr(0, step.size) : replacement_character;
    text.remove_prefix(step.size);
  }
  out += '"';
}

/// The shortest text that reads back as the same double, in the spelling of
/// Python's json module: 1.0, 1e+16, 1e-05. Fingerprints depend on it.
void append_double(std::string& out, double d) {
  if (!std::isfinite(d)) {
    out += "null"; // JSON has no word for it
    return;
  }
  std::array<char, 40> buffer;
  auto [end, bad] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                  d, std::chars_format::scientific);
  std::string_view text{buffer.data(),
                        static_cast<std::size_t>(end - buffer.data())};
  if (text.starts_with('-')) {
    out += '-';
    text.remove_prefix(1);
  }
  auto e = text.find('e');
  int exponent = 0;
  auto digits_of_exponent = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
  std::from_chars(digits_of_exponent.data(),
                  digits_of_exponent.data() + digits_of_exponent.size(),
                  exponent);
  if (exponent < -4 || exponent >= 16) {
    out += text; // to_chars writes two digits of exponent at least, too
    return;
  }
  std::string digits{text.substr(0, 1)};
  if (e > 2)
    digits += text.substr(2, e - 2);
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    digits.append(whole - digits.size(), '0');
    out += digits + ".0";
    return;
  }
  out += digits.substr(0, whole) + "." + digits.substr(whole);
}

template <class Integer>
void append_integer(std::string& out, Integer i) {
  std::array<char, 24> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), i).ptr;
  out.append(buffer.data(), end);
}

std::string_view bytes_of(const boost::json::string& s) {
  return {s.data(), s.size()};
}

void append(std::string& out, const value& v, style how);

void append(std::string& out, const object& o, style how) {
  std::vector<const boost::json::key_value_pair*> members;
  members.reserve(o.size());
  for (auto& m : o)
    members.push_back(&m);
  // The order of UTF-8 bytes is the order of code points.
  if (how == style::canonical)
    std::sort(members.begin(), members.end(),
              [](auto* a, auto* b) { return a->key() < b->key(); });
  out += '{';
  for (auto* m : members) {
    if (m != members.front())
      out += ',';
    append_quoted(out, {m->key().data(), m->key().size()}, how);
    out += ':';
    append(out, m->value(), how);
  }
  out += '}';
}

void append(std::string& out, const array& a, style how) {
  out += '[';
  bool first = true;
  for (auto& item : a) {
    if (!first)
      out += ',';
    first = false;
    append(out, item, how);
  }
  out += ']';
}

/// Recursive: values are as deep as `parse_limits::depth` at most.
void append(std::string& out, const value& v, style how) {
  switch (v.kind()) {
  case boost::json::kind::null:
    out += "null";
    return;
  case boost::json::kind::bool_:
    out += v.get_bool() ? "true" : "false";
    return;
  case boost::json::kind::int64:
    append_integer(out, v.get_int64());
    return;
  case boost::json::kind::uint64:
    append_integer(out, v.get_uint64());
    return;
  case boost::json::kind::double_:
    append_double(out, v.get_double());
    return;
  case boost::json::kind::string:
    if (how == style::exact && is_large(v))
      out += bytes_of(v.get_string()).substr(1);
    else
      append_quoted(out, bytes_of(v.get_string()), how);
    return;
  case boost::json::kind::array:
    append(out, v.get_array(), how);
    return;
  case boost::json::kind::object:
    append(out, v.get_object(), how);
    return;
  }
}

} // namespace

std::string to_text(const value& v) {
  std::string out;
  append(out, v, style::plain);
  return out;
}

std::string to_text(const object& o) {
  std::string out;
  append(out, o, style::plain);
  return out;
}

std::string exact_text(const value& v) {
  std::string out;
  append(out, v, style::exact);
  return out;
}

std::string exact_text(const object& o) {
  std::string out;
  append(out, o, style::exact);
  return out;
}

std::string to_canonical(const value& v) {
  std::string out;
  out.reserve(longest_canonical(v));
  append(out, v, style::canonical);
  return out;
}

void append_string(std::string& out, std::string_view text) {
  append_quoted(out, text, style::plain);
}

} // namespace troupe::json
