#include "actors/dispatch/dispatcher.hpp"

#include "actors/caf/look_ahead.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

constexpr std::size_t usual_stages = 6; // resolve, queue, ... answer

} // namespace

// -- from outside -------------------------------------------------------------

caf::result<run_answer> dispatcher_state::run(live_run_ptr& what) {
  error why;
  auto* j = accept_run(what, false, why);
  if (!j)
    return to_caf(std::move(why));
  auto promise = self->make_response_promise<run_answer>();
  j->answer = promise;
  begin(*j); // may end the job at once
  return promise;
}

caf::result<run_status_message> dispatcher_state::start(live_run_ptr& what) {
  error why;
  auto* j = accept_run(what, true, why);
  if (!j)
    return to_caf(std::move(why));
  auto promise = self->make_response_promise<run_status_message>();
  j->accepted = promise;
  begin(*j);
  return promise;
}

caf::result<run_status_message>
dispatcher_state::cancel(const live_run_ptr& run) {
  meters::add(context->meter.cancelled);
  run->cancel_wanted = true;
  if (auto* j = find(run); j && !j->asked_to_end && j->at != stage::settling)
    end_early(*j, exit_reason::cancelled);
  return to_note(describe(*run));
}

void dispatcher_state::gone(const caf::actor_addr& who) {
  std::vector<live_run_ptr> orphans;
  for (auto& [run, j] : jobs)
    if (j.helper == who)
      orphans.push_back(j.run);
  for (auto& run : orphans)
    if (auto* j = find(run))
      orphaned(*j);
}

