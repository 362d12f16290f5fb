#include "runtime/model/codec/parts.hpp"

#include "runtime/json/big_integers.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe::codec {

namespace {

std::string_view view(const boost::json::string& s) {
  return {s.data(), s.size()};
}

/// What another parser makes of the member, which may be of any type.
template <class T, class Body>
void read_parsed(const field_place& at, T& into, const Body* body,
                 result<T> (*parse)(const Body&, std::string)) {
  if (body == nullptr)
    return;
  auto parsed = parse(*body, at.in.pointer_to(at.name));
  if (parsed)
    into = std::move(*parsed);
  else
    at.in.absorb(parsed.error());
}

const json::value* said(const field_place& at) {
  auto* v = at.in.member(at.name);
  return v == nullptr || v->is_null() ? nullptr : v;
}

template <class T>
void read_named(const field_place& at, T& into, auto parse) {
  if (auto text = at.in.text(at.name))
    into = value_or_complain(at.in, at.name, parse(*text));
}

void refuse_nul(json::reader& in, std::string pointer) {
  in.absorb(bad_field(std::move(pointer), "has a NUL character", "remove it"));
}

bool has_nul(std::string_view text) {
  return text.find('\0') != text.npos;
}

} // namespace

void read(const field_place& at, run_kind& into) {
  auto text = at.in.required_text(at.name, {.max = 16});
  for (auto k :
       {run_kind::tool, run_kind::source, run_kind::code, run_kind::command})
    if (to_string(k) == text) {
      into = k;
      return;
    }
  at.in.complain(at.name, "is not a kind of run");
}

void read(const field_place& at, language& into) {
  read_named(at, into, parse_language);
}

void read(const field_place& at, std::string& into) {
  if (at.rule.form == field_text::object
      || at.rule.form == field_text::arguments) {
    if (auto* o = at.in.member_object(at.name))
      into = at.rule.form == field_text::object ? json::to_text(*o)
                                                : json::exact_text(*o);
    return;
  }
  auto text = at.in.text(at.name, {.max = at.rule.longest});
  if (!text)
    return;
  into = std::move(*text);
  if (at.rule.form == field_text::line && has_nul(into))
    refuse_nul(at.in, at.in.pointer_to(at.name));
}

void read(const field_place& at, std::vector<std::string>& into) {
  into = read_texts(at.in, at.name, bounds::argv_items, bounds::command_bytes);
  for (std::size_t i = 0; i < into.size(); ++i)
    if (has_nul(into[i]))
      refuse_nul(at.in, json::child(at.in.pointer_to(at.name), i));
}

void read(const field_place& at, environment& into) {
  auto& [in, name, rule] = at;
  auto* o = in.member_object(name);
  if (o == nullptr)
    return;
  if (o->size() > bounds::variables) {
    in.complain(name,
                "has more than " + std::to_string(bounds::variables)
                  + " variables");
    return;
  }
  std::size_t total = 0;
  auto pointer = in.pointer_to(name);
  for (auto& m : *o) {
    std::string_view key{m.key().data(), m.key().size()};
    auto here = json::child(pointer, key.substr(0, bounds::name_bytes));
    if (m.value().is_null())
      continue; // unset, as everywhere
    auto* s = m.value().if_string();
    if (s == nullptr) {
      in.absorb(bad_field(here, "expected a string", "quote the value"));
      continue;
    }
    if (auto ok = check_variable_name(key, here); !ok)
      in.absorb(ok.error());
    else if (ok = check_variable_value(view(*s), here); !ok)
      in.absorb(ok.error());
    else
      into.emplace(std::string{key}, secret{std::string{view(*s)}});
    total += key.size() + s->size();
  }
  if (total > bounds::variable_bytes)
    in.complain(name,
                "is larger than " + std::to_string(bounds::variable_bytes)
                  + " bytes");
}

void read(const field_place& at, std::map<std::string, std::string>& into) {
  auto& [in, name, rule] = at;
  auto* o = in.member_object(name);
  if (o == nullptr)
    return;
  if (o->size() > bounds::labels)
    in.complain(name,
                "has more than " + std::to_string(bounds::labels) + " labels");
  else
    for (auto& m : *o) {
      auto* s = m.value().if_string();
      if (s == nullptr || s->size() > bounds::label_value_bytes
          || m.key().empty() || m.key().size() > bounds::label_name_bytes)
        in.absorb(bad_field(
          json::child(in.pointer_to(name),
                      std::string_view{m.key().data(), m.key().size()}.substr(
                        0, bounds::label_name_bytes)),
          "a label is a name of 1 to 64 bytes and a string of at most 256"));
      else
        into.emplace(m.key(), view(*s));
    }
}

void read(const field_place& at, std::vector<pip_requirement>& into) {
  read_parsed(at, into, said(at), parse_pip_list);
}

void read(const field_place& at, std::vector<npm_requirement>& into) {
  read_parsed(at, into, said(at), parse_npm_list);
}

void read(const field_place& at, limit_overrides& into) {
  read_parsed(at, into, at.in.member_object(at.name), parse_limits);
}

void read(const field_place& at, std::optional<network_policy>& into) {
  network_policy policy;
  if (auto* body = said(at)) {
    read_parsed(at, policy, body, parse_network);
    into = std::move(policy);
  }
}

void read(const field_place& at, std::optional<isolation_level>& into) {
  read_named(at, into, parse_isolation);
}

void read(const field_place& at, std::optional<backend_name>& into) {
  read_named(at, into, parse_backend_name);
}

void read(const field_place& at, std::chrono::milliseconds& into) {
  read_parsed(at, into, said(at), parse_duration);
}

void read(const field_place& at, std::uint32_t& into) {
  if (auto n = at.in.integer(at.name, at.rule.min, at.rule.max))
    into = static_cast<std::uint32_t>(*n);
}

void read(const field_place& at, std::int32_t& into) {
  if (auto n = at.in.integer(at.name, at.rule.min, at.rule.max))
    into = static_cast<std::int32_t>(*n);
}

void read(const field_place& at, bool& into) {
  if (auto b = at.in.boolean(at.name))
    into = *b;
}

} // namespace troupe::codec
