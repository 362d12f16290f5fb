#include "actors/sandbox/sandbox_event_log.hpp"

#include "runtime/model/codec/codec.hpp"

#include <utility>

namespace troupe {

void sandbox_event_log::tell(sandbox_event::kind what, std::string subject,
                             std::string reason) {
  std::vector<std::function<void()>> told;
  {
    std::lock_guard lock{mutex_};
    events_.push_back(
      {++last_, now(), what, std::move(subject), std::move(reason)});
    if (events_.size() > kept_)
      events_.pop_front();
    told.swap(readers_);
  }
  for (auto& each : told)
    each();
}

void sandbox_event_log::close() {
  std::vector<std::function<void()>> told;
  {
    std::lock_guard lock{mutex_};
    over_ = true;
    told.swap(readers_);
  }
  for (auto& each : told)
    each();
}

std::vector<sandbox_event> sandbox_event_log::read(std::uint64_t after,
                                                   std::size_t most) const {
  std::vector<sandbox_event> some;
  std::lock_guard lock{mutex_};
  if (events_.empty())
    return some;
  const auto first = events_.front().number;
  std::size_t at = after < first ? 0 : after - first + 1;
  for (; at < events_.size() && some.size() < most; ++at)
    some.push_back(events_[at]);
  return some;
}

result<void> sandbox_event_log::when_more(std::uint64_t after,
                                          std::function<void()> then) {
  {
    std::lock_guard lock{mutex_};
    if (!over_ && last_ <= after) {
      if (readers_.size() >= most_readers)
        return fail(ec::exhausted,
                    "the events of this sandbox have 16 readers already");
      readers_.push_back(std::move(then));
      return {};
    }
  }
  then();
  return {};
}

bool sandbox_event_log::over() const {
  std::lock_guard lock{mutex_};
  return over_;
}

} // namespace troupe
