#include "actors/context/metrics_page.hpp"

#include "runtime/base/metrics_writer.hpp"

namespace troupe {

namespace {

class page_of_metrics : public metrics_writer {
public:
  void counter(const char* name, const char* help,
               const engine_metrics::counter& c) {
    metrics_writer::counter(name, help, engine_metrics::of(c));
  }
};

constexpr auto label = &metrics_writer::label;

void add_counters(page_of_metrics& page, const engine_metrics& m) {
  page.counter("troupe_runs_submitted_total", "Runs received.", m.submitted);
  page.counter("troupe_runs_refused_total", "Runs refused because of load.",
               m.refused);
  page.counter("troupe_runs_invalid_total",
               "Runs refused because the request was invalid.", m.rejected);
  page.head("troupe_runs_total", "counter", "Runs that ended, by outcome.");
  auto outcome = [&](const char* word, const engine_metrics::counter& c) {
    page.line("troupe_runs_total", label("outcome", word),
              static_cast<double>(engine_metrics::of(c)));
  };
  outcome("success", m.succeeded);
  outcome("tool_error", m.failed_tools);
  outcome("engine_error", m.failed_runs);
  page.head("troupe_run_exits_total", "counter",
            "Runs that ended with a result, by exit reason.");
  for (std::size_t i = 0; i < m.ended.size(); ++i)
    page.line("troupe_run_exits_total",
              label("reason", to_string(static_cast<exit_reason>(i))),
              static_cast<double>(engine_metrics::of(m.ended[i])));
  page.counter("troupe_runs_cancelled_total", "Runs that were cancelled.",
               m.cancelled);
  page.counter("troupe_runs_expired_total", "Runs that met their deadline.",
               m.expired);
  page.counter("troupe_failovers_total",
               "Attempts that failed over to another backend.", m.failovers);
  page.counter("troupe_idempotent_replays_total",
               "Stored results returned for a repeated idempotency key.",
               m.replayed);
  page.counter("troupe_actor_restarts_total",
               "Actors restarted after a failure.", m.restarts);
  page.counter("troupe_webhook_requests_total",
               "Requests to the credentials webhook.", m.webhook_asked);
  page.counter("troupe_webhook_failures_total",
               "Requests to the credentials webhook that failed.",
               m.webhook_failed);
  page.counter("troupe_webhook_cache_hits_total",
               "Credentials served from the cache.", m.webhook_cached);
  page.counter("troupe_config_changes_total", "Configuration changes.",
               m.changes);
  page.counter("troupe_ledger_entries_lost_total",
               "Audit and run records that could not be written.",
               m.lines_lost);
  page.counter(
    "troupe_ledger_write_failures_total",
    "Writes of audit and run records that failed and will be retried.",
    m.record_failures);
}

void add_durations(page_of_metrics& page, const std::string& name,
                   const char* help, const duration_histogram& seen) {
  page.head(name, "histogram", help);
  double bound = 0.001;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < seen.buckets.size(); ++i) {
    sum += engine_metrics::of(seen.buckets[i]);
    const bool last = i + 1 == seen.buckets.size();
    page.line(name + "_bucket",
              label("le", last ? "+Inf" : page_of_metrics::number(bound)), sum);
    bound = i % 2 == 0 ? bound * 3 : bound / 3 * 10;
  }
  page.line(name + "_sum", "",
            static_cast<double>(engine_metrics::of(seen.sum_us)) / 1e6);
  page.line(name + "_count", "", sum);
}

/// What each circuit is now, and how often it became that.
void add_circuits(page_of_metrics& page, const engine_context& context,
                  const std::vector<backend_health>& backends) {
  constexpr circuit_breaker::state states[]
    = {circuit_breaker::state::closed, circuit_breaker::state::open,
       circuit_breaker::state::half_open};
  auto labels
    = [](backend_name backend, const char* name, circuit_breaker::state s) {
        return label("backend", to_string(backend)) + ","
          + label(name, to_string(s));
      };
  page.head("troupe_backend_circuit_state", "gauge",
            "1 for the current state of a backend's circuit breaker.");
  for (const auto& b : backends)
    for (auto s : states)
      if (b.configured)
        page.line("troupe_backend_circuit_state", labels(b.name, "state", s),
                  b.circuit == to_string(s) ? 1 : 0);
  page.head("troupe_backend_circuit_transitions_total", "counter",
            "Transitions of a backend's circuit breaker into a state.");
  for (const auto& b : backends)
    if (auto* entry = context.backends->find(b.name)) {
      const auto entered = entry->breaker.entered();
      for (auto s : states)
        page.line("troupe_backend_circuit_transitions_total",
                  labels(b.name, "to", s),
                  static_cast<double>(entered[static_cast<std::size_t>(s)]));
    }
}

/// Each backend that is configured, a metric at a time.
void add_backends(page_of_metrics& page, const engine_context& context,
                  const std::vector<backend_health>& backends) {
  const auto each = [&](const char* name, const char* type, const char* help,
                        auto value) {
    page.head(name, type, help);
    for (const auto& b : backends)
      if (const auto* entry = context.backends->find(b.name))
        page.line(name, label("backend", to_string(b.name)), value(b, *entry));
  };
  using health = backend_health;
  using entry = backend_entry;
  each("troupe_backend_ready", "gauge", "1 if a backend accepts runs.",
       [](const health& b, const entry&) { return b.ready ? 1 : 0; });
  each("troupe_backend_running", "gauge", "Runs in progress at a backend.",
       [](const health& b, const entry&) { return b.running; });
  each("troupe_backend_queued", "gauge", "Runs waiting for a backend.",
       [](const health& b, const entry&) { return b.waiting; });
  each("troupe_backend_limit", "gauge", "Concurrent runs a backend accepts.",
       [](const health& b, const entry&) { return b.limit; });
  each("troupe_backend_attempts_total", "counter",
       "Attempts that ended at a backend.", [](const health&, const entry& e) {
         return engine_metrics::of(e.finished);
       });
  each("troupe_backend_failures_total", "counter",
       "Attempts at which the backend failed.",
       [](const health&, const entry& e) {
         return engine_metrics::of(e.failures);
       });
  each("troupe_backend_circuit_open", "gauge",
       "1 if a backend's circuit breaker is not closed.",
       [](const health& b, const entry&) {
         return b.circuit == "closed" ? 0 : 1;
       });
}

/// Only the longest: a page has no room for every tenant.
void add_organizations(page_of_metrics& page, const admission& admissions) {
  constexpr std::size_t most = 20;
  page.head("troupe_organization_queued", "gauge",
            "Runs of an organization that wait; the 20 longest queues.");
  for (const auto& [organization, waiting] : admissions.longest_queues(most))
    page.line("troupe_organization_queued",
              label("organization", organization.str()), waiting);
}

/// Other nodes, as backend `peer` sees them.
void add_nodes(page_of_metrics& page,
               const std::vector<backend_health>& backends) {
  const auto each
    = [&](const char* name, const char* type, const char* help, auto value) {
        page.head(name, type, help);
        for (const auto& b : backends)
          for (const auto& node : b.nodes)
            page.line(name, label("node", node.name), value(node));
      };
  each("troupe_node_ready", "gauge", "1 if another node accepts runs.",
       [](const backend_node& n) { return n.ready ? 1 : 0; });
  each("troupe_node_running", "gauge", "Runs of this node in progress there.",
       [](const backend_node& n) { return n.running; });
  each("troupe_node_runs_total", "counter", "Runs that a node answered.",
       [](const backend_node& n) { return n.runs; });
  each("troupe_node_failures_total", "counter",
       "Runs that a node refused or lost.",
       [](const backend_node& n) { return n.failures; });
}

} // namespace

