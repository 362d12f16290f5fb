#include "actors/sandbox/sandbox_life.hpp"

#include "runtime/model/codec/codec.hpp"

#include <algorithm>

namespace troupe {

sandbox_life::sandbox_life(sandbox_record first, const sandbox_rules& rules,
                           clock::time_point now)
    : rules_{rules}, record_{std::make_shared<const sandbox_record>(
                       std::move(first))},
      due_{now + rules.queue_timeout} {}

bool sandbox_life::enter(sandbox_state next, clock::time_point now) {
  return enter(next, sandbox_end::none, now);
}

bool sandbox_life::enter(sandbox_state next, sandbox_end why,
                         clock::time_point now,
                         std::shared_ptr<const error> failure) {
  if (!may_follow(state(), next))
    return false;
  change([&](sandbox_record& r) {
    r.state = next;
    if (r.end == sandbox_end::none)
      r.end = why;
    if (failure)
      r.failure = std::move(failure);
  });
  const auto longest = longest_in(next);
  if (next == sandbox_state::running)
    renew(record_->timeout, now);
  else if (is_over(next))
    due_ = now + rules_.kept;
  else if (next == sandbox_state::deleting)
    retries(); // the call to its place has a deadline of its own
  else
    due_ = longest ? now + *longest : clock::time_point::max();
  pause_ = ms{0};
  return true;
}

void sandbox_life::renew(ms timeout, clock::time_point now) {
  due_ = now + timeout;
  change([&](sandbox_record& r) {
    r.timeout = timeout;
    r.ends_at = troupe::now() + timeout;
  });
}

void sandbox_life::failed_to_delete(std::shared_ptr<const error> failure,
                                    clock::time_point now) {
  pause_ = pause_.count() == 0 ? rules_.first_retry
                               : std::min(pause_ * 2, rules_.longest_retry);
  due_ = now + pause_;
  change([&](sandbox_record& r) { r.failure = std::move(failure); });
}

sandbox_life::alarm sandbox_life::look(clock::time_point now) const {
  if (now < due_)
    return alarm::none;
  switch (state()) {
  case sandbox_state::queued:
    return alarm::queue_expired;
  case sandbox_state::running:
    return alarm::expired;
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
