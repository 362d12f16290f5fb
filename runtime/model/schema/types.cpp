#include "runtime/model/schema/types.hpp"

#include "runtime/base/text.hpp"
#include "runtime/json/big_integers.hpp"

#include <array>
#include <cmath>

namespace troupe::schema {

namespace {

struct named_type {
  std::string_view name;
  types type;
};
constexpr std::array<named_type, 7> names{{
  {"null", null_type},
  {"boolean", boolean_type},
  {"integer", integer_type},
  {"number", number_type | integer_type},
  {"string", string_type},
  {"array", array_type},
  {"object", object_type},
}};

// The largest double below which every whole number is exact.
constexpr double exact_integers = 9007199254740992.0; // 2^53

bool is_whole(double d) {
  return std::trunc(d) == d && std::abs(d) <= exact_integers;
}

/// What a text spells. Python's words for constants are common enough in what
/// language models write.
result<json::value> spelled(std::string_view text) {
  text = trim(text);
  if (text == "True")
    return json::value(true);
  if (text == "False")
    return json::value(false);
  if (text == "None")
    return json::value(nullptr);
  return json::parse_large(text, json::anywhere);
}

void make_integer(json::value& v) {
  if (v.is_double() && is_whole(v.get_double()))
    v = static_cast<std::int64_t>(v.get_double());
}

} // namespace

types type_of(const json::value& v) {
  switch (v.kind()) {
  case boost::json::kind::null:
    return null_type;
  case boost::json::kind::bool_:
    return boolean_type;
  case boost::json::kind::int64:
  case boost::json::kind::uint64:
    return integer_type;
  case boost::json::kind::double_:
    return is_whole(v.get_double()) ? integer_type : number_type;
  case boost::json::kind::string:
    return json::is_large(v) ? integer_type : string_type;
  case boost::json::kind::array:
    return array_type;
  case boost::json::kind::object:
    return object_type;
  }
  return 0;
}

types type_named(std::string_view name) {
  for (auto& n : names)
    if (n.name == name)
      return n.type;
  return 0;
}

std::string describe(types t) {
  if ((t & number_type) != 0)
    t = static_cast<types>(t & ~integer_type);
  std::string text;
  for (auto& n : names) {
    auto own = n.name == "number" ? number_type : n.type;
    if ((t & own) != 0)
      text += (text.empty() ? "" : " or ") + std::string{n.name};
  }
  return text;
}

std::string_view describe(const json::value& v) {
  for (auto& n : names)
    if ((type_of(v) & n.type) != 0)
      return n.name;
  return "number";
}

void coerce(json::value& v, types wanted) {
  bool only_integer = (wanted & integer_type) && !(wanted & number_type);
  if (only_integer)
    make_integer(v);
  auto* s = v.if_string();
  if (s == nullptr || (wanted & string_type) != 0 || json::is_large(v))
    return;
  auto value = spelled({s->data(), s->size()});
  if (!value || (type_of(*value) & wanted) == 0)
    return;
  if (only_integer)
    make_integer(*value);
  v = std::move(*value);
}

namespace {

void soften_boolean(json::value& v) {
  if (v.is_number() && (equal(v, 0) || equal(v, 1)))
    v = equal(v, 1);
  auto* s = v.if_string();
  if (s == nullptr)
    return;
  std::string word{trim({s->data(), s->size()})};
  for (auto& c : word)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (word == "true" || word == "1")
    v = true;
  else if (word == "false" || word == "0")
    v = false;
}

void soften_integer(json::value& v) {
  constexpr double most = 9.2e18; // well within 64 bits
  auto number = v;
  if (auto* s = v.if_string(); s != nullptr && !json::is_large(v)) {
    auto read = spelled({s->data(), s->size()});
    if (!read)
      return;
    number = std::move(*read);
  }
  if (number.is_bool())
    v = static_cast<std::int64_t>(number.get_bool());
  else if (number.is_double() && std::abs(number.get_double()) < most)
    v = static_cast<std::int64_t>(number.get_double());
}

} // namespace

void soften(json::value& v, types wanted) {
  coerce(v, wanted);
  auto only = static_cast<types>(wanted & ~null_type);
  if (only == boolean_type)
    soften_boolean(v);
  else if (only == integer_type)
    soften_integer(v);
  else if (only == string_type && v.is_bool())
    v = v.get_bool() ? "True" : "False";
  else if (only == string_type && (v.is_number() || json::is_large(v)))
    v = json::exact_text(v);
}

bool equal(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_double() || b.is_double())
      return a.to_number<double>() == b.to_number<double>();
    return a == b;
  }
  if (a.kind() != b.kind())
    return false;
  if (auto* x = a.if_array()) {
    auto& y = b.get_array();
    if (x->size() != y.size())
      return false;
    for (std::size_t i = 0; i < x->size(); ++i)
      if (!equal((*x)[i], y[i]))
        return false;
    return true;
  }
  if (auto* x = a.if_object()) {
    auto& y = b.get_object();
    if (x->size() != y.size())
      return false;
    for (auto& m : *x) {
      auto* other = y.if_contains(m.key());
      if (other == nullptr || !equal(m.value(), *other))
        return false;
    }
    return true;
  }
  return a == b;
}

} // namespace troupe::schema