std::vector<backend_health> backends_of(const engine_context& context) {
  std::vector<backend_health> all;
  const auto counts = context.admissions.now();
  for (std::size_t i = 0; i < backend_name::count(); ++i) {
    const auto name = backend_name::at(i);
    backend_health h;
    h.name = name;
    h.limit = context.admissions.limit_of(name);
    if (auto* entry = context.backends->find(name)) {
      h.configured = true;
      auto ready = entry->ready(context.now());
      h.ready = ready.has_value();
      const auto seen = entry->breaker.look(context.now());
      const auto passed_over = why_passed_over(seen);
      h.reason = !ready       ? ready.error().text
        : passed_over.empty() ? "ready"
                              : passed_over;
      h.circuit = to_string(seen.circuit);
      h.running = counts.running_by_backend[i];
      h.waiting = counts.waiting_by_backend[i];
      h.nodes = entry->backend->nodes();
    } else {
      h.reason = "not configured";
      h.circuit = "closed";
    }
    all.push_back(std::move(h));
  }
  return all;
}

std::string metrics_text(const engine_context& context) {
  page_of_metrics page;
  add_counters(page, context.metrics);
  add_durations(page, "troupe_run_duration_seconds",
                "Time from request to result.", context.metrics.run_times);
  add_durations(page, "troupe_run_queue_seconds",
                "Time that admitted runs waited for their turn.",
                context.metrics.queue_times);
  const auto counts = context.admissions.now();
  page.gauge("troupe_runs_running", "Runs in progress.", counts.running);
  page.gauge("troupe_runs_queued", "Runs waiting for admission.",
             counts.waiting);
  add_organizations(page, context.admissions);
  page.gauge("troupe_requests_pending", "Requests not answered yet.",
             context.pending.load());
  page.gauge("troupe_ledger_queue",
             "Audit and run records waiting to be written.",
             static_cast<double>(context.to_ledger.size()));
  const auto backends = backends_of(context);
  add_backends(page, context, backends);
  add_circuits(page, context, backends);
  add_nodes(page, backends);
  return page.take();
}

} // namespace troupe
