#include "actors/state/event_log.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::size_t usual_events = 4; // accepted, started, output, end

/// A reader that throws has left.
bool tell(const event_sink& sink, const run_event& event) noexcept {
  try {
    return sink(event);
  } catch (...) {
    return false;
  }
}

} // namespace

event_log::event_log(const event_bounds& bounds) : bounds_{bounds} {}

void event_log::append(run_event_kind kind, std::string_view data) {
  std::lock_guard guard{mutex_};
  // A single huge write becomes several events, so that a reader with a small
  // buffer loses a piece of it and not all.
  do {
    if (ended_)
      return;
    auto piece = data.substr(0, bounds_.chunk);
    data.remove_prefix(piece.size());
    run_event event;
    event.kind = kind;
    event.data = piece;
    add(std::move(event));
  } while (!data.empty());
}

void event_log::end(std::shared_ptr<const run_result> result,
                    std::shared_ptr<const error> failure) {
  std::lock_guard guard{mutex_};
  if (ended_)
    return;
  run_event event;
  event.kind = run_event_kind::end;
  event.result = std::move(result);
  event.failure = std::move(failure);
  add(std::move(event));
  ended_ = true;
  sinks_.clear();
}

bool event_log::full() const {
  std::lock_guard guard{mutex_};
  return sinks_.size() >= bounds_.subscribers;
}

std::uint64_t event_log::subscribe(std::uint64_t sequence, event_sink sink) {
  std::lock_guard guard{mutex_};
  const auto first = events_.empty() ? sequence_ + 1 : events_.front().sequence;
  if (sequence + 1 < first) {
    run_event note;
    note.sequence = first - 1; // so that a resume goes on behind the gap
    note.kind = run_event_kind::progress;
    note.data = std::to_string(first - 1 - sequence)
      + " events came before this and are no longer kept";
    if (!tell(sink, note))
      return 0;
  }
  for (const auto& event : events_)
    if (event.sequence > sequence && !tell(sink, event))
      return 0;
  if (ended_)
    return 0;
  sinks_.emplace(++subscription_, std::move(sink));
  return subscription_;
}

void event_log::unsubscribe(std::uint64_t subscription) {
  std::lock_guard guard{mutex_};
  sinks_.erase(subscription);
}

bool event_log::ended() const {
  std::lock_guard guard{mutex_};
  return ended_;
}

std::uint64_t event_log::last() const {
  std::lock_guard guard{mutex_};
  return sequence_;
}

std::size_t event_log::bytes() const {
  std::lock_guard guard{mutex_};
  return bytes_;
}

void event_log::add(run_event event) {
  event.sequence = ++sequence_;
  bytes_ += event.data.size();
  for (auto i = sinks_.begin(); i != sinks_.end();)
    i = tell(i->second, event) ? std::next(i) : sinks_.erase(i);
  if (events_.full())
    events_.set_capacity(std::max(usual_events, 2 * events_.capacity()));
  events_.push_back(std::move(event));
  shrink();
}

void event_log::shrink() {
  while (events_.size() > 1
         && (events_.size() > bounds_.events || bytes_ > bounds_.bytes)) {
    bytes_ -= events_.front().data.size();
    events_.pop_front();
  }
}

} // namespace troupe
