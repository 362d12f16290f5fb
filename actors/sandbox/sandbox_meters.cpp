#include "actors/sandbox/sandbox_meters.hpp"

#include "actors/sandbox/sandbox_services.hpp"
#include "runtime/base/metrics_writer.hpp"

#include <map>
#include <utility>

namespace troupe {

std::string sandbox_metrics(const sandbox_services& services) {
  constexpr auto label = &metrics_writer::label;
  metrics_writer page;
  std::map<std::pair<sandbox_state, backend_name>, std::uint64_t> now;
  for (const auto& each : services.options.places)
    now[{sandbox_state::running, each.name}] = 0;
  std::uint64_t waiting = 0;
  for (const auto& each : services.index.all()) {
    const auto state = each.record->state;
    if (state == sandbox_state::queued)
      ++waiting;
    if (!is_over(state))
      ++now[{state, each.record->place}];
  }
  page.head("troupe_sandboxes", "gauge",
            "Living sandboxes, by state and place.");
  for (const auto& [of, count] : now)
    page.line("troupe_sandboxes",
              label("state", to_string(of.first)) + ","
                + label("place", to_string(of.second)),
              count);
  page.gauge("troupe_sandbox_queue_depth", "Sandboxes that wait to be made.",
             waiting);
  const auto& m = services.meters;
  page.head("troupe_sandbox_create_seconds", "summary",
            "From the turn of a sandbox until it runs.");
  page.line("troupe_sandbox_create_seconds_sum", "",
            static_cast<double>(engine_metrics::of(m.create_us)) / 1e6);
  page.line("troupe_sandbox_create_seconds_count", "",
            engine_metrics::of(m.created));
  page.counter("troupe_sandbox_processes_total",
               "Processes that were begun in sandboxes.",
               engine_metrics::of(m.processes));
  page.head("troupe_sandboxes_ended_total", "counter",
            "Sandboxes that ended, by reason.");
  for (std::size_t i = 1; i < m.ended.size(); ++i)
    page.line("troupe_sandboxes_ended_total",
              label("reason", to_string(static_cast<sandbox_end>(i))),
              engine_metrics::of(m.ended[i]));
  return page.take();
}

} // namespace troupe
