#include "actors/executor.hpp"

#include "actors/recycled.hpp"

#include <thread>

namespace troupe {

namespace {

/// One attempt's ear. The backend speaks on any thread.
class attempt_observer final : public run_observer {
public:
  attempt_observer(const executor_state::job& job, executor_actor home,
                   std::uint64_t ticket)
      : run_{job.run}, number_{job.number}, heir_{job.home}, home_{std::move(
                                                               home)},
        ticket_{ticket}, starter_{std::this_thread::get_id()} {}

  void started() override {
    run_->may_have_started = true;
    run_->phase.store(run_phase::running, std::memory_order_release);
    run_->events.append(run_event_kind::started);
  }

  void output(output_stream stream, std::string_view data) override {
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
    auto shared = make_recycled<run_outcome>(std::move(outcome));
    if (in_start_ && std::this_thread::get_id() == starter_) {
      at_once_ = std::move(shared);
      return;
    }
    if (run_->fate.ended(number_, shared))
      caf::anon_send<caf::message_priority::high>(
        heir_, ended_v, attempt_end{run_, number_, std::move(shared)});
    else
      caf::anon_send<caf::message_priority::high>(home_, done_v, ticket_,
                                                  std::move(shared));
  }

  /// What it ended with, when it did so before `start` came back: there is no
  /// need for a letter to ourselves.
  std::shared_ptr<run_outcome> start_is_over() {
    in_start_ = false;
    return std::move(at_once_);
  }

private:
  const live_run_ptr run_;
  const std::uint32_t number_;
  const dispatcher_actor heir_; // should `home_` be dead by then
  const executor_actor home_;
  const std::uint64_t ticket_;
  const std::thread::id starter_;
  std::atomic<bool> finished_{false};
  std::atomic<bool> in_start_{true};
  std::shared_ptr<run_outcome> at_once_; // only the starter's thread sees it
};

} // namespace

void executor_state::start(attempt what) {
  auto home = caf::actor_cast<dispatcher_actor>(self->current_sender());
  if (!home || what.run->phase == run_phase::ended)
    return; // nobody waits for it
  const auto ticket = ++last_ticket;
  what.run->fate.taken(what.number);
  auto kept = jobs.emplace(
    ticket, job{std::move(what.run), what.number, std::move(home)});
  auto observer = std::make_shared<attempt_observer>(
    kept.first->second, executor_actor{self}, ticket);
  try {
    desk->carrier->start(std::move(what.prepared), observer);
  } catch (const std::exception& e) {
    // A backend must not throw. If one does, it may have begun.
    observer->finished(
      {error{ec::internal, std::string{"the backend threw: "} + e.what()},
       true});
  }
  if (auto outcome = observer->start_is_over())
    finish(ticket, std::move(outcome));
}

void executor_state::cancel(const run_id& id, exit_reason why) {
  desk->carrier->cancel(id, why);
}

void executor_state::forget(const live_run_ptr& run) {
  std::erase_if(jobs, [&](const auto& j) { return j.second.run == run; });
}

void executor_state::finish(std::uint64_t ticket,
                            std::shared_ptr<run_outcome> outcome) {
  auto n = jobs.extract(ticket);
  if (!n)
    return;
  meters::add(desk->finished);
  auto& job = n.mapped();
  auto home = std::move(job.home);
  // What can end goes before what wants to begin.
  self->send<caf::message_priority::high>(
    home, ended_v,
    attempt_end{std::move(job.run), job.number, std::move(outcome)});
}

executor_actor::behavior_type
executor(executor_actor::stateful_pointer<executor_state> self,
         context_ptr context, backend_kind kind) {
  auto& state = self->state;
  state.self = self;
  state.desk = context->board->find(kind);
  state.context = std::move(context);
  return {
    [self](start_atom, attempt& what) { self->state.start(std::move(what)); },
    [self](cancel_atom, const run_id& id, exit_reason why) {
      self->state.cancel(id, why);
    },
    [self](gone_atom, const live_run_ptr& run) { self->state.forget(run); },
    [self](done_atom, std::uint64_t ticket,
           std::shared_ptr<run_outcome>& outcome) {
      self->state.finish(ticket, std::move(outcome));
    },
  };
}

} // namespace troupe
