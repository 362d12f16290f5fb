#include "actors/dispatch/executor.hpp"

#include "actors/state/object_pool.hpp"

#include <atomic>

namespace troupe {

namespace {

/// Hears of one attempt, on any thread, and tells the dispatcher alone: the
/// end of an attempt neither waits for its executor nor is lost with it.
class attempt_observer final : public run_observer {
public:
  attempt_observer(const attempt& what, dispatcher_actor home,
                   run_services_ptr services, backend_entry& entry)
      : run_{what.run}, number_{what.number}, probe_{what.probe},
        home_{std::move(home)}, services_{std::move(services)}, entry_{entry} {}

  void started() override {
    if (started_.exchange(true))
      return; // its first output said so
    run_->may_have_started = true;
    run_->phase.store(run_phase::running, std::memory_order_release);
    run_->events.append(run_event_kind::started);
    // It has begun there, which is all that was to be seen: the others need not
    // wait for an hour's run to end.
    if (probe_)
      entry_.succeeded(services_->now());
  }

  void output(output_stream stream, std::string_view data) override {
    if (!started_)
      started();
    run_->events.append(stream == output_stream::out ? run_event_kind::out
                                                     : run_event_kind::err,
                        data);
  }

  void progress(std::string_view line) override {
    run_->events.append(run_event_kind::progress, line);
  }

  void finished(run_outcome outcome) override {
    if (finished_.exchange(true))
      return; // a backend that says it twice is heard once
    engine_metrics::add(entry_.finished);
    // What can end goes before what wants to begin.
    caf::anon_send<caf::message_priority::high>(
      home_, ended_v,
      attempt_result{run_, number_,
                     make_recycled<run_outcome>(std::move(outcome))});
  }

private:
  const active_run_ptr run_;
  const std::uint32_t number_;
  const bool probe_;
  const dispatcher_actor home_;
  const run_services_ptr services_; // whose the entry is
  backend_entry& entry_;
  std::atomic<bool> started_{false};
  std::atomic<bool> finished_{false};
};

} // namespace

void executor_state::start(const attempt& what) {
  auto home = caf::actor_cast<dispatcher_actor>(self->current_sender());
  if (!home || what.run->phase == run_phase::ended)
    return; // nobody waits for it
  auto observer = std::make_shared<attempt_observer>(what, std::move(home),
                                                     services, *entry);
  what.run->begun_attempt = what.number;
  try {
    entry->backend->start(what.prepared, observer);
  } catch (const std::exception& e) {
    // A backend must not throw. If one does, it may have begun.
    observer->finished(
      {error{ec::internal, std::string{"the backend threw: "} + e.what()},
       true});
  }
}

void executor_state::cancel(const run_id& id, exit_reason why) {
  entry->backend->cancel(id, why);
}

executor_actor::behavior_type
executor(executor_actor::stateful_pointer<executor_state> self,
         run_services_ptr services, backend_name kind) {
  auto& state = self->state;
  state.self = self;
  state.entry = services->backends->find(kind);
  state.services = std::move(services);
  return {
    [self](start_atom, const attempt& what) { self->state.start(what); },
    [self](cancel_atom, const run_id& id, exit_reason why) {
      self->state.cancel(id, why);
    },
  };
}

} // namespace troupe
