// What sandboxes use, and what has happened to them.
#include "net/api/shared/request_body.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/inside_program.hpp"
#include "net/compat/e2b/sandbox_json.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t most_log_entries = 1'000;
constexpr std::size_t nothing_large = 64u << 10;
constexpr std::uint64_t kib = 1'024;

/// What a sandbox may know of itself is in its own /proc.
constexpr const char* ask
  = "cat /proc/meminfo; head -n 1 /proc/stat; "
    "echo cpus $(nproc); "
    "echo disk $(df --block-size=1 --output=used,size / | tail -n 1)";

/// The numbers of a line behind its name.
std::vector<std::uint64_t> numbers_after(std::string_view text,
                                         std::string_view name) {
  std::vector<std::uint64_t> out;
  auto at = text.find(name);
  if (at == text.npos)
    return out;
  auto line = text.substr(at + name.size());
  line = line.substr(0, line.find('\n'));
  while (!line.empty()) {
    const auto digit = line.find_first_of("0123456789");
    if (digit == line.npos)
      break;
    line.remove_prefix(digit);
    std::uint64_t number = 0;
    const auto read
      = std::from_chars(line.data(), line.data() + line.size(), number);
    out.push_back(number);
    line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
  }
  return out;
}

std::uint64_t at(const std::vector<std::uint64_t>& all, std::size_t i) {
  return i < all.size() ? all[i] : 0;
}

usage_sample sample_of(std::string_view text) {
  usage_sample out;
  out.at = std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
             .count();
  out.memory_total = at(numbers_after(text, "MemTotal:"), 0) * kib;
  const auto free = at(numbers_after(text, "MemFree:"), 0) * kib;
  out.memory_cache = at(numbers_after(text, "\nCached:"), 0) * kib;
  out.memory_used = out.memory_total - std::min(free, out.memory_total);
  out.cpu_count
    = std::max<std::uint64_t>(1, at(numbers_after(text, "cpus"), 0));
  const auto ticks = numbers_after(text, "cpu ");
  constexpr std::size_t idle = 3, wait = 4;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    out.all_ticks += ticks[i];
    if (i != idle && i != wait)
      out.busy_ticks += ticks[i];
  }
  const auto sizes = numbers_after(text, "disk");
  out.disk_used = at(sizes, 0);
  out.disk_total = at(sizes, 1);
  return out;
}

double percent_between(const usage_sample& before, const usage_sample& now) {
  const auto all = now.all_ticks - std::min(now.all_ticks, before.all_ticks);
  const auto busy
    = now.busy_ticks - std::min(now.busy_ticks, before.busy_ticks);
  if (all == 0)
    return 0;
  return std::round(10'000.0 * static_cast<double>(busy)
                    / static_cast<double>(all))
    / 100;
}