void dispatcher_state::orphaned(job& j) {
  if (j.at == stage::running)
    return inherit(j);
  error why{ec::unavailable,
            "a part of the engine is restarting; the tool was not started"};
  why.retry_after = std::chrono::milliseconds{1'000};
  conclude(j, std::move(why));
}

void dispatcher_state::tick(std::uint64_t generation) {
  if (generation != alarm_generation)
    return;
  armed_for = clock::time_point::max();
  const auto t = now();
  while (!alarms.empty() && alarms.begin()->first <= t) {
    auto run = alarms.begin()->second;
    alarms.erase(alarms.begin());
    auto* j = find(run);
    if (!j)
      continue;
    j->alarm.reset();
    meters::add(context->meter.expired);
    if (j->asked_to_end)
      give_up(*j);
    else
      end_early(*j, exit_reason::wall_timeout);
  }
  arm();
}

void dispatcher_state::stop() {
  std::vector<live_run_ptr> all;
  for (auto& [run, j] : jobs)
    all.push_back(j.run);
  for (auto& run : all)
    if (auto* j = find(run)) {
      if (j->at == stage::settling) {
        close(*j); // the ledger stops last: it still writes it
        continue;
      }
      if (j->at == stage::running)
        if (auto* desk = context->board->find(run->backend))
          desk->carrier->cancel(run->id, exit_reason::cancelled);
      // What may have had its effects is not simply to be tried again.
      conclude(*j,
               error{run->may_have_started ? ec::timeout : ec::unavailable,
                     run->may_have_started
                       ? "the engine stopped while the tool ran"
                       : "the engine stops; the tool was not started"});
    }
}

// -- intake -------------------------------------------------------------------

dispatcher_state::job* dispatcher_state::accept_run(live_run_ptr& run,
                                                    bool detached, error& why) {
  auto wanted = run->request();
  if (!wanted) {
    why = {ec::conflict, "this run has already ended"};
    return nullptr;
  }
  auto [i, fresh] = jobs.try_emplace(run.get());
  if (!fresh) {
    why = {ec::conflict, "this run is already in progress"};
    return nullptr;
  }
  auto& j = i->second;
  j.run = std::move(run);
  j.request = std::move(wanted);
  j.detached = detached;
  j.stages.reserve(usual_stages);
  j.stage_began = j.run->began;
  j.config = config.of(context->config);
  const auto& request = *j.request;
  const auto& rules = context->options.deadlines;
  auto patience = request.deadline;
  if (patience.count() <= 0)
    patience
      = request.limits.wall.value_or(context->options.rules.defaults.wall)
      + rules.allowance;
  j.deadline = j.run->began + std::min(patience, rules.longest);
  set_alarm(j, j.deadline);
  return &j;
}

void dispatcher_state::begin(job& j) {
  if (j.run->cancel_wanted)
    return end_early(j, exit_reason::cancelled);
  if (context->draining)
    return conclude(j,
                    error{ec::unavailable,
                          "the engine is stopping; try another node",
                          {},
                          std::chrono::milliseconds{1'000}});
  if (context->options.ledger.policy == ledger_rules::when_full::refuse
      && !context->to_ledger.room())
    return conclude(
      j,
      error{ec::exhausted,
            "the store cannot record more runs at the moment; try again later",
            {},
            std::chrono::milliseconds{1'000}});
  const auto& request = *j.request;
  if (!request.idempotency_key.empty()) {
    auto [i, fresh] = keys.try_emplace(
      std::pair{j.run->who.organization, request.idempotency_key}, j.run);
    if (!fresh)
      return conclude(j,
                      error{ec::conflict,
                            "a request with this idempotency key is still "
                            "running as "
                              + i->second->id.str()
                              + "; wait for it, or cancel it"});
    j.keyed = true;
  }
  resolve_now(j);
}

// -- helpers ------------------------------------------------------------------

dispatcher_state::job* dispatcher_state::find(const live_run_ptr& run) {
  auto i = jobs.find(run.get());
  return i == jobs.end() ? nullptr : &i->second;
}

void dispatcher_state::mark(job& j, std::string_view stage_name) {
  auto t = now();
  j.stages.push_back(
    {std::string{stage_name},
     std::chrono::duration_cast<std::chrono::microseconds>(t - j.stage_began)});
  j.stage_began = t;
}

void dispatcher_state::set_alarm(job& j, clock::time_point when) {
  if (j.alarm)
    alarms.erase(*j.alarm);
  // Deadlines mostly come in order: the end is a good hint.
  j.alarm = alarms.emplace_hint(alarms.end(), when, j.run);
  arm();
}

void dispatcher_state::arm() {
  if (alarms.empty() || alarms.begin()->first >= armed_for)
    return;
  armed_for = alarms.begin()->first;
  // CAF's timers cannot be taken back: an old one is told by its number.
  auto delay = std::max<clock::duration>(armed_for - now(),
                                         std::chrono::milliseconds{1});
  self->delayed_send(self, delay, tick_v, ++alarm_generation);
}

void dispatcher_state::wake(std::vector<admission::guest> guests) {
  if (guests.empty())
    return;
  const auto& line = routes.of(context->routes)->dispatchers;
  for (auto& guest : guests) {
    auto run = std::static_pointer_cast<active_run>(std::move(guest));
    if (run->owner == index)
      self->send<caf::message_priority::high>(self, turn_v, std::move(run));
    else if (run->owner < line.size())
      self->send<caf::message_priority::high>(line[run->owner], turn_v,
                                              std::move(run));
  }
}

backend_viewer dispatcher_state::viewer() const {
  return [this](backend_kind kind) {
    backend_view view;
    auto* desk = context->board->find(kind);
    if (!desk)
      return view;
    view.configured = true;
    if (auto ready = desk->ready(); !ready)
      view.not_ready = ready.error().text;
    static_cast<circuit_breaker::picture&>(view) = desk->breaker.look(now());
    return view;
  };
}

// -- behaviour ----------------------------------------------------------------

dispatcher_actor::behavior_type
dispatcher(dispatcher_actor::stateful_pointer<dispatcher_state> self,
           context_ptr context, std::uint32_t index) {
  auto& state = self->state;
  state.self = self;
  state.context = std::move(context);
  state.index = index;
  self->set_exit_handler([self](caf::exit_msg& m) {
    self->state.stop();
    self->quit(std::move(m.reason));
  });
  return {
    [self](run_atom, live_run_ptr& run) {
      look_ahead::into(*self);
      return self->state.run(run);
    },
    [self](start_atom, live_run_ptr& run) { return self->state.start(run); },
    [self](cancel_atom, const live_run_ptr& run) {
      return self->state.cancel(run);
    },
    [self](explain_atom, const live_run_ptr& run) {
      return self->state.explain(run);
    },
    [self](admitted_atom, const live_run_ptr& run) {
      if (auto* j = self->state.find(run))
        self->state.turn(*j);
    },
    [self](gather_atom, const gathered& found) { self->state.gathered(found); },
    [self](claim_atom, const key_claim_result& reply) {
      self->state.claimed(reply);
    },
    [self](kept_atom, const live_run_ptr& run, bool well) {
      self->state.kept(run, well);
    },
    [self](ended_atom, attempt_result& end) { self->state.ended(end); },
    [self](done_atom, const resolve_reply& reply) {
      if (auto* j = self->state.find(reply.run))
        self->state.resolved(*j, std::move(*reply.what));
    },
    [self](gone_atom, const caf::actor_addr& who) { self->state.gone(who); },
    [self](tick_atom, std::uint64_t generation) {
      self->state.tick(generation);
    },
  };
}

} // namespace troupe
