#include "app/commands.hpp"
#include "app/metrics_page.hpp"
#include "app/session_command.hpp"
#include "app/table.hpp"

#include <unistd.h>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

namespace troupe {

namespace {

struct top_words {
  double every = 1; // seconds
  bool once = false;
};

constexpr auto clear_screen = "\x1b[H\x1b[2J";

std::string number(double v, int digits = 0) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << v;
  return out.str();
}

void print_runs(std::ostream& out, const metrics_page& now,
                const metrics_page& before, double seconds) {
  auto per_second = [&](std::string_view name) {
    return number((now.sum(name) - before.sum(name)) / seconds, 1);
  };
  constexpr auto took = "troupe_run_duration_seconds";
  table rows{{"RUNS/S", "RUNNING", "WAITING", "P50", "P99", "REFUSED/S",
              "FAILOVERS/S", "HTTP/S", "CONNECTIONS"}};
  rows.add({per_second("troupe_runs_total"),
            number(now.sum("troupe_runs_running")),
            number(now.sum("troupe_runs_waiting")),
            "<" + number(1e3 * now.quantile(took, 0.5, before), 1) + " ms",
            "<" + number(1e3 * now.quantile(took, 0.99, before), 1) + " ms",
            per_second("troupe_runs_refused_total"),
            per_second("troupe_failovers_total"),
            per_second("troupe_http_requests_total"),
            number(now.sum("troupe_http_connections"))});
  rows.print(out);
}

result<void> print_backends(std::ostream& out, api_session& engine) {
  auto all = engine.call(api_session::verb::get, "/v1/backends");
  if (!all)
    return all.error();
  table rows{{"BACKEND", "READY", "CIRCUIT", "RUNNING", "LIMIT", "REASON"}};
  for (const auto& b : all->as_object()["items"].as_array())
    rows.add({cell(b, "kind"), cell(b, "ready"), cell(b, "circuit"),
              cell(b, "running"), cell(b, "limit"), cell(b, "reason")});
  out << "\n";
  rows.print(out);
  return {};
}

/// Until ctrl-c. Rates are over the time between two looks.
result<int> watch(const top_words& said, api_session& engine) {
  using clock = std::chrono::steady_clock;
  if (engine.is_embedded())
    return bad_field("--server", "no engine runs where the settings say",
                     "start `troupe serve`, or name one");
  auto first = engine.text("/metrics");
  if (!first)
    return first.error();
  metrics_page before{*first};
  auto since = clock::now();
  bool screen = ::isatty(STDOUT_FILENO) == 1 && !said.once;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(said.every));
    auto text = engine.text("/metrics");
    if (!text)
      return text.error();
    metrics_page now{*text};
    std::chrono::duration<double> passed = clock::now() - since;
    since = clock::now();
    std::ostringstream page;
    page << "troupe at " << engine.where() << "\n\n";
    print_runs(page, now, before, passed.count());
    if (auto listed = print_backends(page, engine); !listed)
      return listed.error();
    std::cout << (screen ? clear_screen : "") << page.str() << std::flush;
    if (said.once || !std::cout)
      return int{exit_ok};
    before = std::move(now);
  }
}

} // namespace

void add_top_command(CLI::App& app, invocation& call) {
  auto [cmd, said] = add_session_command(
    &app, call, "top", "Watch an engine work: rates, waits, backends", watch);
  cmd->add_option("--every", said->every, "Seconds between two looks (1)")
    ->check(CLI::Range(0.05, 3600.0));
  cmd->add_flag("--once", said->once, "Look once and end");
}

} // namespace troupe
