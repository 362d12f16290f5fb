#include "actors/dispatch/dispatcher.hpp"
#include "actors/protocol/environment_layers.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/limit_notes.hpp"

#include <algorithm>

// From a run's turn to the backend that is to have it, with its variables.
namespace troupe {

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

void dispatcher_state::try_next_backend(job& j) {
  // Ends in a letter to the credential actor, in `launch`, or in `conclude`.
  while (j.candidate < j.plan.candidates.size()) {
    const auto kind = j.plan.candidates[j.candidate];
    auto* desk = services->backends->find(kind);
    auto skip = [&](std::string why) {
      say_passed_over(j, kind, std::move(why));
      ++j.candidate;
    };
    if (j.run->stay.backend != kind
        || j.run->stay.now != admission::stay::state::running) {
      std::vector<admission::guest> may_start;
      const bool fits = services->admissions.move(j.run->stay, kind, may_start);
      wake(std::move(may_start));
      if (!fits) {
        skip("full");
        continue;
      }
    }
    if (auto ready = desk->carrier->ready(); !ready) {
      skip("not ready: " + ready.error().text);
      continue;
    }
    j.pass = desk->breaker.allow(now());
    if (!j.pass) {
      skip(why_passed_over(desk->breaker.look(now())));
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
  for (const auto& step : j.trail)
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
void dispatcher_state::say_passed_over(job& j, backend_kind kind,
                                       std::string why) {
  for (auto& step : j.trail)
    if (step.backend == kind) {
      step.reason = std::move(why);
      return;
    }
  j.trail.push_back({kind, std::move(why)});
}

/// When it makes sense to come back.
std::chrono::milliseconds dispatcher_state::next_try(const job& j) const {
  auto soonest = std::chrono::milliseconds::max();
  for (auto kind : j.plan.candidates)
    if (auto* desk = services->backends->find(kind))
      soonest = std::min(soonest, desk->breaker.look(now()).retry_in);
  return std::clamp<std::chrono::milliseconds>(soonest, std::chrono::seconds{1},
                                               std::chrono::minutes{1});
}

// -- environment --------------------------------------------------------------

void dispatcher_state::gather(job& j) {
  j.at = stage::gathering;
  ++j.number;
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
  ask.number = j.number;
  ask.config = j.prepared->config->id;
  ask.tool_name = j.prepared->name;
  const auto& credential = routes.of(services->routes)->credential;
  if (!credential)
    return orphaned(j);
  j.helper = credential.address();
  self->send(credential, gather_v, std::move(ask));
}

void dispatcher_state::gathered(const troupe::gathered& found) {
  auto* j = find(found.run);
  if (!j || j->at != stage::gathering || j->number != found.number)
    return;
  if (found.failure)
    return conclude(*j, *found.failure);
  launch(*j, found.layers);
}

} // namespace troupe
