// The four moments of an end, as the table in dispatcher.hpp has them.
#include "actors/dispatch/dispatcher.hpp"
#include "actors/state/audit_entries.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

bool is_about_load(const error& why) {
  return why.code == ec::exhausted || why.code == ec::unavailable
    || why.code == ec::no_space;
}

} // namespace

/// Whether nobody else has ended it. If somebody had to, what it holds here is
/// still ours, and so is the promise.
bool dispatcher_state::try_claim_end(job& j) {
  if (j.run->claim_end())
    return true;
  release(j);
  const error ended{ec::unavailable, "the run was ended elsewhere", {}, {}};
  if (j.answer.pending())
    j.answer.deliver(to_caf(ended));
  if (j.accepted.pending())
    j.accepted.deliver(to_caf(ended));
  jobs.erase(j.run.get());
  return false;
}

void dispatcher_state::conclude(job& j,
                                result<std::shared_ptr<run_result>> outcome) {
  if (!try_claim_end(j))
    return;
  auto& run = *j.run;
  if (outcome) {
    finish_result(j, **outcome);
    run.outcome = std::move(*outcome);
  } else {
    run.failure = std::make_shared<const error>(std::move(outcome.error()));
  }
  run.ended_at = troupe::now();
  run.phase.store(run_phase::ended, std::memory_order_release);
  const bool must_be_kept = record_end(j);
  release(j);
  if (!must_be_kept)
    return close(j);
  j.at = stage::settling;
  j.awaited_actor = caf::actor_addr{};
}

void dispatcher_state::finish_result(job& j, run_result& r) {
  r.id = j.run->id;
  r.backend = j.run->backend;
  record_stage(j, "answer");
  // What the backend saw comes between what we saw before and after it.
  j.stages.insert(std::prev(j.stages.end()),
                  std::make_move_iterator(r.stages.begin()),
                  std::make_move_iterator(r.stages.end()));
  r.stages = std::move(j.stages);
  r.trail = std::move(j.failover_trail);
  if (r.fingerprint.empty() && j.view)
    r.fingerprint = j.view->fingerprint;
  for (auto* notes : {&j.notes, &j.lowered})
    std::ranges::move(*notes, std::back_inserter(r.notes));
  if (services->kept_files && !r.files.empty() && !j.run->is_linked)
    services->kept_files->take(j.run->who.organization, r);
}

/// True: the answer is to wait until the disk has it.
bool dispatcher_state::record_end(const job& j) {
  const auto& run = *j.run;
  auto& m = services->metrics;
  if (!run.admitted) {
    // Refused ones must not push what ran out of the record.
    if (run.failure)
      engine_metrics::add(is_about_load(*run.failure) ? m.refused : m.rejected);
    return false;
  }
  if (run.outcome) {
    const auto& r = *run.outcome;
    engine_metrics::add(r.status == run_status::success ? m.succeeded
                                                        : m.failed_tools);
    engine_metrics::add(m.ended[static_cast<std::size_t>(r.reason)]);
  } else {
    engine_metrics::add(m.failed_runs);
  }
  const auto took
    = std::chrono::duration_cast<std::chrono::microseconds>(now() - run.began);
  m.run_times.observe(took);
  ledger_entry line;
  line.run = j.run;
  line.request = request_to_keep(j);
  line.audit = audit_of_run(run, j.prepared.get());
  if (j.keyed)
    line.key = fate_of_key(run);
  if (line.key != key_disposition::settle) {
    enqueue_ledger_entry(*services, std::move(line));
    return false;
  }
  return enqueue_ledger_entry(*services, std::move(line), when_persisted(j));
}

void dispatcher_state::release(job& j) {
  if (j.breaker_permit)
    if (auto* entry = services->backends->find(j.run->backend))
      entry->breaker.abandoned(std::exchange(j.breaker_permit, {}));
  if (j.alarm) {
    alarms.erase(*j.alarm);
    j.alarm.reset();
  }
  if (j.keyed)
    keys.erase({j.run->who.organization, j.run->idempotency_key});
  wake(services->admissions.leave(j.run->ticket));
}

/// The last step of every run: tells everybody, and forgets it here.
void dispatcher_state::close(job& j) {
  publish_end(*services, j.run);
  answer_with(j);
  jobs.erase(j.run.get());
}

void dispatcher_state::answer_with(job& j) {
  const auto& run = *j.run;
  if (j.answer.pending()) {
    if (run.outcome) {
      run_answer answer;
      answer.result = run.outcome;
      j.answer.deliver(std::move(answer));
    } else {
      j.answer.deliver(to_caf(*run.failure));
    }
  }
  if (j.accepted.pending()) {
    // It ended before it was accepted.
    if (run.failure)
      j.accepted.deliver(to_caf(*run.failure));
    else
      j.accepted.deliver(to_note(describe(run)));
  }
}

void dispatcher_state::replay(job& j, const run_record& before) {
  if (!try_claim_end(j))
    return;
  engine_metrics::add(services->metrics.replayed);
  auto told = before;
  if (before.result) {
    auto again = make_recycled<run_result>(*before.result);
    again->replayed = true;
    told.result = std::move(again);
  }
  auto& run = *j.run;
  run.outcome = told.result;
  run.failure = told.failure;
  run.ended_at = troupe::now();
  run.phase.store(run_phase::ended, std::memory_order_release);
  release(j);
  // This run never was one: whoever asks finds the one of before.
  if (j.accepted.pending())
    j.accepted.deliver(to_note(told));
  close(j);
}

} // namespace troupe
