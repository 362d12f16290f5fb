#pragma once

#include "runtime/json/json.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::json {

/// Appends to a JSON text as it goes: a tree would cost more than everything
/// else that is done to an answer. Names are constants of ours, but for
/// `unsupported_variable`: nothing in them needs escaping.
class writer {
public:
  /// Brief: members that say nothing ("", 0, false, []) are left out.
  enum class style : bool { full, brief };

  explicit writer(std::string& out, style how = style::full)
      : out_{out}, brief_{how == style::brief} {}

  bool brief() const { return brief_; }

  // -- values
  // ------------------------------------------------------------------

  void begin(char bracket) {
    next();
    out_ += bracket;
    fresh_ = true;
  }
  void end(char bracket) {
    out_ += bracket;
    fresh_ = false;
  }
  void text(std::string_view value) {
    next();
    append_string(out_, value);
  }
  void raw(std::string_view json_text) {
    next();
    out_ += json_text;
  }

  // -- members of the object that was begun last
  // -------------------------------

  writer& name(std::string_view n) {
    next();
    out_ += '"';
    out_ += n;
    out_ += "\":";
    fresh_ = true; // no comma before the value
    return *this;
  }
  /// A name from outside: it is escaped.
  writer& unsupported_variable(std::string_view n) {
    text(n);
    out_ += ':';
    fresh_ = true;
    return *this;
  }
  void text(std::string_view n, std::string_view value) {
    if (says(!value.empty()))
      name(n).text(value);
  }
  void raw(std::string_view n, std::string_view json_text) {
    name(n).raw(json_text.empty() ? "null" : json_text);
  }
  void boolean(std::string_view n, bool value) {
    if (says(value))
      name(n).raw(value ? "true" : "false");
  }
  template <class Number>
  void number(std::string_view n, Number value) {
    char digits[24];
    auto last = std::to_chars(digits, digits + sizeof digits, value).ptr;
    if (says(value != 0))
      name(n).raw({digits, static_cast<std::size_t>(last - digits)});
  }
  template <class List, class Each>
  void list(std::string_view n, const List& items, Each each) {
    if (!says(!items.empty()))
      return;
    name(n).begin('[');
    for (const auto& item : items)
      each(item);
    end(']');
  }
  /// A list of objects.
  template <class List, class Members>
  void objects(std::string_view n, const List& items, Members members) {
    list(n, items, [&](const auto& item) {
      begin('{');
      members(item);
      end('}');
    });
  }

private:
  bool says(bool something) const { return something || !brief_; }
  void next() {
    if (!std::exchange(fresh_, false))
      out_ += ',';
  }

  std::string& out_;
  const bool brief_;
  bool fresh_ = true;
};

} // namespace troupe::json
