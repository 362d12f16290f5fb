#include "bench/local/profile.hpp"

#include "bench/bench.hpp"
#include "bench/local/engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace troupe::bench {

int profile_runs(int argc, char** argv) {
  const std::string_view node{argc == 7 ? argv[6] : "fork"};
  if (argc < 6 || argc > 7
      || (node != "fork" && node != "ready" && node != "cold")) {
    std::fprintf(stderr,
                 "usage: troupe_bench %s TOOL LEVEL CALLS AT_A_TIME "
                 "[fork|ready|cold]\n"
                 "AT_A_TIME 0: one every 5 ms, warmed ahead; of a Node that is "
                 "not forked,\none every 200 ms. 20ms: one after as long a "
                 "pause, on demand\n",
                 profile_command);
    return 2;
  }
  const auto from = node == "fork" ? node_start::fork
    : node == "ready"              ? node_start::ready
                                   : node_start::cold;
  const std::string_view wanted{argv[2]}, level{argv[3]};
  const auto at = level == "off" ? isolation_level::off
    : level == "strict"          ? isolation_level::strict
                                 : isolation_level::standard;
  auto tools = local_tools();
  tools.push_back(typescript_tool());
  for (const auto& tool : tools) {
    if (tool.name != wanted)
      continue;
    char* unit = nullptr;
    const auto number = std::strtoul(argv[5], &unit, 10);
    const bool paused = std::string_view{unit} == "ms";
    const auto at_a_time = paused ? 0 : number;
    local_engine engine{number == 0 ? 1u : 0u, {}, {}, from};
    if (from == node_start::fork && !engine.warm_up(tool))
      std::fprintf(stderr, "not warm: %s\n",
                   engine.slots(zygote::family::node).trouble.c_str());
    const std::chrono::milliseconds gap{paused                       ? number
                                          : from == node_start::fork ? 5
                                                                     : 200};
    const auto calls = std::strtoul(argv[4], nullptr, 10);
    // Slots, compiled code.
    engine.run(tool, at, 10 * at_a_time + 4, at_a_time + 1);
    const auto b = at_a_time > 0 ? engine.run(tool, at, calls, at_a_time)
                                 : engine.run_spaced(tool, calls, gap);
    std::printf("%s %s: %.0f/s, cpu %.0f us, p50 %.0f us, p99 %.0f us, "
                "%zu failed\n",
                argv[2], argv[3], b.rate(), b.cpu_per_call() * 1e6,
                quantile(b.latencies, 0.5) * 1e6,
                quantile(b.latencies, 0.99) * 1e6, b.failures);
    return b.failures == 0 ? 0 : 1;
  }
  std::fprintf(stderr, "troupe_bench: no tool '%s'\n", argv[2]);
  return 2;
}

} // namespace troupe::bench
