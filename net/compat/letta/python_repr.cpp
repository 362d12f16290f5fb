#include "net/compat/letta/python_repr.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace troupe::net::letta {

namespace {

/// One code point of valid UTF-8; `at` moves behind it.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80)
    return first;
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  std::uint32_t c = first & (0x3fu >> more);
  for (; more > 0 && at < text.size(); --more)
    c = (c << 6) | (static_cast<unsigned char>(text[at++]) & 0x3fu);
  return c;
}

/// What Python shows as an escape: controls, odd blanks, formats, surrogates
/// and private letters. Unassigned ones are left to the future.
bool is_printable(std::uint32_t c) {
  struct range {
    std::uint32_t from;
    std::uint32_t to;
  };
  static constexpr range hidden[] = {
    {0x00, 0x1f},     {0x7f, 0xa0},        {0xad, 0xad},     {0x600, 0x605},
    {0x61c, 0x61c},   {0x6dd, 0x6dd},      {0x70f, 0x70f},   {0x1680, 0x1680},
    {0x180e, 0x180e}, {0x2000, 0x200f},    {0x2028, 0x202f}, {0x205f, 0x206f},
    {0x3000, 0x3000}, {0xd800, 0xf8ff},    {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
    {0xfffe, 0xffff}, {0xe0000, 0x10ffff},
  };
  return std::none_of(std::begin(hidden), std::end(hidden),
                      [c](const range& r) { return c >= r.from && c <= r.to; });
}

void append_escape(std::string& out, std::uint32_t c) {
  char text[16];
  const char* format = c < 0x100 ? "\\x%02x"
    : c < 0x10000                ? "\\u%04x"
                                 : "\\U%08x";
  std::snprintf(text, sizeof text, format, c);
  out += text;
}

void append_quoted(std::string& out, std::string_view text) {
  bool twice = text.find('\'') != std::string_view::npos
    && text.find('"') == std::string_view::npos;
  char quote = twice ? '"' : '\'';
  out += quote;
  for (std::size_t at = 0; at < text.size();) {
    auto begin = at;
    auto c = next_code_point(text, at);
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\\' || c == static_cast<std::uint32_t>(quote))
      (out += '\\') += static_cast<char>(c);
    else if (is_printable(c))
      out += text.substr(begin, at - begin);
    else
      append_escape(out, c);
  }
  out += quote;
}

/// repr(float): the shortest digits, an exponent only where it is shorter to
/// read (below 1e-4, from 1e16 on).
void append_float(std::string& out, double x) {
  char text[40];
  auto end
    = std::to_chars(text, text + sizeof text, x, std::chars_format::scientific)
        .ptr;
  std::string_view all{text, static_cast<std::size_t>(end - text)};
  auto e = all.find('e');
  int exponent = 0;
  auto digits = all.substr(e + 1);
  if (digits.starts_with('+'))
    digits.remove_prefix(1);
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += all;
    return;
  }
  end
    = std::to_chars(text, text + sizeof text, x, std::chars_format::fixed).ptr;
  all = {text, static_cast<std::size_t>(end - text)};
  out += all;
  if (all.find('.') == std::string_view::npos)
    out += ".0";
}

/// As Python writes a number that JSON cannot; "" for every other text.
std::string_view odd_number(std::string_view text) {
  return text == "NaN"    ? "nan"
    : text == "Infinity"  ? "inf"
    : text == "-Infinity" ? "-inf"
                          : "";
}

void append(std::string& out, const json::value& v, bool odd) {
  switch (v.kind()) {
  case boost::json::kind::null:
    out += "None";
    break;
  case boost::json::kind::bool_:
    out += v.get_bool() ? "True" : "False";
    break;
  case boost::json::kind::int64:
    out += std::to_string(v.get_int64());
    break;
  case boost::json::kind::uint64:
    out += std::to_string(v.get_uint64());
    break;
  case boost::json::kind::double_:
    append_float(out, v.get_double());
    break;
  case boost::json::kind::string:
    if (auto number = odd_number(v.get_string()); odd && !number.empty())
      out += number;
    else
      append_quoted(out, v.get_string());
    break;
  case boost::json::kind::array: {
    out += '[';
    bool first = true;
    for (const auto& item : v.get_array()) {
      out += std::exchange(first, false) ? "" : ", ";
      append(out, item, odd);
    }
    out += ']';
    break;
  }
  case boost::json::kind::object: {
    out += '{';
    bool first = true;
    for (const auto& [key, item] : v.get_object()) {
      out += std::exchange(first, false) ? "" : ", ";
      append_quoted(out, key);
      out += ": ";
      append(out, item, odd);
    }
    out += '}';
    break;
  }
  }
}

} // namespace

std::string python_str(const json::value& v, bool odd_numbers) {
  auto* text = v.if_string();
  if (text && !(odd_numbers && !odd_number(*text).empty()))
    return std::string{*text};
  std::string out;
  append(out, v, odd_numbers);
  return out;
}

std::string python_str(std::string_view value_json, bool odd_numbers) {
  auto parsed = json::parse(value_json);
  return parsed ? python_str(*parsed, odd_numbers) : std::string{value_json};
}

} // namespace troupe::net::letta
