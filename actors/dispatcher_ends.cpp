#include "actors/audit_lines.hpp"
#include "actors/dispatcher.hpp"
#include "actors/recycled.hpp"
#include "runtime/model/codec.hpp"

namespace troupe {

void dispatcher_state::end_early(job& j, exit_reason why) {
  j.asked_to_end = why;
  if (j.at == stage::running) {
    // Behind its `start` in the executor's mailbox: it must not overtake it.
    self->send(j.executor, cancel_v, j.run->id, why);
    set_alarm(j, now() + context->options.deadlines.grace);
    return;
  }
  if (why == exit_reason::cancelled)
    return conclude(j, early_result(j, why, "cancelled before it began"));
  error late;
  late.code = ec::exhausted;
  late.text = std::string{"the deadline passed while the run waited for "}
    + (j.at == stage::waiting ? "its turn" : "its variables or its record")
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

void dispatcher_state::conclude(job& j,
                                result<std::shared_ptr<run_result>> outcome) {
  auto run = j.run;
  if (!run->claim_end()) {
    // Somebody else had to end it; what it holds here is still ours, and so is
    // the promise.
    release(j);
    const error ended{ec::unavailable, "the run was ended elsewhere", {}, {}};
    if (j.answer.pending())
      j.answer.deliver(to_caf(ended));
    if (j.accepted.pending())
      j.accepted.deliver(to_caf(ended));
    jobs.erase(run.get());
    return;
  }
  if (j.breaker_owed)
    if (auto* desk = context->board->find(run->backend))
      desk->breaker.abandoned();
  if (outcome) {
    auto& r = **outcome;
    r.id = run->id;
    r.backend = run->backend;
    mark(j, "answer");
    // What the backend saw comes between what we saw before and after it.
    j.stages.insert(std::prev(j.stages.end()),
                    std::make_move_iterator(r.stages.begin()),
                    std::make_move_iterator(r.stages.end()));
    r.stages = std::move(j.stages);
    r.trail = std::move(j.trail);
    if (r.fingerprint.empty() && j.view)
      r.fingerprint = j.view->fingerprint;
    std::move(j.notes.begin(), j.notes.end(), std::back_inserter(r.notes));
    run->outcome = std::move(*outcome);
  } else {
    run->failure = std::make_shared<const error>(std::move(outcome.error()));
  }
  run->ended_at = troupe::now();
  run->phase.store(run_phase::ended, std::memory_order_release);
  record_end(j);
  release(j);
  run->events.end(run->outcome, run->failure);
  run->forget_request();
  answer_with(j);
  context->runs.retire(run);
  jobs.erase(run.get());
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
    // Refused before it was accepted, or ended before the disk had it.
    if (run.failure && !j.admitted)
      j.accepted.deliver(to_caf(*run.failure));
    else
      j.accepted.deliver(to_note(describe(run)));
  }
}

void dispatcher_state::record_end(const job& j) {
  const auto& run = *j.run;
  auto& m = context->meter;
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
  ledger_line line;
  line.run = j.run;
  line.audit = audit_of_run(run, j.prepared.get());
  if (j.keyed) {
    // What certainly never ran may be tried again with the same key.
    const bool never_ran = !run.outcome && !run.may_have_started;
    line.key = never_ran ? key_fate::release : key_fate::settle;
  }
  write_down(*context, std::move(line));
}

void dispatcher_state::release(job& j) {
  if (j.alarm) {
    alarms.erase(*j.alarm);
    j.alarm.reset();
  }
  if (j.keyed)
    keys.erase({j.run->who.organization, j.run->idempotency_key});
  wake(context->gate.leave(j.run->stay));
}

} // namespace troupe
