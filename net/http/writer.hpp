#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/sandbox_config.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace troupe::net {

/// Writes one JSON object as text, without building a tree first.
class object_writer {
public:
  object_writer& text(std::string_view name, std::string_view value) {
    begin(name);
    json::append_string(out_, value);
    return *this;
  }
  /// Null for an empty text.
  object_writer& text_or_null(std::string_view name, std::string_view value) {
    return value.empty() ? raw(name, "null") : text(name, value);
  }
  template <class Number>
  object_writer& number(std::string_view name, Number value) {
    static_assert(std::is_integral_v<Number>);
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return raw(
      name, {digits, static_cast<std::string_view::size_type>(end - digits)});
  }
  object_writer& boolean(std::string_view name, bool value) {
    return raw(name, value ? "true" : "false");
  }
  /// `value` is JSON already.
  object_writer& raw(std::string_view name, std::string_view value) {
    begin(name);
    out_ += value;
    return *this;
  }
  object_writer& time(std::string_view name, timestamp value);
  object_writer& time(std::string_view name,
                      const std::optional<timestamp>& value) {
    return value ? time(name, *value) : raw(name, "null");
  }

  std::string finish() {
    out_ += '}';
    return std::move(out_);
  }

private:
  void begin(std::string_view name) {
    out_ += out_.size() == 1 ? "\"" : ",\"";
    out_ += name; // a constant: nothing to escape
    out_ += "\":";
  }

  std::string out_{"{"};
};

/// [a,b,c] of things that are JSON already.
template <class Range, class Render>
std::string write_array(const Range& items, Render render) {
  std::string out{"["};
  for (const auto& item : items) {
    if (out.size() > 1)
      out += ',';
    out += render(item);
  }
  return out += ']';
}

} // namespace troupe::net
