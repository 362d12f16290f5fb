#pragma once

#include "actors/engine/engine_internals.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace troupe::test {

/// An engine whose actors move when the test lets them, on its thread, and
/// whose time passes when it says so. A backend that holds a run's thread would
/// hold all of them: let it hold the run.
struct stepped_engine : engine_fixture {
  explicit stepped_engine(scripted_backend::mode how
                          = scripted_backend::mode::answer,
                          engine_options options = {})
      : engine_fixture{how, stepped(std::move(options))} {}

  static engine_options stepped(engine_options options) {
    options.stepped = true;
    options.drain_timeout = std::chrono::milliseconds{0};
    return options;
  }

  /// Until none of them has anything to do.
  void settle() { steps().run(); }
  /// The same of all but one, whose letters wait for it.
  template <class Handle>
  void settle_without(const Handle& one) {
    const auto* its = dynamic_cast<const caf::resumable*>(
      caf::actor_cast<caf::abstract_actor*>(one));
    steps().run_jobs_filtered([its](const auto* job) { return job != its; });
  }
  void pass(std::chrono::nanoseconds time) {
    steps().advance_time(time);
    settle();
  }

  void submit(run_request request, run_answer_box& box) {
    engine().submit(someone(), std::move(request), box.handle(), {});
    settle();
  }
  result<std::shared_ptr<const run_result>> run(run_request request,
                                                caller who = someone()) {
    run_answer_box box;
    engine().submit(std::move(who), std::move(request), box.handle(), {});
    return now(box);
  }
  /// The answer that a question has without any time passing.
  template <class T>
  result<T> now(answer<T>& box) {
    settle();
    if (!box.is_there())
      return error{ec::internal, "nobody answers without more time", {}, {}};
    return box.get();
  }

  std::shared_ptr<const routing> routes() {
    return context_of(*host)->routes.load();
  }
  executor_actor executor(std::size_t number = 0,
                          backend_kind of = backend_kind::local) {
    return routes()->executors[static_cast<std::size_t>(of)][number];
  }
  /// As a bug would end it, without a chance to say good-bye: before anything
  /// that waits in its mailbox, once it moves.
  template <class Handle>
  void kill(const Handle& one) {
    const auto victim = caf::actor_cast<caf::actor>(one);
    caf::anon_send<caf::message_priority::high>(
      victim, caf::exit_msg{victim.address(), caf::exit_reason::kill});
  }

private:
  caf::scheduler::test_coordinator& steps() {
    return static_cast<caf::scheduler::test_coordinator&>(
      system_of(*host)->scheduler());
  }
};

} // namespace troupe::test
