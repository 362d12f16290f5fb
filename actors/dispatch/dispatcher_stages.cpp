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
  if (request->args_json.size() <= inline_arguments)
    return resolved(j,
                    resolve(*request, j.config->find(j.run->who.organization),
                            *rules, tools));
  auto work = [home = dispatcher_actor{self}, run = j.run, request,
               config = j.config, rules = rules] {
    tool_views none; // ours are not for another thread
    auto what = std::make_shared<result<resolved_run>>(
      error{ec::exhausted, "there is no memory for these arguments"});
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
  j.trail = std::move(j.plan.passed_over);
  mark(j, "resolve");
  j.at = stage::waiting;
  const auto first = j.plan.candidates.front();
  j.run->backend = first;
  auto verdict = services->admissions.enter(
    j.run->stay, j.run->who.organization, first, j.request->priority, j.run);
  if (!verdict)
    return conclude(j, std::move(verdict.error()));
  j.run->admitted = true;
  j.its_turn = *verdict == admission::verdict::run;
  j.run->events.append(run_event_kind::accepted);
  if (!j.its_turn)
    j.run->events.append(run_event_kind::queued);
  book(j);
}

// -- the record ---------------------------------------------------------------

void dispatcher_state::book(job& j) {
  // Only what was let in gets this far: the disk is not for who is refused.
  j.at = stage::booking;
  if (j.keyed) {
    const auto& ledger = routes.of(services->routes)->ledger;
    if (!ledger)
      return orphaned(j);
    j.helper = ledger.address();
    self->send(ledger, claim_v, j.run);
    return;
  }
  ledger_entry begun;
  begun.run = j.run;
  const bool taken = enqueue_ledger_entry(
    *services, std::move(begun),
    j.detached ? tell_kept(j) : std::function<void(bool)>{});
  if (!j.detached)
    return booked(j); // nobody is told before it has ended
  if (!taken)
    kept(j.run, false);
}

std::function<void(bool)> dispatcher_state::tell_kept(const job& j) {
  return [home = dispatcher_actor{self}, run = j.run](bool well) {
    caf::anon_send(home, kept_v, run, well);
  };
}

void dispatcher_state::claimed(const key_claim_result& reply) {
  auto* j = find(reply.run);
  if (!j || j->at != stage::booking)
    return;
  j->helper = caf::actor_addr{};
  if (reply.fresh)
    return booked(*j); // that it begins was written with the claim
  // Not ours: what was claimed stays as it is.
  keys.erase({j->run->who.organization, j->run->idempotency_key});
  j->keyed = false;
  j->run->admitted = false;
  if (reply.before)
    return replay(*j, *reply.before);
  conclude(*j,
           reply.failure ? *reply.failure
                         : error{ec::internal, "the ledger said nothing"});
}

void dispatcher_state::kept(const live_run_ptr& run, bool well) {
  auto* j = find(run);
  if (!j)
    return;
  if (j->at == stage::settling)
    return close(*j); // also when it was not kept: it ran, that is what counts
  if (j->at != stage::booking)
    return;
  if (well)
    return booked(*j);
  conclude(*j,
           error{ec::unavailable,
                 "the store could not write down that the run begins; the "
                 "tool was not started",
                 {},
                 std::chrono::milliseconds{1'000}});
}

void dispatcher_state::booked(job& j) {
  j.at = stage::waiting;
  if (j.accepted.pending())
    j.accepted.deliver(to_note(describe(*j.run)));
  if (j.its_turn)
    turn(j);
}

// -- the turn -----------------------------------------------------------------

void dispatcher_state::turn(job& j) {
  if (j.at == stage::parked)
    return hand_over(j);
  if (j.at == stage::booking)
    j.its_turn = true;
  if (j.at != stage::waiting)
    return;
  mark(j, "queue");
  j.run->phase.store(run_phase::preparing, std::memory_order_release);
  try_next_backend(j);
}

} // namespace troupe
