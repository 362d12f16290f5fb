#include "bench/local/node.hpp"

#include "bench/local/record.hpp"
#include "runtime/local/interpreters.hpp"

#include <chrono>

namespace troupe::bench {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t naive_at_a_time = 2; // where it is at its best here
constexpr auto node = zygote::family::node;

} // namespace

void measure_node(report& out, local_engine& on_demand, local_engine& pooled) {
  const auto& tool = typescript_tool();
  if (!on_demand.warm_up(tool) || !pooled.warm_up(tool)) {
    out.note("no warm node: " + on_demand.slots(node).trouble);
    return;
  }
  const auto path = find_interpreters({}).node.path;
  const auto& plain = javascript_tool();
  const auto standard = isolation_level::standard;
  auto all = measure({
    {"naive", [&] { return run_naive(path, plain, 12, naive_at_a_time); }},
    {"naive_alone", [&] { return run_naive(path, plain, 6, 1); }},
    {"standard", [&] { return on_demand.run(tool, standard, 150, 4); }},
    {"off", [&] { return on_demand.run(tool, isolation_level::off, 150, 4); }},
    {"standard_alone", [&] { return on_demand.run(tool, standard, 40, 1); }},
    {"pooled", [&] { return pooled.run_spaced(tool, 30, milliseconds{5}); }},
  });
  const std::string prefix = "local.typescript.";
  for (const auto& [name, r] : all)
    print_side(out, "typescript." + name, r);
  out.at_least(prefix + "rate.vs_naive",
               median_ratio(all["standard"].rate, all["naive"].rate), "x", 28);
  out.at_least(prefix + "p50.vs_naive",
               median_ratio(all["naive_alone"].p50, all["standard_alone"].p50),
               "x", 42);
  out.at_least(prefix + "pooled_p50.vs_naive",
               median_ratio(all["naive_alone"].p50, all["pooled"].p50), "x",
               80);
  out.add(prefix + "cpu.vs_naive",
          median_ratio(all["naive"].cpu, all["standard"].cpu), "x");
  out.add(prefix + "rate.vs_off",
          median_ratio(all["standard"].rate, all["off"].rate), "x");
  out.add(prefix + "zygote.memory",
          proportional_memory(on_demand.slots(node).zygote_pid), "MB");
}

} // namespace troupe::bench
