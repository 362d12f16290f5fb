#include "app/cli/argument_values.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/status_line.hpp"
#include "net/http/url.hpp"
#include "runtime/json/big_integers.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace troupe {

namespace {

struct bench_words {
  std::string tool;
  std::string args = "{}";
  std::size_t count = 1'000;
  std::size_t at_once = 8;
  bool as_json = false;
};

// The lightest honest tool: what is measured is the engine.
constexpr std::string_view lightest = "def answer() -> int:\n    return 42\n";

double milliseconds(std::chrono::microseconds t) {
  return static_cast<double>(t.count()) / 1e3;
}

/// `took` is sorted.
double quantile(const std::vector<std::chrono::microseconds>& took, double q) {
  auto at = static_cast<double>(took.size() - 1) * q;
  return milliseconds(took[static_cast<std::size_t>(at)]);
}

void report(const bench_words& said, const api_client& engine,
            const std::vector<std::chrono::microseconds>& took, double rate) {
  if (said.as_json) {
    json::object o;
    o["runs"] = took.size();
    o["concurrency"] = said.at_once;
    o["runs_per_second"] = rate;
    o["p50_ms"] = quantile(took, 0.50);
    o["p90_ms"] = quantile(took, 0.90);
    o["p99_ms"] = quantile(took, 0.99);
    std::cout << json::to_text(o) << "\n";
    return;
  }
  std::cout << engine.where()
            << (engine.is_embedded() ? " (embedded engine)" : "") << "\n"
            << std::fixed << std::setprecision(2) << took.size() << " runs, "
            << said.at_once << " concurrent: " << rate << " runs/s, p50 "
            << quantile(took, 0.50) << " ms, p90 " << quantile(took, 0.90)
            << " ms, p99 " << quantile(took, 0.99) << " ms\n";
}

result<int> measure(const bench_words& said, api_client& engine) {
  auto args = said_arguments(said.args);
  if (!args)
    return args.error();
  json::object body;
  body["args"] = std::move(*args);
  std::string target = "/v1/runs";
  if (said.tool.empty()) {
    body["source"] = lightest;
    body["language"] = "python";
  } else {
    target = "/v1/tools/" + net::percent_encode(said.tool) + "/run";
  }
  auto text = json::exact_text(body);
  using verb = api_client::verb;
  status_line progress;
  progress.show("warming up ...");
  // Once around for everybody: what starts lazily has started then.
  auto warm
    = engine.repeat(verb::post, target, text, said.at_once, said.at_once);
  if (!warm)
    return warm.error();
  auto since = std::chrono::steady_clock::now();
  auto took = engine.repeat(
    verb::post, target, text, said.count, said.at_once, [&](std::size_t ended) {
      progress.show(std::to_string(ended) + " of " + std::to_string(said.count)
                    + " runs ...");
    });
  progress.clear();
  if (!took)
    return took.error();
  std::chrono::duration<double> all = std::chrono::steady_clock::now() - since;
  std::sort(took->begin(), took->end());
  report(said, engine, *took, static_cast<double>(took->size()) / all.count());
  return int{exit_ok};
}

} // namespace

void add_bench_command(CLI::App& app, invocation& call) {
  auto [cmd, said] = add_session_command(
    &app, call, "bench", "Measure throughput and latency of an engine",
    measure);
  cmd->add_option("--tool", said->tool,
                  "Stored tool to run (default: one that returns a number)");
  cmd->add_option("--args", said->args, "Arguments: JSON, @file or -");
  cmd->add_option("--count", said->count, "Number of runs (1000)")
    ->check(CLI::Range(1, 10'000'000));
  cmd->add_option("--concurrency", said->at_once, "Concurrent runs (8)")
    ->check(CLI::Range(1, 1'000));
}

} // namespace troupe
