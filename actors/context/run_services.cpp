#include "actors/context/run_services.hpp"

#include "actors/context/engine_options.hpp"
#include "actors/state/audit_entries.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

run_services::run_services(const engine_options& options)
    : admissions{options.admission}, runs{options.registry},
      to_ledger{{options.ledger.waiting_entries, options.ledger.waiting_bytes,
                 options.ledger.hurry_at}},
      kept_files{options.kept_files} {}

bool enqueue_ledger_entry(run_services& services, ledger_entry&& line,
                          std::function<void(bool)> kept) {
  const auto outcome
    = services.to_ledger.push(std::move(line), std::move(kept));
  switch (outcome) {
  case ledger_queue::outcome::full:
    engine_metrics::add(services.metrics.lines_lost);
    return false;
  case ledger_queue::outcome::quiet:
    return true;
  case ledger_queue::outcome::wake:
  case ledger_queue::outcome::wake_now:
    if (auto routes = services.routes.load(); routes && routes->ledger)
      caf::anon_send(routes->ledger, flush_v,
                     outcome == ledger_queue::outcome::wake_now);
    return true;
  }
  return true;
}

void give_place_back(run_services& services, admission::ticket& ticket) {
  auto may_start = services.admissions.leave(ticket);
  auto routes = services.routes.load();
  for (auto& waiter : may_start) {
    auto next = std::static_pointer_cast<active_run>(std::move(waiter));
    if (routes && next->owner < routes->dispatchers.size())
      caf::anon_send<caf::message_priority::high>(
        routes->dispatchers[next->owner], turn_v, std::move(next));
  }
}

void publish_end(run_services& services, const active_run_ptr& run) {
  if (!run->claim_notification())
    return;
  run->events.end(run->outcome, run->failure);
  run->forget_request();
  if (run->admitted)
    services.runs.retire(run);
  else
    services.runs.forget(run);
}

void abandon(run_services& services, const active_run_ptr& run, error why) {
  if (!run->claim_end()) {
    if (run->phase == run_phase::ended)
      publish_end(services, run); // who ended it died before it could
    return;
  }
  run->failure = std::make_shared<const error>(std::move(why));
  run->ended_at = now();
  run->phase.store(run_phase::ended, std::memory_order_release);
  if (run->admitted) {
    engine_metrics::add(services.metrics.failed_runs);
    ledger_entry line;
    line.run = run;
    line.audit = audit_of_run(*run, nullptr);
    // Another run's key stays what it is: the books look whose it is.
    if (!run->idempotency_key.empty())
      line.key = fate_of_key(*run);
    enqueue_ledger_entry(services, std::move(line));
  } else {
    engine_metrics::add(services.metrics.refused);
  }
  give_place_back(services, run->ticket);
  if (auto* entry = services.backends->find(run->backend))
    entry->backend->cancel(run->id, exit_reason::cancelled);
  publish_end(services, run);
}

} // namespace troupe
