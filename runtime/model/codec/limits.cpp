#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/size_units.hpp"
#include "runtime/model/codec/support.hpp"
#include "runtime/model/limit_fields.hpp"

#include <cmath>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

std::string seconds_text(std::uint64_t ms) {
  return json::to_text(json::value(static_cast<double>(ms) / 1e3));
}

template <class Field>
void read(json::reader& in, const Field& rule,
          std::optional<milliseconds>& into) {
  const json::value* v = in.member(rule.name);
  if (v == nullptr || v->is_null())
    return;
  result<double> ms = bad_request("is not a number");
  if (auto* s = v->if_string())
    ms = parse_milliseconds({s->data(), s->size()});
  else if (v->is_number())
    ms = v->to_number<double>() * 1e3;
  if (!ms)
    in.complain(rule.name, "is not a duration",
                "send seconds as a number, or a string such as \"5s\"");
  else if (!(*ms >= static_cast<double>(rule.min)
             && *ms <= static_cast<double>(rule.max)))
    in.complain(rule.name,
                "must be from " + seconds_text(rule.min) + " to "
                  + seconds_text(rule.max) + " seconds");
  else
    into = milliseconds{std::llround(*ms)};
}

template <class Field>
void read(json::reader& in, const Field& rule,
          std::optional<std::uint64_t>& into) {
  const json::value* v = in.member(rule.name);
  if (v == nullptr || v->is_null())
    return;
  result<double> count = bad_request("is not a number");
  bool is_size = rule.name.ends_with("_bytes");
  if (auto* s = v->if_string(); s != nullptr && is_size)
    count = parse_bytes({s->data(), s->size()});
  else if (v->is_number())
    count = v->to_number<double>();
  if (!count || std::trunc(*count) != *count)
    in.complain(
      rule.name, "is not a whole number",
      is_size ? "send bytes as a number, or a string such as \"256MiB\"" : "");
  else if (!(*count >= static_cast<double>(rule.min)
             && *count <= static_cast<double>(rule.max)))
    in.complain(rule.name,
                "must be from " + std::to_string(rule.min) + " to "
                  + std::to_string(rule.max));
  else
    into = static_cast<std::uint64_t>(*count); // exact below 2^53
}

json::value shown(milliseconds t) {
  if (t % 1s == 0ms)
    return t / 1s;
  return static_cast<double>(t.count()) / 1e3;
}

json::value shown(std::uint64_t n) {
  return n;
}

constexpr json::reader::alias limit_aliases[]{
  {"timeout", "wall_seconds"},
  {"timeout_seconds", "wall_seconds"},
  {"wall", "wall_seconds"},
  {"time", "wall_seconds"},
  {"cpu", "cpu_seconds"},
  {"cpu_time", "cpu_seconds"},
  {"memory", "memory_bytes"},
  {"memory_mb", "memory_bytes"},
  {"memory_limit", "memory_bytes"},
  {"disk", "disk_bytes"},
  {"pids", "processes"},
  {"output", "output_bytes"},
};

} // namespace

result<limit_overrides> parse_limits(const json::object& body,
                                     std::string pointer) {
  json::reader in{body, std::move(pointer)};
  in.knows_elsewhere(limit_aliases);
  limit_overrides l;
  for_each_row(limit_fields, [&](const auto& f) { read(in, f, f.of(l)); });
  if (auto bad = in.finish())
    return *bad;
  return l;
}

json::object to_json(const limit_overrides& l) {
  json::object o;
  for_each_row(limit_fields, [&](const auto& f) {
    if (auto& said = f.of(l))
      o[f.name] = shown(*said);
  });
  return o;
}

json::object to_json(const limits& l) {
  return to_json(all_of(l));
}

result<milliseconds> parse_duration(const json::value& body,
                                    std::string pointer) {
  json::object o;
  o["wall_seconds"] = body;
  auto l = parse_limits(o, "");
  if (l && l->wall)
    return *l->wall;
  if (l)
    return bad_field(std::move(pointer), "is missing");
  auto f = l.error().fields.at(0); // a copy: `error()` returns a temporary
  return bad_field(std::move(pointer), f.reason, f.hint);
}

} // namespace troupe
