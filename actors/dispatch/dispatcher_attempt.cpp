// From a run's turn to what came of it, at one backend after the other.
#include "actors/dispatch/dispatcher.hpp"
#include "actors/protocol/environment_layers.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/limit_notes.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// For an executor that is being started again.
constexpr std::chrono::milliseconds look_again{10};

std::uint32_t executor_number(const active_run& run, std::size_t count) {
  return run.owner % static_cast<std::uint32_t>(count);
}

} // namespace

// -- the next backend ---------------------------------------------------------

void dispatcher_state::try_next_backend(job& j) {
  // Ends in a letter to the credential actor, in `launch`, or in `conclude`.
  while (j.candidate < j.plan.candidates.size()) {
    const auto kind = j.plan.candidates[j.candidate];
    auto* entry = services->backends->find(kind);
    auto skip = [&](std::string why) {
      say_passed_over(j, kind, std::move(why));
      ++j.candidate;
    };
    if (j.run->ticket.backend != kind
        || j.run->ticket.now != admission::ticket::state::running) {
      std::vector<admission::waiter> may_start;
      const bool fits
        = services->admissions.move(j.run->ticket, kind, may_start);
      wake(std::move(may_start));
      if (!fits) {
        skip("full");
        continue;
      }
    }
    if (auto ready = entry->backend->ready(); !ready) {
      skip("not ready: " + ready.error().text);
      continue;
    }
    j.breaker_permit = entry->breaker.allow(now());
    if (!j.breaker_permit) {
      skip(why_passed_over(entry->breaker.look(now())));
      continue;
    }
    j.run->backend = kind;
    auto view = j.run->sent_config
      ? views.find_sent(*j.run->sent_config, j.run->who.organization, *rules)
      : views.find(*j.request, kind, j.config->find(j.run->who.organization),
                   *rules);
    if (!view)
      return conclude(j, std::move(view.error()));
    // The last backend may still look at what it got.
    auto prepared = j.prepared ? make_recycled<prepared_run>(*j.prepared)
                               : std::move(j.resolved.base);
    auto fitted = fit(*prepared, j.resolved, *j.request, **view, *rules);
    if (!fitted)
      return conclude(j, std::move(fitted.error()));
    j.lowered = notes_on_lowered(j.request->limits, prepared->limits);
    j.view = *view;
    j.prepared = std::move(prepared);
    return gather(j);
  }
  error none{ec::unavailable, "no backend could take the run"};
  for (const auto& step : j.failover_trail)
    none.text
      += "; " + std::string{to_string(step.backend)} + ": " + step.reason;
  if (!j.plan.kept_away.empty())
    none.text += "; " + j.plan.kept_away;
  none.retry_after = next_try(j);
  if (j.run->may_have_started)
    none.code = ec::timeout; // look before trying again
  conclude(j, std::move(none));
}

/// Once per backend: who was passed over and is met again is no news.
void dispatcher_state::say_passed_over(job& j, backend_name kind,
                                       std::string why) {
  for (auto& step : j.failover_trail)
    if (step.backend == kind) {
      step.reason = std::move(why);
      return;
    }
  j.failover_trail.push_back({kind, std::move(why)});
}

/// When it makes sense to come back.
std::chrono::milliseconds dispatcher_state::next_try(const job& j) const {
  auto soonest = std::chrono::milliseconds::max();
  for (auto kind : j.plan.candidates)
    if (auto* entry = services->backends->find(kind))
      soonest = std::min(soonest, entry->breaker.look(now()).retry_in);
  return std::clamp<std::chrono::milliseconds>(soonest, std::chrono::seconds{1},
                                               std::chrono::minutes{1});
}

// -- environment --------------------------------------------------------------

void dispatcher_state::gather(job& j) {
  j.at = stage::gathering;
  ++j.attempt_number;
  if (j.run->sent_config) // all its variables came with it
    return launch(j, resolved_variables{});
  const auto* catalog = j.config->find(j.run->who.organization);
  const bool sealed = catalog
    && (catalog->variables.contains(j.prepared->config->id)
        || (!j.request->agent_id.empty()
            && catalog->agent_variables.contains(j.request->agent_id)));
  if (!sealed && !webhook)
    return launch(j, resolved_variables{});
  gather_request ask;
  ask.run = j.run;
  ask.number = j.attempt_number;
  ask.config = j.prepared->config->id;
  ask.tool_name = j.prepared->name;
  const auto& credential = routes.of(services->routes)->credential;
  if (!credential)
    return awaited_actor_died(j);
  j.awaited_actor = credential.address();
  self->send(credential, gather_v, std::move(ask));
}

void dispatcher_state::gathered(const troupe::gathered& found) {
  auto* j = find(found.run);
  if (!j || j->at != stage::gathering || j->attempt_number != found.number)
    return;
  if (found.failure)
    return conclude(*j, *found.failure);
  launch(*j, found.layers);
}

