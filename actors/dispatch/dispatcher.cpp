#include "actors/dispatch/dispatcher.hpp"

#include "actors/caf/look_ahead.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

constexpr std::size_t usual_stages = 6; // resolve, queue, ... answer

} // namespace

dispatcher_services::dispatcher_services(const context_ptr& engine)
    : services{engine}, configuration{engine->configuration},
      rules{engine, &engine->options.rules},
      deadlines{engine->options.deadlines},
      refuses_without_record{engine->options.ledger.policy
                             == ledger_rules::when_full::refuse},
      most_request_bytes{engine->options.ledger.request_bytes},
      background{engine, &engine->background} {
  if (engine->options.webhook)
    webhook = engine->options.credentials.webhook_timeout;
}

// -- from outside -------------------------------------------------------------

caf::result<run_answer> dispatcher_state::run(active_run_ptr& what) {
  error why;
  auto* j = accept_run(what, false, why);
  if (!j)
    return to_caf(std::move(why));
  auto promise = self->make_response_promise<run_answer>();
  j->answer = promise;
  begin(*j); // may end the job at once
  return promise;
}

caf::result<run_status_message> dispatcher_state::start(active_run_ptr& what) {
  error why;
  auto* j = accept_run(what, true, why);
  if (!j)
    return to_caf(std::move(why));
  auto promise = self->make_response_promise<run_status_message>();
  j->accepted = promise;
  begin(*j);
  return promise;
}

// -- intake -------------------------------------------------------------------

dispatcher_state::job* dispatcher_state::accept_run(active_run_ptr& run,
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
  j.config = config.of(configuration->current());
  const auto& request = *j.request;
  auto patience = request.deadline;
  if (patience.count() <= 0)
    patience = request.limits.wall.value_or(rules->defaults.wall)
      + deadlines.allowance;
  j.deadline = j.run->began + std::min(patience, deadlines.longest);
  set_alarm(j, j.deadline);
  return &j;
}

void dispatcher_state::begin(job& j) {
  if (j.run->cancel_wanted)
    return end_early(j, exit_reason::cancelled);
  if (services->draining)
    return conclude(j,
                    error{ec::unavailable,
                          "the engine is stopping; try another node",
                          {},
                          std::chrono::milliseconds{1'000}});
  if (refuses_without_record && !services->to_ledger.room())
    return conclude(j, unrecorded(ec::exhausted));
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

/// A run whose start could not be written down does not begin.
error dispatcher_state::unrecorded(ec why) const {
  error e{why,
          "the store could not record the start of the run; the tool was not "
          "started: try again later",
          {},
          std::chrono::milliseconds{1'000}};
  if (services->disk_is_full) {
    e.code = ec::no_space;
    e.text
      = "the disk is full: the start of the run could not be recorded, and "
        "the tool was not started; free space on it";
  }
  return e;
}

dispatcher_state::job* dispatcher_state::find(const active_run_ptr& run) {
  auto i = jobs.find(run.get());
  return i == jobs.end() ? nullptr : &i->second;
}

void dispatcher_state::record_stage(job& j, std::string_view stage_name) {
  auto t = now();
  j.stages.push_back(
    {std::string{stage_name},
     std::chrono::duration_cast<std::chrono::microseconds>(t - j.stage_began)});
  j.stage_began = t;
}

void dispatcher_state::wake(std::vector<admission::waiter> waiters) {
  if (waiters.empty())
    return;
  const auto& line = routes.of(services->routes)->dispatchers;
  for (auto& waiter : waiters) {
    auto run = std::static_pointer_cast<active_run>(std::move(waiter));
    if (run->owner == index)
      self->send<caf::message_priority::high>(self, turn_v, std::move(run));
    else if (run->owner < line.size())
      self->send<caf::message_priority::high>(line[run->owner], turn_v,
                                              std::move(run));
  }
}

backend_viewer dispatcher_state::viewer() const {
  return [this](backend_name kind) {
    backend_view view;
    auto* entry = services->backends->find(kind);
    if (!entry)
      return view;
    view.configured = true;
    if (auto ready = entry->ready(now()); !ready)
      view.not_ready = ready.error().text;
    static_cast<circuit_breaker::picture&>(view) = entry->breaker.look(now());
    return view;
  };
}

// -- behaviour ----------------------------------------------------------------

dispatcher_actor::behavior_type
dispatcher(dispatcher_actor::stateful_pointer<dispatcher_state> self,
           dispatcher_services services, std::uint32_t index) {
  auto& state = self->state;
  state.self = self;
  static_cast<dispatcher_services&>(state) = std::move(services);
  state.index = index;
  self->set_exit_handler([self](caf::exit_msg& m) {
    self->state.stop();
    self->quit(std::move(m.reason));
  });
  return {
    [self](run_atom, active_run_ptr& run) {
      look_ahead::into(*self);
      return self->state.run(run);
    },
    [self](start_atom, active_run_ptr& run) { return self->state.start(run); },
    [self](cancel_atom, const active_run_ptr& run) {
      return self->state.cancel(run);
    },
    [self](explain_atom, const active_run_ptr& run) {
      return self->state.explain(run);
    },
    [self](admitted_atom, const active_run_ptr& run) {
      if (auto* j = self->state.find(run))
        self->state.on_admitted(*j);
    },
    [self](gather_atom, const gathered& found) { self->state.gathered(found); },
    [self](claim_atom, const key_claim_result& reply) {
      self->state.on_key_claimed(reply);
    },
    [self](kept_atom, const active_run_ptr& run, bool well) {
      self->state.on_persisted(run, well);
    },
    [self](ended_atom, attempt_result& end) { self->state.ended(end); },
    [self](done_atom, const resolve_reply& reply) {
      if (auto* j = self->state.find(reply.run))
        self->state.resolved(*j, std::move(*reply.what));
    },
    [self](gone_atom, const caf::actor_addr& who) {
      self->state.on_actor_down(who);
    },
    [self](tick_atom, std::uint64_t generation) {
      self->state.tick(generation);
    },
  };
}

} // namespace troupe
