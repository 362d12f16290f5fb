// Arrays and objects: the keywords that look inside.
#include "runtime/json/reader.hpp"
#include "runtime/model/schema/checker.hpp"

#include <algorithm>

namespace troupe::schema {

namespace {

std::string_view view(boost::json::string_view s) {
  return {s.data(), s.size()};
}

std::optional<std::size_t> bound(const json::object& schema,
                                 std::string_view name) {
  auto* v = schema.if_contains(name);
  boost::system::error_code bad;
  if (v == nullptr || !v->is_number())
    return std::nullopt;
  auto n = v->to_number<std::uint64_t>(bad);
  return bad ? std::nullopt : std::optional{std::size_t{n}};
}

bool is_required(const json::object& schema, std::string_view name) {
  auto* list = schema.if_contains("required");
  auto* names = list == nullptr ? nullptr : list->if_array();
  return names != nullptr
    && std::any_of(names->begin(), names->end(), [&](auto& item) {
           return item.is_string()
             && view(boost::json::string_view{item.get_string()}) == name;
         });
}

const json::object* properties(const json::object& schema) {
  auto* v = schema.if_contains("properties");
  return v == nullptr ? nullptr : v->if_object();
}

constexpr std::size_t most_told = 8;

/// What to send instead of a name that is near none of these.
std::string names_listed(const std::vector<std::string_view>& names) {
  if (names.empty() || names.size() > most_told)
    return "remove it";
  std::string text = "it takes ";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += std::string{i == 0                   ? ""
                          : i + 1 < names.size() ? ", "
                                                 : " and "}
      + std::string{names[i].substr(0, 64)};
  return text;
}

} // namespace

void checker::check_array(value& v, const object& schema,
                          const std::string& pointer) {
  auto& list = v.get_array();
  if (auto min = bound(schema, "minItems"); min && list.size() < *min)
    complain(pointer, "must have at least " + std::to_string(*min) + " items");
  if (auto max = bound(schema, "maxItems"); max && list.size() > *max)
    complain(pointer, "must have at most " + std::to_string(*max) + " items");
  std::size_t at = 0;
  if (auto* front = schema.if_contains("prefixItems");
      front && front->is_array())
    for (auto& item : front->get_array()) {
      if (at == list.size())
        break;
      check(list[at], item, json::child(pointer, at), {});
      ++at;
    }
  if (auto* rest = schema.if_contains("items"))
    for (; at < list.size() && !enough(); ++at)
      check(list[at], *rest, json::child(pointer, at), {});
  if (auto* unique = schema.if_contains("uniqueItems");
      unique && unique->is_bool() && unique->get_bool())
    check_unique(list, pointer);
}

void checker::check_unique(const json::array& list,
                           const std::string& pointer) {
  std::vector<std::string> texts;
  for (auto& item : list) {
    auto copy = item;
    coerce(copy, integer_type | string_type); // 1.0 and 1 are the same
    texts.push_back(json::to_canonical(copy));
    if (!pay(1 + texts.back().size() / 64))
      return;
  }
  std::sort(texts.begin(), texts.end());
  if (std::adjacent_find(texts.begin(), texts.end()) != texts.end())
    complain(pointer, "has the same item twice");
}

void checker::check_object(value& v, const object& schema,
                           const std::string& pointer, bool strict_names) {
  auto& o = v.get_object();
  drop_nulls(o, schema);
  if (auto min = bound(schema, "minProperties"); min && o.size() < *min)
    complain(pointer,
             "must have at least " + std::to_string(*min) + " members");
  if (auto max = bound(schema, "maxProperties"); max && o.size() > *max)
    complain(pointer, "must have at most " + std::to_string(*max) + " members");
  auto* names = schema.if_contains("required");
  if (names != nullptr && names->is_array() && pay(names->get_array().size()))
    for (auto& item : names->get_array())
      if (auto* name = item.if_string(); name && !o.contains(*name))
        complain(json::child(pointer, view(boost::json::string_view{*name})),
                 "is missing");
  if (auto* known = properties(schema); known && pay(known->size()))
    for (auto& m : *known)
      if (auto* member = o.if_contains(m.key()))
        check(*member, m.value(), json::child(pointer, view(m.key())), {});
  check_names(o, schema, pointer, strict_names);
}

/// Callers write null for "I do not say"; where null is no value of the
/// argument, it means just that.
void checker::drop_nulls(object& o, const object& schema) {
  auto* known = properties(schema);
  if (known == nullptr)
    return;
  std::vector<std::string> gone;
  for (auto& m : o) {
    auto* rule = known->if_contains(m.key());
    if (m.value().is_null() && rule != nullptr && pay(schema.size())
        && (permitted(*rule) & null_type) == 0
        && !is_required(schema, view(m.key())))
      gone.emplace_back(m.key());
  }
  for (auto& name : gone)
    o.stable_erase(name);
}

/// Whether a pattern of `patternProperties` covers the name.
bool checker::check_patterned(value& member, std::string_view name,
                              const value* patterned,
                              const std::string& pointer) {
  bool covered = false;
  if (patterned == nullptr || !patterned->is_object())
    return false;
  for (auto& rule : patterned->get_object()) {
    auto* p = compiled(view(rule.key()));
    if (p == nullptr || !pay_to_find(*p, name) || !p->found_in(name))
      continue;
    covered = true;
    check(member, rule.value(), json::child(pointer, name), {});
  }
  return covered;
}

/// Members that `properties` does not know.
void checker::check_names(object& o, const object& schema,
                          const std::string& pointer, bool strict_names) {
  auto* known = properties(schema);
  auto* patterned = schema.if_contains("patternProperties");
  auto* others = schema.if_contains("additionalProperties");
  bool refuse = others != nullptr
    ? *others == value(false)
    : strict_names && known != nullptr && patterned == nullptr;
  if (!refuse && others == nullptr && patterned == nullptr)
    return;
  std::vector<std::string_view> names;
  if (known != nullptr && refuse)
    for (auto& m : *known)
      names.push_back(view(m.key()));
  for (auto& m : o) {
    if (enough() || !pay(1))
      return;
    auto name = view(m.key());
    bool covered = known != nullptr && known->contains(m.key());
    if (check_patterned(m.value(), name, patterned, pointer) || covered)
      continue;
    if (refuse) {
      auto near = pay(names.size()) ? json::nearest(name, names) : "";
      complain(json::child(pointer, name.substr(0, 64)), "is not known",
               near.empty() ? names_listed(names)
                            : "did you mean '" + near + "'?");
    } else if (others != nullptr) {
      check(m.value(), *others, json::child(pointer, name), {});
    }
  }
}

// -- leniently ----------------------------------------------------------------

void checker::bend(value& v, const value& rule, const std::string& pointer) {
  if (auto fitting = passing(v, rule, pointer, {})) {
    v = std::move(*fitting);
    return;
  }
  const auto wanted = permitted(rule);
  if (!options_.python) {
    coerce(v, wanted);
    return;
  }
  soften(v, wanted);
  auto* schema = rule.if_object();
  if (schema != nullptr && (wanted == integer_type || wanted == boolean_type))
    check_type(v, *schema, pointer);
}

void checker::bend(object& args, const object& schema,
                   const std::string& pointer) {
  auto* known = properties(schema);
  if (known == nullptr)
    return;
  drop_nulls(args, schema);
  auto* others = schema.if_contains("additionalProperties");
  const bool keep_others = schema.contains("patternProperties")
    || (others != nullptr && *others != value(false));
  object bent;
  bent.reserve(args.size());
  for (auto& m : args) {
    auto* rule = known->if_contains(m.key());
    if (rule == nullptr && !keep_others)
      continue;
    if (rule != nullptr)
      bend(m.value(), *rule, json::child(pointer, view(m.key())));
    bent.emplace(m.key(), std::move(m.value()));
  }
  args = std::move(bent);
}

} // namespace troupe::schema