// -- run ----------------------------------------------------------------------

void dispatcher_state::launch(job& j, const resolved_variables& found) {
  for (const auto& note : found.notes)
    j.notes.push_back(note);
  auto env = layer_environment(*j.request, j.resolved.tool, j.run->backend,
                               found, *rules);
  if (!env)
    return conclude(j, std::move(env.error()));
  j.prepared->env = std::move(env->variables);
  j.prepared->deadline = j.deadline;
  const auto left
    = std::chrono::duration_cast<std::chrono::milliseconds>(j.deadline - now());
  // The run ends by its own limit before anybody has to end it.
  j.prepared->limits.wall = std::max(std::chrono::milliseconds{1},
                                     std::min(j.prepared->limits.wall, left));
  record_stage(j, "variables");
  send_to_executor(j);
}

void dispatcher_state::send_to_executor(job& j) {
  const auto& line
    = routes.of(services->routes)->executors[j.run->backend.load().index()];
  executor_actor chosen;
  for (std::size_t i = 0; i < line.size() && !chosen; ++i)
    chosen = line[(executor_number(*j.run, line.size()) + i) % line.size()];
  if (!chosen)
    return wait_for_executor(j);
  j.at = stage::running;
  j.awaited_actor = chosen.address();
  j.executor = chosen;
  self->send(
    chosen, start_v,
    attempt{j.run, j.prepared, j.attempt_number, j.breaker_permit.probe});
}

/// None is there right now. One that died alone is back in a moment; of those
/// that keep dying the entry says so.
void dispatcher_state::wait_for_executor(job& j) {
  const auto* entry = services->backends->find(j.run->backend);
  if (auto ready = entry->ready(now()); !ready)
    return failed(j, {ec::unavailable, ready.error().text}, false);
  j.at = stage::blocked;
  self->delayed_send(self, look_again, turn_v, j.run);
}

/// Its executor has died.
void dispatcher_state::adopt_orphaned_run(job& j) {
  j.awaited_actor = caf::actor_addr{};
  j.executor = executor_actor{};
  if (j.run->begun_attempt != j.attempt_number) {
    if (j.stop_reason)
      return conclude(
        j, early_result(j, *j.stop_reason, "ended before the tool began"));
    return send_to_executor(j);
  }
  // It goes on. The order to end it may have died with the executor.
  if (j.stop_reason)
    services->backends->find(j.run->backend)
      ->backend->cancel(j.run->id, *j.stop_reason);
}

// -- what came of it ----------------------------------------------------------

void dispatcher_state::ended(attempt_result& end) {
  auto* j = find(end.run);
  if (!j || j->at != stage::running || j->attempt_number != end.number)
    return; // an answer that nobody waits for any more
  auto* entry = services->backends->find(j->run->backend);
  auto& answer = end.outcome->answer;
  const bool begun = end.outcome->may_have_started || j->run->may_have_started;
  if (!answer)
    return failed(*j, std::move(answer.error()), begun,
                  end.outcome->counts_against_backend());
  if (!begun && answer->reason == exit_reason::lost)
    return failed(*j, {ec::unavailable, std::move(answer->detail)}, false);
  // A program that cannot be started may be the run's fault or the backend's.
  if (!begun && answer->reason == exit_reason::start_failed)
    entry->breaker.abandoned(j->breaker_permit);
  else
    entry->succeeded(now());
  j->breaker_permit = {};
  // The result stays where it is: nobody else has the outcome now.
  std::shared_ptr<run_result> result{end.outcome, &answer.value()};
  if (result->stages.empty())
    record_stage(*j, "run");
  else
    j->stage_began = now();
  conclude(*j, std::move(result));
}

void dispatcher_state::failed(job& j, error why, bool may_have_started,
                              bool counts_against_backend) {
  const auto kind = j.run->backend.load();
  auto* entry = services->backends->find(kind);
  engine_metrics::add(entry->failures);
  const auto pass = std::exchange(j.breaker_permit, {});
  // A backend that says that the request is wrong works well. One whose sandbox
  // went away in the middle of a run may do so, too: other runs have theirs. So
  // may one without the packages that this run wanted.
  if (!counts_against_backend || why.code == ec::invalid_request
      || why.code == ec::not_found || why.code == ec::conflict)
    entry->breaker.abandoned(pass);
  else
    entry->failed(why.text, now());
  if (j.stop_reason) {
    if (may_have_started)
      return conclude(j, std::move(why));
    return conclude(
      j, early_result(j, *j.stop_reason, "ended before the tool began"));
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
  engine_metrics::add(services->metrics.failovers);
  record_stage(j, "failed_" + std::string{to_string(kind)});
  j.failover_trail.push_back({kind, why.text});
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
  for (const auto& step : j.failover_trail)
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
