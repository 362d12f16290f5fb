#include "bench/bench.hpp"
#include "bench/local/engine.hpp"
#include "bench/local/large_preload.hpp"
#include "bench/local/naive.hpp"
#include "bench/local/node.hpp"
#include "bench/local/record.hpp"
#include "bench/local/tools.hpp"
#include "runtime/local/interpreters.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

namespace troupe::bench {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t naive_at_a_time = 8; // where it is at its best here

struct promise {
  double rate, p50, pooled; // against naive
};
const std::map<std::string, promise> promises{
  {"light", {50, 65, 120}}, {"medium", {33, 45, 70}}, {"heavy", {14, 12, 13}}};

/// One tool against the naive way, each kind of load once per round.
void measure_tool(report& out, const std::string& python,
                  const local_tool& tool, local_engine& on_demand,
                  local_engine& pooled) {
  const auto standard = isolation_level::standard;
  const std::size_t calls = tool.name == "heavy" ? 100 : 250;
  auto all = measure({
    {"naive", [&] { return run_naive(python, tool, 16, naive_at_a_time); }},
    {"naive_alone", [&] { return run_naive(python, tool, 6, 1); }},
    {"standard", [&] { return on_demand.run(tool, standard, calls, 4); }},
    {"off",
     [&] { return on_demand.run(tool, isolation_level::off, calls, 4); }},
    {"standard_alone", [&] { return on_demand.run(tool, standard, 60, 1); }},
    {"pooled", [&] { return pooled.run_spaced(tool, 30, milliseconds{5}); }},
  });
  for (const auto& [name, r] : all)
    print_side(out, tool.name + "." + name, r);
  const auto& wanted = promises.at(tool.name);
  const auto prefix = "local." + tool.name + ".";
  out.at_least(prefix + "rate.vs_naive",
               median_ratio(all["standard"].rate, all["naive"].rate), "x",
               wanted.rate);
  out.at_least(prefix + "cpu.vs_naive",
               median_ratio(all["naive"].cpu, all["standard"].cpu), "x",
               wanted.rate);
  out.at_least(prefix + "p50.vs_naive",
               median_ratio(all["naive_alone"].p50, all["standard_alone"].p50),
               "x", wanted.p50);
  out.at_least(prefix + "pooled_p50.vs_naive",
               median_ratio(all["naive_alone"].p50, all["pooled"].p50), "x",
               wanted.pooled);
  out.at_least(prefix + "rate.vs_off",
               median_ratio(all["standard"].rate, all["off"].rate), "x", 0.90);
}

/// One run after a pause, while hardly anything else is there: what came before
/// may have left a thousand slots, and where the kernel looks through memory
/// (DAMON, reclaim), it holds up whoever forks for as long as it looks at a
/// page that all of them have: milliseconds, once a second.
void measure_pauses(report& out, const std::string& python,
                    local_engine& on_demand) {
  const auto& tool = local_tools().front();
  auto all = measure({
    {"naive_alone", [&] { return run_naive(python, tool, 4, 1); }},
    {"after_20ms",
     [&] { return on_demand.run_spaced(tool, 100, milliseconds{20}); }},
  });
  print_side(out, "after_20ms", all["after_20ms"]);
  out.at_least("local.after_20ms.p50.vs_naive",
               median_ratio(all["naive_alone"].p50, all["after_20ms"].p50), "x",
               25);
  out.at_most("local.after_20ms.p99.vs_p50",
              median_ratio(all["after_20ms"].p99, all["after_20ms"].p50), "x",
              1.6);
}

/// What isolation costs, and what of that is the kernel's, for namespaces in
/// which nothing happens. Before there is a crowd of slots.
void measure_levels(report& out, local_engine& on_demand) {
  const auto& tool = local_tools().front();
  const auto at = [&](isolation_level level) {
    return [&, level] { return on_demand.run(tool, level, 250, 4); };
  };
  auto all
    = measure({{"off4", at(isolation_level::off)},
               {"strict4", at(isolation_level::strict)},
               {"bare_namespaces", [] { return run_bare_namespaces(100); }}},
              9);
  for (const auto& [name, r] : all)
    print_side(out, name, r);
  out.at_least("local.strict.vs_off",
               median_ratio(all["strict4"].rate, all["off4"].rate), "x", 0.70);
  out.add("local.strict.vs_bare_namespaces.cpu",
          median_ratio(all["strict4"].cpu, all["bare_namespaces"].cpu), "x");
  out.add("local.off.vs_bare_namespaces.cpu",
          median_ratio(all["off4"].cpu, all["bare_namespaces"].cpu), "x");
}

/// The light tool under every load, against itself.
void measure_loads(report& out, const std::string& python,
                   local_engine& on_demand) {
  const auto& tool = local_tools().front();
  const auto standard = isolation_level::standard;
  auto all = measure({
    {"c4", [&] { return on_demand.run(tool, standard, 250, 4); }},
    {"c8", [&] { return on_demand.run(tool, standard, 250, 8); }},
    {"c64", [&] { return on_demand.run(tool, standard, 400, 64); }},
    {"c1000", [&] { return on_demand.run(tool, standard, 1'000, 1'000); }},
    {"after_crowd",
     [&] { return on_demand.run_spaced(tool, 30, milliseconds{20}); }},
    {"empty_python", [&] { return run_empty_interpreter(python, 8); }},
    {"bare_fork", [&] { return run_bare_forks(200); }},
  });
  for (const auto& [name, r] : all)
    print_side(out, name, r);
  out.at_least("local.c64.vs_c4", median_ratio(all["c64"].rate, all["c4"].rate),
               "x", 0.85);
  out.at_least("local.c1000.vs_c4",
               median_ratio(all["c1000"].rate, all["c4"].rate), "x", 0.80);
  out.add("local.standard.vs_bare_fork.cpu",
          median_ratio(all["c4"].cpu, all["bare_fork"].cpu), "x");
}

/// A thousand runs that sleep for a second, over and over: as one ends, the
/// next begins.
void measure_sleepers(report& out, local_engine& engine) {
  const local_tool sleeper{
    "sleeper", "import time\ndef nap():\n    time.sleep(1)\n    return {}\n",
    "nap", "{}"};
  constexpr std::size_t count = 1'000;
  constexpr std::size_t calls = 6 * count; // the first thousand come at once
  record r;
  const auto idle = engine.memory();
  // All at once, the slots included: how long the last one takes.
  const auto burst
    = engine.run(sleeper, isolation_level::standard, count, count);
  out.add("local.sleepers.burst", burst.seconds, "s");
  std::uint64_t most = idle;
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> over{false};
    std::thread watcher{[&] {
      while (!over) {
        const timespec pause{0, 50'000'000};
        ::nanosleep(&pause, nullptr);
        most = std::max(most, engine.memory());
      }
    }};
    r.add(engine.run(sleeper, isolation_level::standard, calls, count));
    over = true;
    watcher.join();
  }
  print_side(out, "sleepers", r);
  out.at_least("local.sleepers.of_ceiling", median(r.rate) / count, "x", 0.80);
  if (most > idle)
    out.at_most("local.sleepers.memory",
                static_cast<double>(most - idle) / count / 1e6, "MB", 1.2);
  out.at_most("local.sleepers.lost", static_cast<double>(r.failures), "", 0);
}