std::string decimal(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

timestamp time_of(const usage_sample& s) {
  return timestamp{std::chrono::seconds{s.at}};
}

std::string metric_json(const usage_sample& s) {
  json::object_writer out;
  out.text("timestamp", to_text(time_of(s)))
    .number("timestampUnix", s.at)
    .number("cpuCount", s.cpu_count)
    .raw("cpuUsedPct", decimal(s.cpu_percent))
    .number("memUsed", s.memory_used)
    .number("memTotal", s.memory_total)
    .number("memCache", s.memory_cache)
    .number("diskUsed", s.disk_used)
    .number("diskTotal", s.disk_total);
  return out.finish();
}

std::string envd_metric_json(const usage_sample& s) {
  constexpr std::uint64_t mib = 1u << 20;
  json::object_writer out;
  out.number("ts", s.at)
    .number("cpu_count", s.cpu_count)
    .raw("cpu_used_pct", decimal(s.cpu_percent))
    .number("mem_total", s.memory_total)
    .number("mem_used", s.memory_used)
    .number("mem_cache", s.memory_cache)
    .number("mem_total_mib", s.memory_total / mib)
    .number("mem_used_mib", s.memory_used / mib)
    .number("disk_used", s.disk_used)
    .number("disk_total", s.disk_total);
  return out.finish();
}

void measure(facade& shared, const caller& who, const sandbox_id& id,
             sandbox_handler<usage_sample> then) {
  process_spec what;
  what.command = ask;
  run_inside(
    *shared.sandboxes(), who, id, std::move(what),
    [&shared, id, then = std::move(then)](sandbox_result<program_answer> came) {
      if (!came)
        return then(came.error());
      auto now = sample_of(came->out);
      const auto all = shared.known().samples(id);
      const auto before = all.empty() ? usage_sample{} : all.back();
      now.cpu_percent = percent_between(before, now);
      shared.known().add_sample(id, now);
      then(now);
    });
}

struct time_range {
  std::int64_t start = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

void answer_samples(facade& shared, exchange& ex, const sandbox_id& id,
                    time_range range) {
  std::vector<usage_sample> some;
  for (const auto& each : shared.known().samples(id))
    if (each.at >= range.start && each.at <= range.end)
      some.push_back(each);
  ex.answer_json(json::array_of(some, metric_json));
}

void metrics(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  constexpr auto latest = std::numeric_limits<std::int64_t>::max();
  time_range range;
  range.start = query.integer("start", 0, latest).value_or(0);
  range.end = query.integer("end", 0, latest).value_or(latest);
  if (auto bad = query.finish_lenient())
    return refuse(*ex, 400, message_of(*bad));
  auto found
    = [&shared, id, range](exchange& ex, const sandbox_record_ptr& record) {
        shared.known().meet(id, ex.who());
        if (record->state != sandbox_state::running)
          return answer_samples(shared, ex, id, range);
        auto told = [&shared, id, range, ex = ex.shared_from_this()](
                      const auto&) { answer_samples(shared, *ex, id, range); };
        measure(shared, ex.who(), id, std::move(told));
      };
  shared.sandboxes()->find(ex->who(), id,
                           or_refuse<sandbox_record_ptr>(ex, std::move(found)));
}

// -- what has happened --------------------------------------------------------

std::string log_message(const sandbox_event& e) {
  std::string out{to_string(e.what)};
  if (!e.subject.empty())
    out.append(" ").append(e.subject);
  if (!e.reason.empty())
    out.append(" (").append(e.reason).append(")");
  return out;
}

std::string log_entry(const sandbox_event& e) {
  json::object_writer out;
  out.text("timestamp", to_text(e.at))
    .text("level", "info")
    .text("message", log_message(e))
    .raw("fields", "{}");
  return out.finish();
}

/// A line is an object in itself, as text: the command line of the vendor reads
/// its level.
std::string log_line(const sandbox_event& e) {
  json::object_writer line;
  line.text("level", "info").text("message", log_message(e));
  json::object_writer out;
  out.text("timestamp", to_text(e.at)).text("line", line.finish());
  return out.finish();
}

void logs(facade& shared, const sandbox_id& id, const exchange_ptr& ex,
          bool with_lines) {
  shared.sandboxes()->events(
    ex->who(), id,
    or_refuse<sandbox_events_ptr>(
      ex, [with_lines](exchange& ex, const sandbox_events_ptr& events) {
        const auto all = events->read(0, most_log_entries);
        json::object_writer out;
        if (with_lines)
          out.raw("logs", json::array_of(all, log_line))
            .raw("logEntries", json::array_of(all, log_entry));
        else
          out.raw("logs", json::array_of(all, log_entry));
        ex.answer_json(out.finish());
      }));
}

} // namespace

void add_usage(control_routes& to, data_routes& into) {
  const std::string one = "/sandboxes/{sandbox}";
  to.add_one(method::get, one + "/metrics", metrics);
  to.add_one(method::get, one + "/logs",
             [](facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
               logs(shared, id, ex, true);
             });
  to.add_one(method::get, "/v2" + one + "/logs",
             [](facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
               logs(shared, id, ex, false);
             });
  into.add(
    method::get, "/envd/metrics", proof::token,
    [](facade& shared, const exchange_ptr& ex, const visit& in) {
      measure(
        shared, in.who, in.id,
        or_refuse<usage_sample>(ex, [](exchange& ex, const usage_sample& now) {
          ex.answer_json(envd_metric_json(now));
        }));
    },
    nothing_large);
}

} // namespace troupe::net::e2b_facade
