#include "actors/dispatch/dispatcher.hpp"
#include "actors/state/audit_entries.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

bool is_about_load(const error& why) {
  return why.code == ec::exhausted || why.code == ec::unavailable;
}

} // namespace

void dispatcher_state::end_early(job& j, exit_reason why) {
  j.asked_to_end = why;
  if (j.at == stage::running) {
    // Behind its `start` in the executor's mailbox: it must not overtake it.
    if (j.executor)
      self->send(j.executor, cancel_v, j.run->id, why);
    else if (auto* desk = context->board->find(j.run->backend))
      desk->carrier->cancel(j.run->id, why); // we have inherited it
    set_alarm(j, now() + context->options.deadlines.grace);
    return;
  }
  if (why == exit_reason::cancelled)
    return conclude(j, early_result(j, why, "cancelled before it began"));
  error late;
  late.code = ec::exhausted;
  late.text = std::string{"the deadline passed while the run waited for "}
    + (j.at == stage::waiting    ? "its turn"
         : j.at == stage::parked ? "an executor"
                                 : "its variables or its record")
    + "; the tool was never started";
  late.retry_after = std::chrono::milliseconds{1'000};
  conclude(j, std::move(late));
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

void dispatcher_state::give_up(job& j) {
  // It was told to end and did not: nobody waits any longer. A backend that
  // hangs is as bad as one that fails.
  const auto kind = j.run->backend.load();
  if (auto* desk = context->board->find(kind)) {
    meters::add(desk->failures);
    desk->failed("it did not end a run that was cancelled");
  }
  j.pass = {};
  conclude(j,
           error{ec::timeout,
                 "the backend did not end the run when it was cancelled; the "
                 "run may still have effects"});
}

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
    complete(j, **outcome);
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
  j.helper = caf::actor_addr{};
}

void dispatcher_state::complete(job& j, run_result& r) {
  r.id = j.run->id;
  r.backend = j.run->backend;
  mark(j, "answer");
  // What the backend saw comes between what we saw before and after it.
  j.stages.insert(std::prev(j.stages.end()),
                  std::make_move_iterator(r.stages.begin()),
                  std::make_move_iterator(r.stages.end()));
  r.stages = std::move(j.stages);
  r.trail = std::move(j.trail);
  if (r.fingerprint.empty() && j.view)
    r.fingerprint = j.view->fingerprint;
  for (auto* notes : {&j.notes, &j.lowered})
    std::ranges::move(*notes, std::back_inserter(r.notes));
}

void dispatcher_state::replay(job& j, const run_record& before) {
  if (!try_claim_end(j))
    return;
  meters::add(context->meter.replayed);
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

/// The last step of every run: tells everybody, and forgets it here.
void dispatcher_state::close(job& j) {
  publish_end(*context, j.run);
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

/// True: the answer is to wait until the disk has it.
bool dispatcher_state::record_end(const job& j) {
  const auto& run = *j.run;
  auto& m = context->meter;
  if (!run.admitted) {
    // Refused ones must not push what ran out of the record.
    if (run.failure)
      meters::add(is_about_load(*run.failure) ? m.refused : m.rejected);
    return false;
  }
  if (run.outcome) {
    const auto& r = *run.outcome;
    meters::add(r.status == run_status::success ? m.succeeded : m.failed_tools);
    meters::add(m.ended[static_cast<std::size_t>(r.reason)]);
  } else {
    meters::add(m.failed_runs);
  }
  const auto took
    = std::chrono::duration_cast<std::chrono::microseconds>(now() - run.began);
  m.observe(took);
  ledger_entry line;
  line.run = j.run;
  line.audit = audit_of_run(run, j.prepared.get());
  if (j.keyed)
    line.key = fate_of_key(run);
  if (line.key != key_disposition::settle) {
    enqueue_ledger_entry(*context, std::move(line));
    return false;
  }
  return enqueue_ledger_entry(*context, std::move(line), tell_kept(j));
}

void dispatcher_state::release(job& j) {
  if (j.pass)
    if (auto* desk = context->board->find(j.run->backend))
      desk->breaker.abandoned(std::exchange(j.pass, {}));
  if (j.alarm) {
    alarms.erase(*j.alarm);
    j.alarm.reset();
  }
  if (j.keyed)
    keys.erase({j.run->who.organization, j.run->idempotency_key});
  wake(context->gate.leave(j.run->stay));
}

} // namespace troupe
