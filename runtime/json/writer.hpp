#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/json/json.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace troupe::json {

/// Appends to a JSON text as it goes: a tree would cost more than everything
/// else that is done to an answer. Names are constants of ours, but for
/// `escaped_name`: nothing in them needs escaping.
class writer {
public:
  enum class style {
    full,
    brief, // members that say nothing ("", 0, false, []) are left out
    wiped, // it may hold secrets: where it moves to grow, nothing stays behind
  };

  explicit writer(style how = style::full) : how_{how} {}

  bool brief() const { return how_ == style::brief; }
  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  /// What was written, which is gone from here then.
  std::string take() { return std::move(out_); }

  // -- values
  // ------------------------------------------------------------------

  writer& begin(char bracket) {
    next();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  writer& end(char bracket) {
    make_room(1);
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  writer& text(std::string_view value) {
    next();
    make_room(longest_escape * value.size() + around);
    append_string(out_, value);
    return *this;
  }
  writer& raw(std::string_view json_text) {
    next();
    make_room(json_text.size());
    out_ += json_text;
    return *this;
  }

  // -- members of the object that was begun last
  // -------------------------------

  writer& name(std::string_view n) {
    next();
    make_room(n.size() + around);
    out_.append(1, '"').append(n).append("\":", 2);
    fresh_ = true; // no comma before the value
    return *this;
  }
  /// A name that is not ours.
  writer& escaped_name(std::string_view n) {
    text(n);
    out_ += ':';
    fresh_ = true;
    return *this;
  }
  writer& text(std::string_view n, std::string_view value) {
    return says(!value.empty()) ? name(n).text(value) : *this;
  }
  /// Null for an empty text.
  writer& text_or_null(std::string_view n, std::string_view value) {
    return value.empty() ? name(n).raw("null") : name(n).text(value);
  }
  /// `json_text` is JSON already, or empty for null.
  writer& raw(std::string_view n, std::string_view json_text) {
    return name(n).raw(json_text.empty() ? "null" : json_text);
  }
  writer& boolean(std::string_view n, bool value) {
    return says(value) ? name(n).raw(value ? "true" : "false") : *this;
  }
  template <class Number>
  writer& number(std::string_view n, Number value) {
    static_assert(std::is_integral_v<Number>);
    char digits[24];
    auto last = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return says(value != 0)
      ? name(n).raw({digits, static_cast<std::size_t>(last - digits)})
      : *this;
  }
  template <class List, class Each>
  writer& list(std::string_view n, const List& items, Each each) {
    if (!says(!items.empty()))
      return *this;
    name(n).begin('[');
    for (const auto& item : items)
      each(item);
    return end(']');
  }
  /// A list of objects.
  template <class List, class Members>
  writer& objects(std::string_view n, const List& items, Members members) {
    return list(n, items, [&](const auto& item) {
      begin('{');
      members(item);
      end('}');
    });
  }
  /// An object of texts under names that are not ours; texts may be secrets.
  template <class Map>
  writer& texts_by_name(std::string_view n, const Map& map) {
    if (!says(!map.empty()))
      return *this;
    name(n).begin('{');
    for (const auto& entry : map) // clang takes no binding in `requires`
      if constexpr (requires { entry.second.reveal(); })
        escaped_name(entry.first).text(entry.second.reveal());
      else
        escaped_name(entry.first).text(entry.second);
    return end('}');
  }

private:
  // What a byte may become in a string, and what stands around one.
  static constexpr std::size_t longest_escape = 6;
  static constexpr std::size_t around = 4;

  bool says(bool something) const { return something || !brief(); }
  void make_room(std::size_t more) {
    if (how_ == style::wiped)
      reserve_wiping(out_, more);
  }
  void next() {
    make_room(around);
    if (!std::exchange(fresh_, false))
      out_ += ',';
  }

  std::string out_;
  style how_;
  bool fresh_ = true;
};

/// One object, whose braces come by themselves.
class object_writer : public writer {
public:
  explicit object_writer(style how = style::full) : writer{how} { begin('{'); }

  std::string finish() {
    end('}');
    return take();
  }
};

/// [a,b,c] of things that `render` makes JSON of.
template <class Range, class Render>
std::string array_of(const Range& items, Render render) {
  std::string out{"["};
  for (const auto& item : items) {
    if (out.size() > 1)
      out += ',';
    out += render(item);
  }
  return out += ']';
}

} // namespace troupe::json
