#include "runtime/model/schema/checker.hpp"

#include "runtime/json/big_integers.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::schema {

namespace {

// References may nest deeper than values do, but not without end.
constexpr int deepest = 200;
constexpr std::size_t most_pattern_steps = 64'000'000;
// RE2 takes 0.01 to 15 ns for one of those, so that this many are 3 us.
constexpr std::size_t pattern_steps_at_a_time = 256;
// What one check holds compiled: up to a MiB each.
constexpr std::size_t most_patterns = 8;

std::string_view view(const boost::json::string& s) {
  return {s.data(), s.size()};
}

/// How much it costs to copy or compare a value.
std::size_t weight(const json::value& v) {
  std::size_t sum = 1;
  if (auto* s = v.if_string())
    sum += s->size() / 64;
  else if (auto* a = v.if_array())
    for (auto& item : *a)
      sum += weight(item);
  else if (auto* o = v.if_object())
    for (auto& m : *o)
      sum += 1 + weight(m.value());
  return sum;
}

std::size_t length_of(std::string_view utf8) {
  return static_cast<std::size_t>(
    std::count_if(utf8.begin(), utf8.end(),
                  [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

const json::array* member_array(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v == nullptr ? nullptr : v->if_array();
}
std::optional<double> member_number(const json::object& o,
                                    std::string_view name) {
  auto* v = o.if_contains(name);
  if (v == nullptr || !v->is_number())
    return std::nullopt;
  return v->to_number<double>();
}

/// By the keyword `type` alone.
types typed(const json::object& schema) {
  auto* type = schema.if_contains("type");
  if (type == nullptr)
    return every_type;
  types t = 0;
  if (auto* s = type->if_string())
    t = type_named(view(*s));
  else if (auto* list = type->if_array())
    for (auto& item : *list)
      if (auto* name = item.if_string())
        t = static_cast<types>(t | type_named(view(*name)));
  if (t == 0)
    return every_type; // no type that we know: no statement
  auto* nullable = schema.if_contains("nullable"); // OpenAPI's way
  if (nullable != nullptr && nullable->is_bool() && nullable->get_bool())
    t = static_cast<types>(t | null_type);
  return t;
}

/// One step of a JSON pointer.
std::string unescaped(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i)
    if (step.substr(i, 2) == "~1" || step.substr(i, 2) == "~0")
      out += step[++i] == '1' ? '/' : '~';
    else
      out += step[i];
  return out;
}

std::string text_of(double d) {
  if (d == std::trunc(d) && std::abs(d) < 1e15)
    return std::to_string(static_cast<long long>(d));
  return json::to_text(json::value(d));
}

} // namespace

bool checker::pay(std::size_t steps) {
  if (steps <= budget_) {
    budget_ -= steps;
    return true;
  }
  if (!std::exchange(exhausted_, true))
    complaints.push_back({options_.pointer,
                          "takes too long to check against its schema",
                          "send less, or simplify the schema"});
  return false;
}

void checker::complain(std::string pointer, std::string reason,
                       std::string hint) {
  if (!enough())
    complaints.push_back(
      {std::move(pointer), std::move(reason), std::move(hint)});
}

void checker::check(value& v, const value& schema, const std::string& pointer,
                    context c) {
  if (auto* o = schema.if_object())
    check(v, *o, pointer, c);
  else if (schema == value(false))
    complain(pointer, "is not allowed", "remove it");
}

void checker::check(value& v, const object& schema, const std::string& pointer,
                    context c) {
  if (enough() || !pay(depth_ < deepest ? 1 : budget_ + 1))
    return;
  ++depth_;
  auto t = permitted(schema);
  c.keep_text = c.keep_text || (t & string_type) != 0;
  if (options_.coerce)
    coerce(v, c.keep_text ? static_cast<types>(t | string_type) : t);
  if (auto* target = referred(schema))
    check(v, *target, pointer, c);
  if (check_type(v, schema, pointer)) {
    check_choices(v, schema, pointer);
    if (v.is_number() || json::is_large(v))
      check_number(v, schema, pointer);
    else if (v.is_string())
      check_string(v, schema, pointer);
    else if (v.is_array())
      check_array(v, schema, pointer);
    else if (v.is_object())
      check_object(v, schema, pointer, c.strict_names);
    check_combinations(v, schema, pointer, c);
  }
  --depth_;
}

// -- what a schema permits ---------------------------------------------------

const json::object* checker::referred(const object& schema) const {
  auto* ref = schema.if_contains("$ref");
  if (ref == nullptr || !ref->is_string())
    return nullptr;
  auto text = view(ref->get_string());
  // Somewhere else: never fetched.
  return text.starts_with('#') ? resolve(text.substr(1)) : nullptr;
}

const json::object* checker::resolve(std::string_view path) const {
  for (auto* at : {&root_, &tool_}) {
    auto rest = path;
    while (at != nullptr && rest.starts_with('/')) {
      rest.remove_prefix(1);
      auto end = std::min(rest.find('/'), rest.size());
      auto* found = at->if_contains(unescaped(rest.substr(0, end)));
      at = found == nullptr ? nullptr : found->if_object();
      rest.remove_prefix(end);
    }
    if (at != nullptr && rest.empty())
      return at;
  }
  return nullptr;
}

/// By the keywords of this very object.
types checker::stated(const object& schema) {
  auto t = typed(schema);
  auto of = [](const value& v) {
    auto one = type_of(v);
    return one == integer_type ? types{integer_type | number_type} : one;
  };
  if (auto* constant = schema.if_contains("const"))
    t = static_cast<types>(t & of(*constant));
  if (auto* list = member_array(schema, "enum")) {
    types any = 0;
    if (pay(list->size()))
      for (auto& item : *list)
        any = static_cast<types>(any | of(item));
    t = static_cast<types>(t & any);
  }
  return t;
}

types checker::permitted(const value& schema, int depth) {
  auto* o = schema.if_object();
  return o == nullptr ? every_type : permitted(*o, depth);
}

types checker::permitted(const object& schema, int depth) {
  if (depth > 16 || !pay(1))
    return every_type;
  auto t = stated(schema);
  auto narrow = [&](types other) { t = static_cast<types>(t & other); };
  if (auto* target = referred(schema))
    narrow(permitted(*target, depth + 1));
  for (auto name : {"anyOf", "oneOf"})
    if (auto* list = member_array(schema, name); list && !list->empty())
      narrow(any_of(*list, depth + 1));
  if (auto* list = member_array(schema, "allOf"))
    for (auto& item : *list)
      narrow(permitted(item, depth + 1));
  return t;
}

types checker::any_of(const json::array& schemas, int depth) {
  types any = 0;
  for (auto& item : schemas)
    any = static_cast<types>(any | permitted(item, depth));
  return any;
}

// -- keywords for every type -------------------------------------------------

bool checker::check_type(const value& v, const object& schema,
                         const std::string& pointer) {
  auto t = typed(schema);
  if ((type_of(v) & t) != 0)
    return true;
  complain(pointer,
           "must be " + describe(t) + ", not " + std::string{describe(v)},
           (t & string_type) != 0 && !v.is_null() ? "put it in quotes" : "");
  return false;
}

void checker::check_choices(const value& v, const object& schema,
                            const std::string& pointer) {
  auto same = [&](const value& other) {
    return pay(1 + weight(other)) && equal(v, other);
  };
  if (auto* constant = schema.if_contains("const"))
    if (!same(*constant))
      complain(pointer, "must be the only allowed value",
               json::to_text(*constant).substr(0, 200));
  auto* list = member_array(schema, "enum");
  if (list == nullptr || std::any_of(list->begin(), list->end(), same))
    return;
  std::string hint;
  for (auto& item : *list)
    if (hint.size() < 200)
      hint += (hint.empty() ? "one of " : ", ") + json::to_text(item);
  complain(pointer, "is not one of the allowed values",
           json::repair_utf8(hint.substr(0, 400)));
}

void checker::check_number(const value& v, const object& schema,
                           const std::string& pointer) {
  auto d = json::to_double(v);
  auto bound = [&](std::string_view name, auto broken, const char* words) {
    if (auto limit = member_number(schema, name); limit && broken(d, *limit))
      complain(pointer, std::string{words} + text_of(*limit));
  };
  bound("minimum", std::less<>{}, "must be at least ");
  bound("maximum", std::greater<>{}, "must be at most ");
  bound("exclusiveMinimum", std::less_equal<>{}, "must be more than ");
  bound("exclusiveMaximum", std::greater_equal<>{}, "must be less than ");
  bound(
    "multipleOf",
    [](double x, double step) {
      auto quotient = x / step;
      return step > 0
        && std::abs(quotient - std::round(quotient))
        > 1e-9 * std::abs(quotient);
    },
    "must be a multiple of ");
}

void checker::check_string(const value& v, const object& schema,
                           const std::string& pointer) {
  auto text = view(v.get_string());
  auto min = member_number(schema, "minLength");
  auto max = member_number(schema, "maxLength");
  if (min || max) {
    if (!pay(text.size() / 64))
      return;
    auto length = static_cast<double>(length_of(text));
    if (min && length < *min)
      complain(pointer, "must have at least " + text_of(*min) + " characters");
    if (max && length > *max)
      complain(pointer, "must have at most " + text_of(*max) + " characters");
  }
  check_pattern(text, schema, pointer);
}

const pattern* checker::compiled(std::string_view spelled) {
  auto known = patterns_.find(spelled);
  if (known == patterns_.end()) {
    if (patterns_.size() == most_patterns)
      patterns_.clear();
    std::size_t work = 0;
    known = patterns_.emplace(spelled, pattern::compile(spelled, work)).first;
    if (!pay(work))
      return nullptr;
  }
  return known->second ? &*known->second : nullptr;
}

bool checker::pay_to_find(const pattern& p, std::string_view text) {
  return pay(1 + text.size() * p.size() / pattern_steps_at_a_time);
}

void checker::check_pattern(std::string_view text, const object& schema,
                            const std::string& pointer) {
  auto* rule = schema.if_contains("pattern");
  if (rule == nullptr || !rule->is_string() || !pay(1))
    return;
  auto spelled = view(rule->get_string());
  auto* p = compiled(spelled);
  // A pattern that needs look-around or back references is passed over: a
  // wrong answer would be worse than the tool's own check.
  if (p == nullptr)
    return;
  if (text.size() * p->size() > most_pattern_steps)
    complain(pointer, "is too long to be checked against its pattern");
  else if (pay_to_find(*p, text) && !p->found_in(text))
    complain(pointer, "does not match the pattern",
             "it is " + std::string{spelled});
}

// -- combinations ------------------------------------------------------------

std::optional<json::value> checker::passing(const value& v, const value& schema,
                                            const std::string& pointer,
                                            context c) {
  if (exhausted_ || !pay(weight(v)))
    return std::nullopt;
  auto outer = std::exchange(complaints, {});
  auto copy = v;
  check(copy, schema, pointer, c);
  bool good = complaints.empty();
  if (exhausted_) // the only complaint of a trial that counts
    outer.push_back(std::move(complaints.back()));
  complaints = std::move(outer);
  return good ? std::optional{std::move(copy)} : std::nullopt;
}

void checker::check_any(value& v, const json::array& schemas,
                        const std::string& pointer, context c,
                        bool exactly_one) {
  std::optional<value> first;
  std::size_t passed = 0;
  for (auto& schema : schemas) {
    auto corrected = passing(v, schema, pointer, c);
    if (!corrected)
      continue;
    if (++passed == 1)
      first = std::move(corrected);
    if (!exactly_one || passed > 1)
      break;
  }
  if (passed == 1 || (passed > 1 && !exactly_one)) {
    v = std::move(*first);
  } else if (passed > 1) {
    complain(pointer, "matches more than one of the alternatives");
  } else if (!schemas.empty()) {
    auto t = any_of(schemas, 0);
    complain(pointer, "matches none of the alternatives",
             t == every_type ? std::string{} : "it may be " + describe(t));
  }
}

void checker::check_combinations(value& v, const object& schema,
                                 const std::string& pointer, context c) {
  if (auto* list = member_array(schema, "allOf"))
    for (auto& item : *list) // each of them knows some of the names only
      check(v, item, pointer,
            {list->size() == 1 && c.strict_names, c.keep_text});
  if (auto* list = member_array(schema, "anyOf"))
    check_any(v, *list, pointer, c, false);
  if (auto* list = member_array(schema, "oneOf"))
    check_any(v, *list, pointer, c, true);
  check_conditions(v, schema, pointer, {false, c.keep_text});
}

void checker::check_conditions(value& v, const object& schema,
                               const std::string& pointer, context c) {
  if (auto* forbidden = schema.if_contains("not"))
    if (passing(v, *forbidden, pointer, c))
      complain(pointer, "is what the schema excludes");
  auto* condition = schema.if_contains("if");
  if (condition == nullptr)
    return;
  bool holds = passing(v, *condition, pointer, c).has_value();
  if (auto* branch = schema.if_contains(holds ? "then" : "else"))
    check(v, *branch, pointer, c);
}

} // namespace troupe::schema
