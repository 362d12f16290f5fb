#include "net/http/request.hpp"

namespace troupe::net {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

} // namespace

std::string_view to_string(method m) {
  switch (m) {
  case method::get:
    return "GET";
  case method::head:
    return "HEAD";
  case method::post:
    return "POST";
  case method::put:
    return "PUT";
  case method::patch:
    return "PATCH";
  case method::del:
    return "DELETE";
  case method::options:
    return "OPTIONS";
  }
  return "";
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i]))
      return false;
  return true;
}

bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    auto comma = list.find(',');
    if (equal_ignoring_case(trim(list.substr(0, comma)), token))
      return true;
    if (comma == std::string_view::npos)
      break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

std::string_view request::field(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (key.size() == name.size() && equal_ignoring_case(key, name))
      return value;
  return {};
}

std::size_t request::count(std::string_view name) const {
  std::size_t n = 0;
  for (const auto& [key, value] : fields)
    n += key.size() == name.size() && equal_ignoring_case(key, name) ? 1 : 0;
  return n;
}

std::optional<std::string> percent_decode(std::string_view text,
                                          bool plus_is_space) {
  if (text.find('%') == std::string_view::npos && !plus_is_space)
    return std::string{text};
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size())
        return std::nullopt;
      int high = hex_digit(text[i + 1]);
      int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0 || (high == 0 && low == 0))
        return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

} // namespace troupe::net
