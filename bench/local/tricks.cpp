// Each optimization of warm interpreters switched off alone, beside an engine
// that has all of them. Figures are of the one without it over the other: 1.05
// is an optimization that saves a twentieth.
#include "bench/bench.hpp"
#include "bench/local/engine.hpp"
#include "bench/local/large_preload.hpp"
#include "bench/local/record.hpp"
#include "bench/local/tools.hpp"

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace troupe::bench {

namespace {

/// Where interpreters lie in memory, and on which pages, is another matter with
/// every start; what a host has learned is shared by all of them.
constexpr int lives = 3;
constexpr std::size_t rounds = 5;

struct home {
  home() {
    char name[] = "/tmp/troupe-bench-XXXXXX";
    if (::mkdtemp(name) != nullptr)
      path = name;
  }
  ~home() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

bool applies(const warm_optimization& trick, const local_tool& tool) {
  using family = warm_optimization::family;
  const auto own
    = tool.lang == language::python ? family::python : family::node;
  return trick.of == family::any || trick.of == own;
}

std::vector<local_tool> tools_for(const warm_optimization& trick) {
  std::vector<local_tool> chosen;
  for (const auto& tool :
       {local_tools()[0], local_tools()[1], typescript_tool()})
    if (applies(trick, tool))
      chosen.push_back(tool);
  return chosen;
}

void append(record& to, const record& more) {
  to.cpu.insert(to.cpu.end(), more.cpu.begin(), more.cpu.end());
  to.p50.insert(to.p50.end(), more.p50.begin(), more.p50.end());
  to.failures += more.failures;
}

/// Four at a time for the processor's time, one after the other for how long a
/// caller waits.
sides sides_for(local_engine& with, local_engine& without,
                const std::vector<local_tool>& tools) {
  sides all;
  for (const auto& tool : tools)
    for (auto* engine : {&with, &without}) {
      const std::string prefix
        = tool.name + (engine == &with ? ".with" : ".without");
      const auto level = isolation_level::standard;
      all.emplace_back(prefix,
                       [=] { return engine->run(tool, level, 150, 4); });
      all.emplace_back(prefix + ".alone",
                       [=] { return engine->run(tool, level, 50, 1); });
    }
  return all;
}

void measure_trick(report& out, const warm_optimization& trick,
                   const std::string& directory) {
  const auto tools = tools_for(trick);
  // What it is for, nothing else has.
  std::optional<large_library> large;
  if (trick.flag == &warm_optimizations::cold_memory)
    large.emplace();
  const auto python = large ? large->python() : std::string{};
  const auto preload = large ? large->preload() : std::vector<std::string>{};
  warm_optimizations others;
  others.*trick.flag = false;
  records all;
  for (int life = 0; life < lives; ++life) {
    local_engine with{0, python, preload, node_start::fork, {}, directory};
    local_engine without{0,      python,   preload, node_start::fork,
                         others, directory};
    for (const auto& tool : tools)
      if (!with.warm_up(tool) || !without.warm_up(tool))
        return out.note(std::string{trick.name} + ": " + tool.name
                        + " is not warm");
    for (const auto& [name, r] :
         measure(sides_for(with, without, tools), rounds))
      append(all[name], r);
  }
  for (const auto& tool : tools) {
    const auto& with = all[tool.name + ".with"];
    const auto& without = all[tool.name + ".without"];
    const auto prefix
      = "tricks." + std::string{trick.name} + "." + tool.name + ".";
    out.add(prefix + "cpu", median_ratio(without.cpu, with.cpu), "x");
    out.add(prefix + "p50",
            median_ratio(all[tool.name + ".without.alone"].p50,
                         all[tool.name + ".with.alone"].p50),
            "x");
    if (with.failures + without.failures > 0)
      out.add(prefix + "failures",
              static_cast<double>(with.failures + without.failures), "");
  }
}

void run_tricks(report& out) {
  out.note("without it / with it, each switched off alone; cpu: of a run, four "
           "at a time; p50: one after the other; medians of the ratios of "
           + std::to_string(lives * rounds) + " rounds in "
           + std::to_string(lives) + " starts");
  out.note("some of them: TROUPE_BENCH_TRICKS=huge-text,hot-blocks");
  const char* named = std::getenv("TROUPE_BENCH_TRICKS");
  const home shared;
  for (const auto& trick : warm_optimization_table)
    if (named == nullptr
        || std::string_view{named}.find(trick.name) != std::string_view::npos)
      measure_trick(out, trick, shared.path);
}

const area tricks{"tricks", "each optimization of warm interpreters alone",
                  run_tricks, area::when_named};

} // namespace

} // namespace troupe::bench
