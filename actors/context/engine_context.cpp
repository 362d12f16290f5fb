#include "actors/context/engine_context.hpp"

#include "actors/state/audit_entries.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

engine_context::engine_context(engine_options options_)
    : options{std::move(options_)}, boot{make_uuid()}, gate{options.admission},
      runs{options.registry}, to_ledger{{options.ledger.waiting_entries,
                                         options.ledger.waiting_bytes,
                                         options.ledger.hurry_at}} {}

bool enqueue_ledger_entry(engine_context& context, ledger_entry&& line,
                          std::function<void(bool)> kept) {
  const auto outcome = context.to_ledger.push(std::move(line), std::move(kept));
  switch (outcome) {
  case ledger_queue::outcome::full:
    meters::add(context.meter.lines_lost);
    return false;
  case ledger_queue::outcome::quiet:
    return true;
  case ledger_queue::outcome::wake:
  case ledger_queue::outcome::wake_now:
    if (auto routes = context.routes.load(); routes && routes->ledger)
      caf::anon_send(routes->ledger, flush_v,
                     outcome == ledger_queue::outcome::wake_now);
    return true;
  }
  return true;
}

void give_place_back(engine_context& context, admission::stay& stay) {
  auto may_start = context.gate.leave(stay);
  auto routes = context.routes.load();
  for (auto& guest : may_start) {
    auto next = std::static_pointer_cast<active_run>(std::move(guest));
    if (routes && next->owner < routes->dispatchers.size())
      caf::anon_send<caf::message_priority::high>(
        routes->dispatchers[next->owner], turn_v, std::move(next));
  }
}

void publish_end(engine_context& context, const live_run_ptr& run) {
  if (!run->claim_notification())
    return;
  run->events.end(run->outcome, run->failure);
  run->forget_request();
  if (run->admitted)
    context.runs.retire(run);
  else
    context.runs.forget(run);
}

void abandon(engine_context& context, const live_run_ptr& run, error why) {
  if (!run->claim_end()) {
    if (run->phase == run_phase::ended)
      publish_end(context, run); // who ended it died before it could
    return;
  }
  run->failure = std::make_shared<const error>(std::move(why));
  run->ended_at = now();
  run->phase.store(run_phase::ended, std::memory_order_release);
  if (run->admitted) {
    meters::add(context.meter.failed_runs);
    ledger_entry line;
    line.run = run;
    line.audit = audit_of_run(*run, nullptr);
    // The store leaves the key alone if it belongs to another run.
    if (!run->idempotency_key.empty())
      line.key = fate_of_key(*run);
    enqueue_ledger_entry(context, std::move(line));
  } else {
    meters::add(context.meter.refused);
  }
  give_place_back(context, run->stay);
  if (auto* desk = context.board->find(run->backend))
    desk->carrier->cancel(run->id, exit_reason::cancelled);
  publish_end(context, run);
}

} // namespace troupe
