// From a request to its turn: resolved, let in, recorded.
#include "actors/context/run_intake.hpp"
#include "actors/dispatch/dispatcher.hpp"
#include "runtime/model/codec/codec.hpp"

#include <boost/asio/post.hpp>

namespace troupe {

// -- resolve ------------------------------------------------------------------

void dispatcher_state::resolve_now(job& j) {
  j.at = stage::resolving;
  const auto& request = j.request;
  if (is_light(*request))
    return resolved(j,
                    resolve(*request, j.config->find(j.run->who.organization),
                            *rules, tools));
  auto work = [home = dispatcher_actor{self}, run = j.run, request,
               config = j.config, rules = rules] {
    tool_views none; // ours are not for another thread
    auto what = std::make_shared<result<resolved_run>>(
      error{ec::exhausted, "not enough memory for these arguments"});
    try { // a throw in there would end the process
      *what
        = resolve(*request, config->find(run->who.organization), *rules, none);
    } catch (const std::bad_alloc&) {
    }
    caf::anon_send<caf::message_priority::high>(
      home, done_v, resolve_reply{run, std::move(what)});
  };
  boost::asio::post(*background, std::move(work));
}

void dispatcher_state::resolved(job& j, result<resolved_run> what) {
  if (j.at != stage::resolving)
    return;
  if (!what)
    return conclude(j, std::move(what.error()));
  j.resolved = std::move(*what);
  auto plan = plan_backends(j.resolved.wish, viewer());
  if (!plan)
    return conclude(j, std::move(plan.error()));
  j.plan = std::move(*plan);
  j.failover_trail = std::move(j.plan.passed_over);
  record_stage(j, "resolve");
  j.at = stage::waiting;
  const auto first = j.plan.candidates.front();
  j.run->backend = first;
  auto verdict = services->admissions.enter(
    j.run->ticket, j.run->who.organization, first, j.request->priority, j.run);
  if (!verdict)
    return conclude(j, std::move(verdict.error()));
  j.run->admitted = true;
  j.admitted_early = *verdict == admission::verdict::run;
  j.run->events.append(run_event_kind::accepted);
  if (!j.admitted_early)
    j.run->events.append(run_event_kind::queued);
  record_start(j);
}

// -- the record ---------------------------------------------------------------

void dispatcher_state::record_start(job& j) {
  // Only what was let in gets this far: the disk is not for who is refused.
  j.at = stage::recording;
  if (j.keyed) {
    const auto& ledger = routes.of(services->routes)->ledger;
    if (!ledger)
      return awaited_actor_died(j);
    j.awaited_actor = ledger.address();
    self->send(ledger, claim_v, j.run);
    return;
  }
  ledger_entry begun;
  begun.run = j.run;
  begun.request = request_to_keep(j);
  const bool taken = enqueue_ledger_entry(
    *services, std::move(begun),
    j.detached ? when_persisted(j) : std::function<void(bool)>{});
  if (!j.detached)
    return on_recorded(j); // nobody is told before it has ended
  if (!taken)
    on_persisted(j.run, false);
}

/// With it the run can be run again. Not one of another node's: that has it.
std::shared_ptr<const run_request>
dispatcher_state::request_to_keep(const job& j) const {
  if (j.run->sent_config || bytes_of(*j.request) > most_request_bytes)
    return nullptr;
  return j.request;
}

std::function<void(bool)> dispatcher_state::when_persisted(const job& j) {
  return [home = dispatcher_actor{self}, run = j.run](bool well) {
    caf::anon_send(home, kept_v, run, well);
  };
}

void dispatcher_state::on_key_claimed(const key_claim_result& reply) {
  auto* j = find(reply.run);
  if (!j || j->at != stage::recording)
    return;
  j->awaited_actor = caf::actor_addr{};
  if (reply.fresh)
    return on_recorded(*j); // that it begins was written with the claim
  // Not ours: what was claimed stays as it is.
  keys.erase({j->run->who.organization, j->run->idempotency_key});
  j->keyed = false;
  j->run->admitted = false;
  if (reply.before)
    return replay(*j, *reply.before);
  conclude(*j,
           reply.failure ? *reply.failure
                         : error{ec::internal, "the ledger did not answer"});
}

void dispatcher_state::on_persisted(const active_run_ptr& run, bool well) {
  auto* j = find(run);
  if (!j)
    return;
  if (j->at == stage::settling)
    return close(*j); // also when it was not kept: it ran, that is what counts
  if (j->at != stage::recording)
    return;
  if (well)
    return on_recorded(*j);
  conclude(*j, unrecorded(ec::unavailable));
}

void dispatcher_state::on_recorded(job& j) {
  j.at = stage::waiting;
  if (j.accepted.pending())
    j.accepted.deliver(to_note(describe(*j.run)));
  if (j.admitted_early)
    on_admitted(j);
}

// -- the turn -----------------------------------------------------------------

void dispatcher_state::on_admitted(job& j) {
  if (j.at == stage::blocked)
    return send_to_executor(j);
  if (j.at == stage::recording)
    j.admitted_early = true;
  if (j.at != stage::waiting)
    return;
  record_stage(j, "queue");
  services->metrics.queue_times.observe(j.stages.back().took);
  j.run->phase.store(run_phase::preparing, std::memory_order_release);
  try_next_backend(j);
}

} // namespace troupe
