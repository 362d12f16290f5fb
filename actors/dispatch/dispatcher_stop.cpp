// Runs that end before their backend says so: cancelled, late, without an actor
// that they wait for, or with the engine.
#include "actors/dispatch/dispatcher.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

// -- from outside -------------------------------------------------------------

caf::result<run_status_message>
dispatcher_state::cancel(const active_run_ptr& run) {
  engine_metrics::add(services->metrics.cancelled);
  run->cancel_wanted = true;
  if (auto* j = find(run); j && !j->stop_reason && j->at != stage::settling)
    end_early(*j, exit_reason::cancelled);
  return to_note(describe(*run));
}

void dispatcher_state::on_actor_down(const caf::actor_addr& who) {
  std::vector<active_run_ptr> orphans;
  for (auto& [run, j] : jobs)
    if (j.awaited_actor == who)
      orphans.push_back(j.run);
  for (auto& run : orphans)
    if (auto* j = find(run))
      awaited_actor_died(*j);
}

void dispatcher_state::stop() {
  std::vector<active_run_ptr> all;
  for (auto& [run, j] : jobs)
    all.push_back(j.run);
  for (auto& run : all)
    if (auto* j = find(run)) {
      if (j->at == stage::settling) {
        close(*j); // the ledger stops last: it still writes it
        continue;
      }
      if (j->at == stage::running)
        if (auto* entry = services->backends->find(run->backend))
          entry->backend->cancel(run->id, exit_reason::cancelled);
      // What may have had its effects is not simply to be tried again.
      conclude(*j,
               error{run->may_have_started ? ec::timeout : ec::unavailable,
                     run->may_have_started
                       ? "the engine stopped while the tool ran"
                       : "the engine is stopping; the tool was not started"});
    }
}

// -- deadlines ----------------------------------------------------------------

void dispatcher_state::set_alarm(job& j, clock::time_point when) {
  if (j.alarm)
    alarms.erase(*j.alarm);
  // Deadlines mostly come in order: the end is a good hint.
  j.alarm = alarms.emplace_hint(alarms.end(), when, j.run);
  arm();
}

void dispatcher_state::arm() {
  if (alarms.empty() || alarms.begin()->first >= next_alarm)
    return;
  next_alarm = alarms.begin()->first;
  // CAF's timers cannot be taken back: an old one is told by its number.
  auto delay = std::max<clock::duration>(next_alarm - now(),
                                         std::chrono::milliseconds{1});
  self->delayed_send(self, delay, tick_v, ++alarm_generation);
}

void dispatcher_state::tick(std::uint64_t generation) {
  if (generation != alarm_generation)
    return;
  next_alarm = clock::time_point::max();
  const auto t = now();
  while (!alarms.empty() && alarms.begin()->first <= t) {
    auto run = alarms.begin()->second;
    alarms.erase(alarms.begin());
    auto* j = find(run);
    if (!j)
      continue;
    j->alarm.reset();
    engine_metrics::add(services->metrics.expired);
    if (j->stop_reason)
      expire(*j);
    else
      end_early(*j, exit_reason::wall_timeout);
  }
  arm();
}

// -- ends ---------------------------------------------------------------------

void dispatcher_state::end_early(job& j, exit_reason why) {
  j.stop_reason = why;
  if (j.at == stage::running) {
    // Behind its `start` in the executor's mailbox: it must not overtake it.
    if (j.executor)
      self->send(j.executor, cancel_v, j.run->id, why);
    else if (auto* entry = services->backends->find(j.run->backend))
      entry->backend->cancel(j.run->id, why); // we have inherited it
    set_alarm(j, now() + deadlines.grace);
    return;
  }
  if (why == exit_reason::cancelled)
    return conclude(j, early_result(j, why, "cancelled before it began"));
  error late;
  late.code = ec::exhausted;
  late.text = std::string{"the deadline passed while the run waited for "}
    + (j.at == stage::waiting     ? "its turn"
         : j.at == stage::blocked ? "an executor"
                                  : "its variables or its record")
    + "; the tool was never started";
  late.retry_after = std::chrono::milliseconds{1'000};
  conclude(j, std::move(late));
}

void dispatcher_state::expire(job& j) {
  // It was told to end and did not: nobody waits any longer. A backend that
  // hangs is as bad as one that fails.
  const auto kind = j.run->backend.load();
  if (auto* entry = services->backends->find(kind)) {
    engine_metrics::add(entry->failures);
    entry->failed("it did not end a run that was cancelled", now());
  }
  j.breaker_permit = {};
  conclude(j,
           error{ec::timeout,
                 "the backend did not end the run when it was cancelled; the "
                 "run may still have effects"});
}

void dispatcher_state::awaited_actor_died(job& j) {
  if (j.at == stage::running)
    return adopt_orphaned_run(j);
  error why{ec::unavailable,
            "a part of the engine is restarting; the tool was not started"};
  why.retry_after = std::chrono::milliseconds{1'000};
  conclude(j, std::move(why));
}

std::shared_ptr<run_result> dispatcher_state::early_result(const job& j,
                                                           exit_reason why,
                                                           std::string detail) {
  auto made = make_recycled<run_result>();
  auto& r = *made;
  r.id = j.run->id;
  r.status = run_status::error;
  r.reason = why;
  r.detail = std::move(detail);
  r.backend = j.run->backend;
  r.failure.name = why == exit_reason::cancelled ? "Cancelled"
    : why == exit_reason::wall_timeout           ? "TimeoutError"
                                                 : "Lost";
  r.failure.message = r.detail;
  return made;
}

} // namespace troupe
