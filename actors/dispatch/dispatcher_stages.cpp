#include "actors/context/run_intake.hpp"
#include "actors/dispatch/dispatcher.hpp"
#include "actors/protocol/environment_layers.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

#include <boost/asio/post.hpp>

namespace troupe {

namespace {

/// For an executor that is being started again.
constexpr std::chrono::milliseconds look_again{10};

std::uint32_t executor_number(const active_run& run, std::size_t count) {
  return run.owner % static_cast<std::uint32_t>(count);
}

} // namespace

// -- resolve ------------------------------------------------------------------

void dispatcher_state::resolve_now(job& j) {
  j.at = stage::resolving;
  const auto& request = j.request;
  if (request->args_json.size() <= inline_arguments)
    return resolved(j,
                    resolve(*request, j.config->find(j.run->who.organization),
                            context->options.rules, tools));
  auto work = [home = dispatcher_actor{self}, run = j.run, request,
               config = j.config, shared = context] {
    tool_views none; // ours are not for another thread
    auto what = std::make_shared<result<resolved_run>>(
      error{ec::exhausted, "not enough memory for these arguments"});
    try { // a throw in there would end the process
      *what = resolve(*request, config->find(run->who.organization),
                      shared->options.rules, none);
    } catch (const std::bad_alloc&) {
    }
    caf::anon_send<caf::message_priority::high>(
      home, done_v, resolve_reply{run, std::move(what)});
  };
  boost::asio::post(context->background, std::move(work));
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
  auto verdict = context->gate.enter(j.run->stay, j.run->who.organization,
                                     first, j.request->priority, j.run);
  if (!verdict)
    return conclude(j, std::move(verdict.error()));
  j.run->admitted = true;
  j.its_turn = *verdict == admission::verdict::run;
  j.run->events.append(run_event_kind::accepted);
  if (!j.its_turn)
    j.run->events.append(run_event_kind::queued);
  book(j);
}

// -- the books ----------------------------------------------------------------

void dispatcher_state::book(job& j) {
  // Only what was let in gets this far: the disk is not for who is refused.
  j.at = stage::booking;
  if (j.keyed) {
    const auto& ledger = routes.of(context->routes)->ledger;
    if (!ledger)
      return orphaned(j);
    j.helper = ledger.address();
    self->send(ledger, claim_v, j.run);
    return;
  }
  ledger_entry begun;
  begun.run = j.run;
  const bool taken = enqueue_ledger_entry(
    *context, std::move(begun),
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
                         : error{ec::internal, "the ledger did not answer"});
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
                 "the store could not record the start of the run; the tool "
                 "was not started",
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

// -- run ----------------------------------------------------------------------

void dispatcher_state::launch(job& j, const resolved_variables& found) {
  for (const auto& note : found.notes)
    j.notes.push_back(note);
  auto env = layer_environment(*j.request, j.resolved.tool, j.run->backend,
                               found, context->options.rules);
  if (!env)
    return conclude(j, std::move(env.error()));
  j.prepared->env = std::move(env->variables);
  j.prepared->deadline = j.deadline;
  const auto left
    = std::chrono::duration_cast<std::chrono::milliseconds>(j.deadline - now());
  // The run ends by its own limit before anybody has to end it.
  j.prepared->limits.wall = std::max(std::chrono::milliseconds{1},
                                     std::min(j.prepared->limits.wall, left));
  mark(j, "variables");
  hand_over(j);
}

void dispatcher_state::hand_over(job& j) {
  const auto& line
    = routes.of(context->routes)
        ->executors[static_cast<std::size_t>(j.run->backend.load())];
  executor_actor chosen;
  for (std::size_t i = 0; i < line.size() && !chosen; ++i)
    chosen = line[(executor_number(*j.run, line.size()) + i) % line.size()];
  if (!chosen)
    return park(j);
  j.at = stage::running;
  j.helper = chosen.address();
  j.executor = chosen;
  self->send(chosen, start_v,
             attempt{j.run, j.prepared, j.number, j.pass.probe});
}

/// None is there right now. One that died alone is back in a moment; of those
/// that keep dying the desk says so.
void dispatcher_state::park(job& j) {
  const auto* desk = context->board->find(j.run->backend);
  if (auto ready = desk->ready(); !ready)
    return failed(j, {ec::unavailable, ready.error().text}, false);
  j.at = stage::parked;
  self->delayed_send(self, look_again, turn_v, j.run);
}

/// Its executor has died.
void dispatcher_state::inherit(job& j) {
  j.helper = caf::actor_addr{};
  j.executor = executor_actor{};
  if (j.run->begun_attempt != j.number) {
    if (j.asked_to_end)
      return conclude(
        j, early_result(j, *j.asked_to_end, "ended before the tool began"));
    return hand_over(j);
  }
  // It goes on. The order to end it may have died with the executor.
  if (j.asked_to_end)
    context->board->find(j.run->backend)
      ->carrier->cancel(j.run->id, *j.asked_to_end);
}

void dispatcher_state::ended(attempt_result& end) {
  auto* j = find(end.run);
  if (!j || j->at != stage::running || j->number != end.number)
    return; // an answer that nobody waits for any more
  auto* desk = context->board->find(j->run->backend);
  auto& answer = end.outcome->answer;
  const bool begun = end.outcome->may_have_started || j->run->may_have_started;
  if (!answer)
    return failed(*j, std::move(answer.error()), begun,
                  end.outcome->speaks_of_backend());
  if (!begun && answer->reason == exit_reason::lost)
    return failed(*j, {ec::unavailable, std::move(answer->detail)}, false);
  // A program that cannot be started may be the run's fault or the backend's.
  if (!begun && answer->reason == exit_reason::start_failed)
    desk->breaker.abandoned(j->pass);
  else
    desk->succeeded();
  j->pass = {};
  // The result stays where it is: nobody else has the outcome now.
  std::shared_ptr<run_result> result{end.outcome, &answer.value()};
  if (result->stages.empty())
    mark(*j, "run");
  else
    j->stage_began = now();
  conclude(*j, std::move(result));
}

void dispatcher_state::failed(job& j, error why, bool may_have_started,
                              bool speaks_of_backend) {
  const auto kind = j.run->backend.load();
  auto* desk = context->board->find(kind);
  meters::add(desk->failures);
  const auto pass = std::exchange(j.pass, {});
  // A backend that says that the request is wrong works well. One whose sandbox
  // went away in the middle of a run may do so, too: other runs have theirs. So
  // may one without the packages that this run wanted.
  if (!speaks_of_backend || why.code == ec::invalid_request
      || why.code == ec::not_found || why.code == ec::conflict)
    desk->breaker.abandoned(pass);
  else
    desk->failed(why.text);
  if (j.asked_to_end) {
    if (may_have_started)
      return conclude(j, std::move(why));
    return conclude(
      j, early_result(j, *j.asked_to_end, "ended before the tool began"));
  }
  if (!may_fail_over(why, may_have_started, j.request->idempotent)) {
    if (may_have_started && why.code != ec::invalid_request) {
      // Not "try again": it may have had its effects.
      return conclude(j,
                      early_result(j, exit_reason::lost,
                                   std::string{to_string(kind)}
                                     + " lost the run: " + why.text));
    }
    return conclude(j, std::move(why));
  }
  meters::add(context->meter.failovers);
  mark(j, "failed_" + std::string{to_string(kind)});
  j.trail.push_back({kind, why.text});
  j.run->events.append(run_event_kind::progress,
                       std::string{to_string(kind)} + " failed ("
                         + std::string{to_string(why.code)}
                         + "); trying the next backend");
  ++j.candidate;
  j.executor = executor_actor{};
  j.run->phase.store(run_phase::preparing, std::memory_order_release);
  if (j.candidate < j.plan.candidates.size())
    return try_next_backend(j);
  conclude(j, last_failure(j, std::move(why), may_have_started));
}

/// Nobody is left: what really happened, with its code.
error dispatcher_state::last_failure(const job& j, error why,
                                     bool may_have_started) const {
  const auto kind = j.run->backend.load();
  for (const auto& step : j.trail)
    if (step.backend != kind)
      why.text += "; before, " + std::string{to_string(step.backend)} + ": "
        + step.reason;
  if (j.plan.kept_away.empty())
    return why;
  // Another backend would have done it: this is no matter of the caller's.
  if (!may_have_started)
    why.code = ec::unavailable;
  why.text
    = std::string{to_string(kind)} + ": " + why.text + "; " + j.plan.kept_away;
  why.retry_after = std::max(why.retry_after, next_try(j));
  return why;
}

} // namespace troupe
