#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/size_units.hpp"
#include "runtime/model/codec/support.hpp"

#include <array>
#include <cmath>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct time_limit {
  std::string_view name;
  std::optional<milliseconds> limit_overrides::*said;
  milliseconds limits::*settled;
};

struct count_limit {
  std::string_view name;
  std::optional<std::uint64_t> limit_overrides::*said;
  std::uint64_t limits::*settled;
  std::uint64_t min; // below it nothing useful could run
  std::uint64_t max; // beyond it somebody mistook the unit
};

constexpr milliseconds shortest_time = 1ms;
constexpr milliseconds longest_time = 24h;

constexpr std::array<time_limit, 2> times{{
  {"wall_seconds", &limit_overrides::wall, &limits::wall},
  {"cpu_seconds", &limit_overrides::cpu, &limits::cpu},
}};

constexpr std::array<count_limit, 7> counts{{
  {"memory_bytes", &limit_overrides::memory_bytes, &limits::memory_bytes,
   1u << 20, 1ull << 40},
  {"processes", &limit_overrides::processes, &limits::processes, 1, 65'536},
  {"open_files", &limit_overrides::open_files, &limits::open_files, 16,
   1u << 20},
  {"disk_bytes", &limit_overrides::disk_bytes, &limits::disk_bytes, 4096,
   1ull << 40},
  {"inodes", &limit_overrides::inodes, &limits::inodes, 16, 1u << 24},
  {"output_bytes", &limit_overrides::output_bytes, &limits::output_bytes, 0,
   1ull << 30},
  {"result_bytes", &limit_overrides::result_bytes, &limits::result_bytes, 64,
   64ull << 20},
}};

std::string seconds_text(milliseconds t) {
  return json::to_text(json::value(static_cast<double>(t.count()) / 1e3));
}

void read(json::reader& in, limit_overrides& l, const time_limit& rule) {
  auto* v = in.member(rule.name);
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
  else if (!(*ms >= shortest_time.count() && *ms <= longest_time.count()))
    in.complain(rule.name,
                "must be from " + seconds_text(shortest_time) + " to "
                  + seconds_text(longest_time) + " seconds");
  else
    l.*rule.said = milliseconds{std::llround(*ms)};
}

void read(json::reader& in, limit_overrides& l, const count_limit& rule) {
  auto* v = in.member(rule.name);
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
    l.*rule.said = static_cast<std::uint64_t>(*count); // exact below 2^53
}

json::value seconds(milliseconds t) {
  if (t % 1s == 0ms)
    return t / 1s;
  return static_cast<double>(t.count()) / 1e3;
}

} // namespace

result<limit_overrides> parse_limits(const json::object& body,
                                     std::string pointer) {
  json::reader in{body, std::move(pointer)};
  limit_overrides l;
  for (auto& rule : times)
    read(in, l, rule);
  for (auto& rule : counts)
    read(in, l, rule);
  if (auto bad = in.finish())
    return *bad;
  return l;
}

json::object to_json(const limit_overrides& l) {
  json::object o;
  for (auto& rule : times)
    if (auto& t = l.*rule.said)
      o[rule.name] = seconds(*t);
  for (auto& rule : counts)
    if (auto& n = l.*rule.said)
      o[rule.name] = *n;
  return o;
}

json::object to_json(const limits& l) {
  json::object o;
  for (auto& rule : times)
    o[rule.name] = seconds(l.*rule.settled);
  for (auto& rule : counts)
    o[rule.name] = l.*rule.settled;
  return o;
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
