#include "actors/context/metrics_page.hpp"

namespace troupe {

namespace {

class page_of_metrics {
public:
  void head(const char* name, const char* type, const char* help) {
    text_ += std::string{"# HELP "} + name + " " + help + "\n# TYPE " + name
      + " " + type + "\n";
  }
  void line(const char* name, const std::string& labels, double value) {
    text_ += name;
    if (!labels.empty())
      text_ += "{" + labels + "}";
    text_ += " " + number(value) + "\n";
  }
  void counter(const char* name, const char* help, const meters::counter& c) {
    head(name, "counter", help);
    line(name, "", static_cast<double>(meters::of(c)));
  }
  void gauge(const char* name, const char* help, double value) {
    head(name, "gauge", help);
    line(name, "", value);
  }
  std::string take() && { return std::move(text_); }

  static std::string number(double value) {
    char buffer[32];
    auto n = std::snprintf(buffer, sizeof buffer, "%.15g", value);
    return {buffer, static_cast<std::size_t>(n)};
  }

private:
  std::string text_;
};

std::string label(const char* name, std::string_view value) {
  return std::string{name} + "=\"" + std::string{value} + "\"";
}

void add_counters(page_of_metrics& page, const meters& m) {
  page.counter("troupe_runs_submitted_total", "Execution messages received.",
               m.submitted);
  page.counter("troupe_runs_refused_total",
               "Execution messages refused because of load.", m.refused);
  page.counter("troupe_runs_rejected_total",
               "Execution messages refused because of what they say.",
               m.rejected);
  page.head("troupe_runs_total", "counter", "Runs that ended, by outcome.");
  auto outcome = [&](const char* word, const meters::counter& c) {
    page.line("troupe_runs_total", label("outcome", word),
              static_cast<double>(meters::of(c)));
  };
  outcome("success", m.succeeded);
  outcome("tool_error", m.failed_tools);
  outcome("engine_error", m.failed_runs);
  page.head("troupe_run_exits_total", "counter",
            "Runs that ended with a result, by exit reason.");
  for (std::size_t i = 0; i < m.ended.size(); ++i)
    page.line("troupe_run_exits_total",
              label("reason", to_string(static_cast<exit_reason>(i))),
              static_cast<double>(meters::of(m.ended[i])));
  page.counter("troupe_runs_cancelled_total", "Runs that were cancelled.",
               m.cancelled);
  page.counter("troupe_runs_expired_total", "Runs that met their deadline.",
               m.expired);
  page.counter("troupe_failovers_total",
               "Attempts that moved to another "
               "backend.",
               m.failovers);
  page.counter("troupe_idempotent_replays_total",
               "Answers that were given again for an idempotency key.",
               m.replayed);
  page.counter("troupe_actor_restarts_total", "Actors that died.", m.restarts);
  page.counter("troupe_webhook_requests_total",
               "Questions to the credentials webhook.", m.webhook_asked);
  page.counter("troupe_webhook_failures_total",
               "Questions that it did not answer well.", m.webhook_failed);
  page.counter("troupe_webhook_cached_total",
               "Questions that were answered from memory.", m.webhook_cached);
  page.counter("troupe_config_changes_total", "Changes of the configuration.",
               m.changes);
  page.counter("troupe_record_lines_lost_total",
               "Lines of the record that could not be written.", m.lines_lost);
  page.counter("troupe_record_write_failures_total",
               "Writes of the record that failed and are tried again.",
               m.record_failures);
}

void add_run_times(page_of_metrics& page, const meters& m) {
  const char* name = "troupe_run_duration_seconds";
  page.head(name, "histogram", "From the message to its answer.");
  double bound = 0.001;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < m.run_times.size(); ++i) {
    sum += meters::of(m.run_times[i]);
    const bool last = i + 1 == m.run_times.size();
    page.line("troupe_run_duration_seconds_bucket",
              label("le", last ? "+Inf" : page_of_metrics::number(bound)),
              static_cast<double>(sum));
    bound = i % 2 == 0 ? bound * 3 : bound / 3 * 10;
  }
  page.line("troupe_run_duration_seconds_sum", "",
            static_cast<double>(meters::of(m.run_time_us)) / 1e6);
  page.line("troupe_run_duration_seconds_count", "", static_cast<double>(sum));
}

/// What each circuit is now, and how often it became that.
void add_circuits(page_of_metrics& page, const engine_context& context,
                  const std::vector<backend_health>& backends) {
  constexpr circuit_breaker::state states[]
    = {circuit_breaker::state::closed, circuit_breaker::state::open,
       circuit_breaker::state::half_open};
  auto labels = [](backend_kind kind, const char* name,
                   circuit_breaker::state s) {
    return label("backend", to_string(kind)) + "," + label(name, to_string(s));
  };
  page.head("troupe_backend_circuit_state", "gauge",
            "1 for the state that a backend's circuit is in.");
  for (const auto& b : backends)
    for (auto s : states)
      if (b.configured)
        page.line("troupe_backend_circuit_state", labels(b.kind, "state", s),
                  b.circuit == to_string(s) ? 1 : 0);
  page.head("troupe_backend_circuit_transitions_total", "counter",
            "How often a backend's circuit entered a state.");
  for (const auto& b : backends)
    if (auto* desk = context.board->find(b.kind)) {
      const auto entered = desk->breaker.entered();
      for (auto s : states)
        page.line("troupe_backend_circuit_transitions_total",
                  labels(b.kind, "to", s),
                  static_cast<double>(entered[static_cast<std::size_t>(s)]));
    }
}

} // namespace

