#include "app/cli/commands.hpp"
#include "app/cli/metrics_parser.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

namespace troupe {

namespace {

struct top_words {
  double every = 1; // seconds
  bool once = false;
  bool as_json = false;
};

constexpr auto clear_screen = "\x1b[H\x1b[2J";

std::string number(double v, int digits = 0) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << v;
  return out.str();
}

constexpr auto took = "troupe_run_duration_seconds";

/// What happened between two looks.
struct activity {
  metrics_parser now, before;
  double seconds;

  double rate(std::string_view name) const {
    return (now.sum(name) - before.sum(name)) / seconds;
  }
  double milliseconds(double q) const {
    return 1e3 * now.quantile(took, q, before);
  }
  /// Without the two requests of each look.
  double http_rate() const {
    return std::max(0.0, rate("troupe_http_requests_total") - 2 / seconds);
  }
};

/// Buckets have upper bounds; where nothing ended there is none.
std::string latency(double milliseconds) {
  return milliseconds > 0 ? "<" + number(milliseconds, 1) + " ms" : "-";
}

void print_runs(std::ostream& out, const activity& seen) {
  auto per_second
    = [&](std::string_view name) { return number(seen.rate(name), 1); };
  table rows{{"RUNS/S", "RUNNING", "QUEUED", "P50", "P99", "REFUSED/S",
              "FAILOVERS/S", "HTTP/S", "CONNECTIONS"}};
  rows.add({per_second("troupe_runs_total"),
            number(seen.now.sum("troupe_runs_running")),
            number(seen.now.sum("troupe_runs_queued")),
            latency(seen.milliseconds(0.5)), latency(seen.milliseconds(0.99)),
            per_second("troupe_runs_refused_total"),
            per_second("troupe_failovers_total"), number(seen.http_rate(), 1),
            number(seen.now.sum("troupe_http_connections"))});
  rows.print(out);
}

void print_backends(std::ostream& out, const json::value& all) {
  table rows{{"BACKEND", "READY", "CIRCUIT", "RUNNING", "LIMIT", "REASON"}};
  for (const auto& b : all.as_array())
    rows.add({cell(b, "kind"), cell(b, "ready"), cell(b, "circuit"),
              cell(b, "running"), cell(b, "limit"), cell(b, "reason")});
  out << "\n";
  rows.print(out);
}

void print_queues(std::ostream& out, const activity& seen) {
  using line = std::pair<double, std::string>;
  std::vector<line> queues;
  for (const auto& [organization, waiting] :
       seen.now.by_label("troupe_organization_queued"))
    queues.emplace_back(waiting, organization);
  if (queues.empty())
    return;
  std::ranges::sort(queues, std::greater{});
  table rows{{"ORGANIZATION", "QUEUED"}};
  for (const auto& [waiting, organization] : queues)
    rows.add({organization, number(waiting)});
  out << "\n";
  rows.print(out);
}

json::object to_json(const activity& seen, json::value backends) {
  json::object o;
  o["runs_per_second"] = seen.rate("troupe_runs_total");
  o["running"] = seen.now.sum("troupe_runs_running");
  o["queued"] = seen.now.sum("troupe_runs_queued");
  o["p50_ms"] = seen.milliseconds(0.5);
  o["p99_ms"] = seen.milliseconds(0.99);
  o["refused_per_second"] = seen.rate("troupe_runs_refused_total");
  o["failovers_per_second"] = seen.rate("troupe_failovers_total");
  o["requests_per_second"] = seen.http_rate();
  o["connections"] = seen.now.sum("troupe_http_connections");
  o["backends"] = std::move(backends);
  auto& queues = o["queued_by_organization"].emplace_object();
  for (const auto& [organization, waiting] :
       seen.now.by_label("troupe_organization_queued"))
    queues[organization] = waiting;
  return o;
}

/// Single keys, for as long as it lives, where standard input is a terminal.
class keyboard {
public:
  keyboard() {
    is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    auto now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    if (is_terminal_)
      ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  keyboard(const keyboard&) = delete;
  keyboard& operator=(const keyboard&) = delete;
  ~keyboard() {
    if (is_terminal_)
      ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  /// Waits that long; true as soon as `q` is typed.
  bool quits_within(std::chrono::duration<double> time) const {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + time;
    for (auto left = time; left.count() > 0; left = end - clock::now()) {
      pollfd in{STDIN_FILENO, POLLIN, 0};
      const auto ms = static_cast<int>(std::ceil(left.count() * 1e3));
      if (::poll(&in, is_terminal_ ? 1 : 0, ms) <= 0)
        continue;
      char key = 0;
      if (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q')
        return true;
    }
    return false;
  }

private:
  termios before_{};
  bool is_terminal_ = false;
};

/// Until `q` or ctrl-c. Rates are over the time between two looks.
result<int> watch(const top_words& said, api_client& engine) {
  using clock = std::chrono::steady_clock;
  if (engine.is_embedded())
    return bad_field("--server",
                     "no engine is running at the configured address",
                     "start `troupe serve` or set --server");
  auto first = engine.text("/metrics");
  if (!first)
    return first.error();
  metrics_parser before{*first};
  auto since = clock::now();
  bool screen = !said.once && !said.as_json && ::isatty(STDOUT_FILENO) == 1;
  std::optional<keyboard> keys;
  if (screen)
    keys.emplace();
  for (;;) {
    if (keys && keys->quits_within(std::chrono::duration<double>(said.every)))
      return int{exit_ok};
    if (!keys)
      std::this_thread::sleep_for(std::chrono::duration<double>(said.every));
    auto text = engine.text("/metrics");
    if (!text)
      return text.error();
    std::chrono::duration<double> passed = clock::now() - since;
    since = clock::now();
    activity seen{metrics_parser{*text}, std::move(before), passed.count()};
    auto backends = engine.call(api_client::verb::get, "/v1/backends");
    if (!backends)
      return backends.error();
    auto& items = backends->as_object()["items"];
    std::ostringstream page;
    if (said.as_json) {
      page << json::to_text(to_json(seen, std::move(items))) << "\n";
    } else {
      page << "troupe at " << engine.where() << "\n\n";
      print_runs(page, seen);
      print_backends(page, items);
      print_queues(page, seen);
    }
    std::cout << (screen ? clear_screen : "") << page.str() << std::flush;
    if (said.once || !std::cout)
      return int{exit_ok};
    before = std::move(seen.now);
  }
}

} // namespace

void add_top_command(CLI::App& app, invocation& call) {
  auto [cmd, said] = add_session_command(
    &app, call, "top",
    "Watch rates, latencies and backends of an engine; q quits", watch);
  cmd->add_option("--interval", said->every, "Seconds between updates (1)")
    ->check(CLI::Range(0.05, 3600.0));
  cmd->add_flag("--once", said->once, "Print once and exit");
}

} // namespace troupe
