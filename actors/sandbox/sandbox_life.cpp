#include "actors/sandbox/sandbox_life.hpp"

#include "runtime/model/codec/codec.hpp"

#include <algorithm>

namespace troupe {

sandbox_life::sandbox_life(sandbox_record first, const sandbox_rules& rules,
                           clock::time_point now)
    : rules_{rules}, record_{std::make_shared<const sandbox_record>(
                       std::move(first))},
      due_{now + rules.queue_timeout} {}

void sandbox_life::go_on_from(clock::time_point now) {
  using std::chrono::duration_cast;
  const auto said = record_->ends_at
    ? duration_cast<clock::duration>(*record_->ends_at - troupe::now())
    : clock::duration::zero();
  const auto none = clock::duration::zero();
  activity_->touch(now);
  due_ = now; // what is on its way is looked at again
  if (state() == sandbox_state::running)
    begin_timeout(std::clamp<clock::duration>(said, none, record_->timeout),
                  now);
  else if (state() == sandbox_state::paused)
    due_ = now + std::clamp<clock::duration>(said, none, rules_.paused_for);
  else if (is_over(state()))
    due_ = now + rules_.kept;
}

bool sandbox_life::enter(sandbox_state next, clock::time_point now) {
  return enter(next, sandbox_end::none, now);
}

bool sandbox_life::enter(sandbox_state next, sandbox_end why,
                         clock::time_point now,
                         std::shared_ptr<const error> failure) {
  const auto before = state();
  if (!may_follow(before, next))
    return false;
  change([&](sandbox_record& r) {
    r.state = next;
    if (r.end == sandbox_end::none)
      r.end = why;
    if (failure)
      r.failure = std::move(failure);
  });
  set_due(next, before, now);
  pause_ = ms{0};
  return true;
}

void sandbox_life::set_due(sandbox_state next, sandbox_state before,
                           clock::time_point now) {
  if (before == sandbox_state::running)
    left_ = ends_ - now;
  const auto longest = longest_in(next);
  if (next == sandbox_state::running) {
    activity_->touch(now);
    // One that was paused because its time was over gets it once more.
    const bool goes_on
      = before != sandbox_state::creating && left_ > clock::duration::zero();
    begin_timeout(goes_on ? left_ : record_->timeout, now);
  } else if (next == sandbox_state::paused) {
    due_ = now + rules_.paused_for;
    change([&](sandbox_record& r) {
      r.ends_at = troupe::now() + rules_.paused_for;
    });
  } else if (is_over(next)) {
    due_ = now + rules_.kept;
  } else if (next == sandbox_state::deleting) {
    retries(); // the call to its place has a deadline of its own
  } else {
    due_ = longest ? now + *longest : clock::time_point::max();
  }
}

void sandbox_life::begin_timeout(clock::duration left, clock::time_point now) {
  ends_ = now + left;
  told_expiring_ = left <= rules_.notice;
  change([&](sandbox_record& r) {
    r.ends_at
      = troupe::now() + std::chrono::duration_cast<timestamp::duration>(left);
  });
}

void sandbox_life::renew(ms timeout, clock::time_point now) {
  change([&](sandbox_record& r) { r.timeout = timeout; });
  begin_timeout(timeout, now);
}

void sandbox_life::apply(const sandbox_change& what) {
  change([&](sandbox_record& r) {
    for (const auto& [name, value] : what.metadata)
      if (value)
        r.metadata[name] = *value;
      else
        r.metadata.erase(name);
    r.on_timeout = what.on_timeout.value_or(r.on_timeout);
    r.idle_timeout = what.idle_timeout.value_or(r.idle_timeout);
    r.on_idle = what.on_idle.value_or(r.on_idle);
    r.auto_resume = what.auto_resume.value_or(r.auto_resume);
    r.network = what.network.value_or(r.network);
  });
}

bool sandbox_life::is_idle(clock::time_point now) const {
  const auto longest = record_->idle_timeout;
  return longest.count() > 0 && now >= activity_->last() + longest;
}

sandbox_life::clock::time_point sandbox_life::due() const {
  if (state() != sandbox_state::running)
    return due_;
  auto first = told_expiring_ ? ends_ : notice_at();
  if (record_->idle_timeout.count() > 0)
    first = std::min(first, activity_->last() + record_->idle_timeout);
  return first;
}

void sandbox_life::failed_to_delete(std::shared_ptr<const error> failure,
                                    clock::time_point now) {
  pause_ = pause_.count() == 0 ? rules_.first_retry
                               : std::min(pause_ * 2, rules_.longest_retry);
  due_ = now + pause_;
  change([&](sandbox_record& r) { r.failure = std::move(failure); });
}

sandbox_life::alarm sandbox_life::look(clock::time_point now) const {
  if (state() == sandbox_state::running)
    return now >= ends_                       ? alarm::expired
      : is_idle(now)                          ? alarm::idle
      : !told_expiring_ && now >= notice_at() ? alarm::expiring
                                              : alarm::none;
  if (now < due_)
    return alarm::none;
  switch (state()) {
  case sandbox_state::queued:
    return alarm::queue_expired;
  case sandbox_state::paused:
    return alarm::paused_too_long;
  case sandbox_state::deleting:
    return alarm::retry;
  case sandbox_state::deleted:
  case sandbox_state::failed:
    return alarm::forget;
  default:
    return alarm::stuck;
  }
}

} // namespace troupe