std::vector<backend_health> backends_of(const engine_context& context) {
  std::vector<backend_health> all;
  const auto counts = context.gate.now();
  for (std::size_t i = 0; i < backend_kinds; ++i) {
    const auto kind = static_cast<backend_kind>(i);
    backend_health h;
    h.kind = kind;
    h.limit = context.gate.limit_of(kind);
    if (auto* desk = context.board->find(kind)) {
      h.configured = true;
      auto ready = desk->ready(context.now());
      h.ready = ready.has_value();
      const auto seen = desk->breaker.look(context.now());
      const auto passed_over = why_passed_over(seen);
      h.reason = !ready       ? ready.error().text
        : passed_over.empty() ? "ready"
                              : passed_over;
      h.circuit = to_string(seen.circuit);
      h.running = counts.running_by_backend[i];
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
  add_counters(page, context.meter);
  add_run_times(page, context.meter);
  const auto counts = context.gate.now();
  page.gauge("troupe_runs_running", "Runs that go on now.", counts.running);
  page.gauge("troupe_runs_waiting", "Runs that wait for their turn.",
             counts.waiting);
  page.gauge("troupe_requests_pending", "Requests without an answer yet.",
             context.pending.load());
  page.gauge("troupe_record_queue", "Lines of the record not yet written.",
             static_cast<double>(context.to_ledger.size()));
  page.head("troupe_backend_ready", "gauge", "Whether a backend takes runs.");
  const auto backends = backends_of(context);
  for (const auto& b : backends)
    if (b.configured)
      page.line("troupe_backend_ready", label("backend", to_string(b.kind)),
                b.ready ? 1 : 0);
  page.head("troupe_backend_running", "gauge", "Runs at a backend now.");
  for (const auto& b : backends)
    if (b.configured)
      page.line("troupe_backend_running", label("backend", to_string(b.kind)),
                b.running);
  page.head("troupe_backend_circuit_open", "gauge",
            "Whether runs are kept away from a backend.");
  for (const auto& b : backends)
    if (b.configured)
      page.line("troupe_backend_circuit_open",
                label("backend", to_string(b.kind)),
                b.circuit == "closed" ? 0 : 1);
  add_circuits(page, context, backends);
  return std::move(page).take();
}

} // namespace troupe
