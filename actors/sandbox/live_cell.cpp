#include "actors/sandbox/live_cell.hpp"

#include "runtime/model/codec/codec.hpp"

#include <utility>

namespace troupe {

live_cell::live_cell(std::string context, cell_spec what,
                     const sandbox_rules& rules)
    : what_{std::move(what)}, out_{rules.window}, err_{rules.window} {
  record_.context = std::move(context);
  record_.queued_at = now();
}

void live_cell::begin(const std::string& lost) {
  std::lock_guard held{mutex_};
  if (!lost.empty()) {
    record_.state_lost = true;
    record_.detail = "the context began afresh before this cell: " + lost;
  }
  record_.status = cell_status::running;
  record_.began_at = now();
}

void live_cell::append(output_stream which, std::string_view bytes) {
  lock held{mutex_};
  auto& window = which == output_stream::out ? out_ : err_;
  window.append(bytes);
  record_.stdout_bytes = out_.end();
  record_.stderr_bytes = err_.end();
  tell_more(std::move(held));
}

void live_cell::append(cell_event event) {
  lock held{mutex_};
  // The error that ends it is kept in any case: it is the last one.
  const bool fits = events_.size() < bounds::cell_events
    && event_bytes_ + event.bytes() <= bounds::cell_event_bytes;
  if (!fits && event.what != cell_event::kind::error) {
    ++record_.dropped_events;
    return;
  }
  event_bytes_ += event.bytes();
  events_.push_back({std::make_shared<const cell_event>(std::move(event)),
                     {out_.end(), err_.end()}});
  tell_more(std::move(held));
}

void live_cell::tell_more(lock held) {
  auto told = std::exchange(readers_, {});
  held.unlock();
  for (auto& each : told)
    each();
}

void live_cell::finish(cell_status how, std::uint64_t count) {
  lock held{mutex_};
  if (record_.ended())
    return;
  record_.status = how;
  record_.execution_count = count;
  end(std::move(held));
}

void live_cell::finish_lost(cell_status how, std::string detail) {
  lock held{mutex_};
  if (record_.ended())
    return;
  record_.status = how;
  record_.state_lost = true;
  record_.detail = std::move(detail);
  end(std::move(held));
}

void live_cell::end(lock held) {
  record_.ended_at = now();
  auto waiting = std::exchange(waiting_, {});
  tell_more(std::move(held));
  for (auto& each : waiting)
    each();
}

// -- readers ------------------------------------------------------------------

cell_record live_cell::record() const {
  std::lock_guard held{mutex_};
  return record_;
}

output_piece live_cell::read(output_stream which, std::uint64_t from,
                             std::size_t most) const {
  std::lock_guard held{mutex_};
  return (which == output_stream::out ? out_ : err_).read(from, most);
}

std::optional<sandbox_cell::placed_event>
live_cell::event(std::size_t number) const {
  std::lock_guard held{mutex_};
  if (number >= events_.size())
    return std::nullopt;
  return events_[number];
}

result<void> live_cell::when_more(cell_offsets read,
                                  std::function<void()> then) {
  lock held{mutex_};
  if (record_.ended() || out_.end() > read.output.out
      || err_.end() > read.output.err || events_.size() > read.events) {
    held.unlock();
    then();
    return {};
  }
  if (readers_.size() >= most_readers)
    return fail(ec::exhausted, "this cell has 64 readers already");
  readers_.push_back(std::move(then));
  return {};
}

void live_cell::when_ended(std::function<void()> then) {
  lock held{mutex_};
  if (!record_.ended()) {
    waiting_.push_back(std::move(then));
    return;
  }
  held.unlock();
  then();
}

} // namespace troupe
