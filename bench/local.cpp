#include "bench/bench.hpp"
#include "bench/local_engine.hpp"
#include "bench/local_naive.hpp"
#include "bench/local_tools.hpp"
#include "runtime/local/interpreters.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

namespace troupe::bench {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t rounds = 5;
constexpr std::size_t naive_at_a_time = 8; // where it is at its best here

/// What one side did, round by round.
struct record {
  std::vector<double> rate, cpu, p50, p99;
  std::size_t failures = 0;

  void add(const batch& b) {
    rate.push_back(b.rate());
    cpu.push_back(b.cpu_per_call());
    p50.push_back(quantile(b.latencies, 0.5));
    p99.push_back(quantile(b.latencies, 0.99));
    failures += b.failures;
  }
};

using records = std::map<std::string, record>;

void print_side(report& out, const std::string& name, const record& r) {
  out.add("local." + name + ".rate", median(r.rate), "1/s");
  out.add("local." + name + ".p50", median(r.p50) * 1e6, "us");
  out.add("local." + name + ".p99", median(r.p99) * 1e6, "us");
  out.add("local." + name + ".cpu", median(r.cpu) * 1e6, "us");
  if (r.failures > 0)
    out.at_most("local." + name + ".failures", static_cast<double>(r.failures),
                "", 0);
}

struct promise {
  double rate, p50, pooled; // against naive
};
const std::map<std::string, promise> promises{
  {"light", {50, 65, 120}}, {"medium", {33, 45, 70}}, {"heavy", {14, 12, 13}}};

/// One tool against the naive way, each kind of load once per round.
void measure_tool(report& out, const std::string& python,
                  const local_tool& tool, local_engine& on_demand,
                  local_engine& pooled) {
  records all;
  const auto standard = isolation_level::standard;
  const std::size_t calls = tool.name == "heavy" ? 100 : 250;
  const std::vector<std::pair<std::string, std::function<batch()>>> sides{
    {"naive", [&] { return run_naive(python, tool, 16, naive_at_a_time); }},
    {"naive_alone", [&] { return run_naive(python, tool, 6, 1); }},
    {"standard", [&] { return on_demand.run(tool, standard, calls, 4); }},
    {"off",
     [&] { return on_demand.run(tool, isolation_level::off, calls, 4); }},
    {"standard_alone", [&] { return on_demand.run(tool, standard, 60, 1); }},
    {"pooled", [&] { return pooled.run_spaced(tool, 30, milliseconds{5}); }},
  };
  for (std::size_t round = 0; round <= rounds; ++round)
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const auto& [name, side] = sides[(round + k) % sides.size()];
      const auto done = side();
      if (round > 0) // the first one warms caches on all sides
        all[name].add(done);
    }
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

/// The light tool under every load, against itself.
void measure_loads(report& out, const std::string& python,
                   local_engine& on_demand) {
  const auto& tool = local_tools().front();
  const auto standard = isolation_level::standard;
  records all;
  const std::vector<std::pair<std::string, std::function<batch()>>> sides{
    {"c4", [&] { return on_demand.run(tool, standard, 250, 4); }},
    {"c8", [&] { return on_demand.run(tool, standard, 250, 8); }},
    {"c64", [&] { return on_demand.run(tool, standard, 400, 64); }},
    {"c1000", [&] { return on_demand.run(tool, standard, 1'000, 1'000); }},
    {"off4", [&] { return on_demand.run(tool, isolation_level::off, 250, 4); }},
    {"strict4",
     [&] { return on_demand.run(tool, isolation_level::strict, 80, 4); }},
    {"after_20ms",
     [&] { return on_demand.run_spaced(tool, 30, milliseconds{20}); }},
    {"naive_alone", [&] { return run_naive(python, tool, 4, 1); }},
    {"empty_python", [&] { return run_empty_interpreter(python, 8); }},
    {"bare_fork", [&] { return run_bare_forks(200); }},
  };
  for (std::size_t round = 0; round <= rounds; ++round)
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const auto& [name, side] = sides[(round + k) % sides.size()];
      const auto done = side();
      if (round > 0)
        all[name].add(done);
    }
  for (const auto& [name, r] : all)
    print_side(out, name, r);
  out.at_least("local.c64.vs_c4", median_ratio(all["c64"].rate, all["c4"].rate),
               "x", 0.85);
  out.at_least("local.c1000.vs_c4",
               median_ratio(all["c1000"].rate, all["c4"].rate), "x", 0.80);
  out.at_least("local.strict.vs_off",
               median_ratio(all["strict4"].rate, all["off4"].rate), "x", 0.70);
  out.at_least("local.after_20ms.p50.vs_naive",
               median_ratio(all["naive_alone"].p50, all["after_20ms"].p50), "x",
               25);
  out.at_most("local.after_20ms.p99.vs_p50",
              median_ratio(all["after_20ms"].p99, all["after_20ms"].p50), "x",
              1.6);
  out.add("local.standard.vs_bare_fork.cpu",
          median_ratio(all["c4"].cpu, all["bare_fork"].cpu), "x");
}

/// A thousand runs that sleep for a second, all at once.
void measure_sleepers(report& out, local_engine& engine) {
  const local_tool sleeper{
    "sleeper", "import time\ndef nap():\n    time.sleep(1)\n    return {}\n",
    "nap", "{}"};
  constexpr std::size_t count = 1'000;
  record r;
  const auto idle = engine.memory();
  std::uint64_t most = idle;
  for (int round = 0; round < 3; ++round) {
    std::thread watcher{[&] {
      for (int i = 0; i < 40; ++i) {
        const timespec pause{0, 50'000'000};
        ::nanosleep(&pause, nullptr);
        most = std::max(most, engine.memory());
      }
    }};
    r.add(engine.run(sleeper, isolation_level::standard, count, count));
    watcher.join();
  }
  print_side(out, "sleepers", r);
  out.at_least("local.sleepers.of_ceiling", median(r.rate) / count, "x", 0.80);
  if (most > idle)
    out.at_most("local.sleepers.memory",
                static_cast<double>(most - idle) / count / 1e6, "MB", 1.2);
  out.at_most("local.sleepers.lost", static_cast<double>(r.failures), "", 0);
}

double proportional_memory(std::int32_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/smaps_rollup"};
  for (std::string word; in >> word;)
    if (double kb = 0; word == "Pss:" && in >> kb)
      return kb / 1000;
  return std::nan("");
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
  for (const auto& tool : local_tools())
    measure_tool(out, python, tool, on_demand, pooled);
  measure_loads(out, python, on_demand);
  measure_sleepers(out, on_demand);
  const auto slots = on_demand.slots();
  out.add("local.zygote.memory", proportional_memory(slots.zygote_pid), "MB");
  out.add("local.zygote.huge_pages", static_cast<double>(slots.huge_pages), "");
  out.at_most("local.slots_replaced", static_cast<double>(slots.replaced), "",
              0);
  out.add("local.pooled.armed_share",
          static_cast<double>(pooled.slots().armed_runs)
            / static_cast<double>(pooled.slots().runs),
          "x");
}

const area local{"local", "warm, isolated Python runs against a fresh python3",
                 run_local};

} // namespace

} // namespace troupe::bench