/// Half a minute without a pause: nothing may grow, nothing may slow down.
void measure_sustained(report& out, local_engine& engine) {
  constexpr int pieces = 30;
  std::vector<double> rates;
  const auto before = engine.slots();
  for (int i = 0; i < pieces; ++i) {
    const auto begun = clock::now();
    std::size_t calls = 0;
    while (clock::now() - begun < std::chrono::seconds{1})
      calls
        += engine.run(local_tools().front(), isolation_level::standard, 100, 4)
             .latencies.size();
    rates.push_back(
      static_cast<double>(calls)
      / std::chrono::duration<double>(clock::now() - begun).count());
  }
  const auto third = [&](int from) {
    return median({rates.begin() + from, rates.begin() + from + pieces / 3});
  };
  out.at_least("local.sustained.last_vs_first",
               third(pieces * 2 / 3) / third(0), "x", 0.95);
  out.at_most("local.sustained.new_slots",
              static_cast<double>(engine.slots().slots)
                - static_cast<double>(before.slots),
              "", 4);
}

/// All of them, or those that TROUPE_BENCH_LOCAL names.
bool is_wanted(std::string_view part) {
  const char* named = std::getenv("TROUPE_BENCH_LOCAL");
  return named == nullptr
    || std::string_view{named}.find(part) != std::string_view::npos;
}

void run_local(report& out) {
  const auto python = find_interpreters({}).python.path;
  out.note("T = the backend's start to its finished; rounds interleaved, "
           "medians of per-round figures; python is "
           + python);
  out.note("naive: " + std::to_string(naive_at_a_time)
           + " at a time, a fresh interpreter, import pydantic, a file each; "
             "alone: one after the other");
  out.note("off: the same fork without any isolation; garbage collection is "
           "on and random reseeded in every run");
  local_engine on_demand{0};
  local_engine pooled{1};
  out.note("parts of this: TROUPE_BENCH_LOCAL=pauses,tools,levels,loads,"
           "node,ballast,sleepers");
  if (is_wanted("pauses"))
    measure_pauses(out, python, on_demand);
  if (is_wanted("tools"))
    for (const auto& tool : local_tools())
      measure_tool(out, python, tool, on_demand, pooled);
  if (is_wanted("levels"))
    measure_levels(out, on_demand);
  if (is_wanted("loads"))
    measure_loads(out, python, on_demand);
  if (is_wanted("node"))
    measure_node(out, on_demand, pooled);
  if (is_wanted("ballast"))
    measure_ballast(out, on_demand);
  if (is_wanted("sleepers"))
    measure_sleepers(out, on_demand);
  if (std::getenv("TROUPE_BENCH_SUSTAINED"))
    measure_sustained(out, on_demand);
  else
    out.note("half a minute without a pause: with TROUPE_BENCH_SUSTAINED=1");
  const auto slots = on_demand.slots();
  out.add("local.zygote.memory", proportional_memory(slots.zygote_pid), "MB");
  out.add("local.zygote.huge_pages", static_cast<double>(slots.huge_pages), "");
  out.at_most("local.slots_replaced", static_cast<double>(slots.replaced), "",
              0);
  const auto ahead = pooled.slots();
  const auto share = [&](std::uint64_t of) {
    return static_cast<double>(of) / static_cast<double>(ahead.runs);
  };
  out.add("local.pooled.preforked_share", share(ahead.preforked_runs), "x");
  out.add("local.pooled.early_share", share(ahead.early_results), "x");
}

const area local{"local", "warm, isolated Python runs against a fresh python3",
                 run_local};

} // namespace

} // namespace troupe::bench
