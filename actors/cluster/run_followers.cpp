#include "actors/cluster/run_followers.hpp"

#include <mutex>

namespace troupe {

namespace {

constexpr std::size_t most_bytes = 256u << 10;
constexpr std::size_t most_events = 1'024;

/// Without the result, which is the answer to another question.
run_status_message note_of(const active_run& run, const followed_output& what) {
  run_status_message note;
  note.id = run.id.str();
  note.organization = run.who.organization.str();
  note.phase = static_cast<std::uint8_t>(run.phase.load());
  put_output(note, what);
  return note;
}

} // namespace

struct run_followers::collected {
  std::mutex mutex;
  followed_output output;
  std::size_t bytes = 0;
  bool ended = false;
  bool waited_for = false; // the question is open

  bool full() const {
    return bytes >= most_bytes || output.events.size() >= most_events;
  }
  bool empty() const { return output.events.empty() && !ended; }

  /// Whether it takes more.
  bool take(const run_event& event) {
    if (full())
      return false;
    output.next = event.sequence;
    ended = event.kind == run_event_kind::end;
    if (is_followed(event.kind)) {
      bytes += event.data.size();
      output.events.push_back(event);
    }
    return !full();
  }
};

std::optional<run_status_message>
run_followers::follow(const active_run_ptr& run, std::uint64_t after, news tell,
                      const std::function<promise()>& later) {
  auto what = std::make_shared<collected>();
  what->output.next = after;
  auto sink = [what, id = run->id, tell = std::move(tell)](const auto& event) {
    std::lock_guard guard{what->mutex};
    const bool more = what->take(event);
    if (!what->waited_for)
      return more;
    // It goes on collecting until the gateway comes to it.
    what->waited_for = what->empty();
    if (!what->waited_for)
      tell(id);
    return more;
  };
  const auto subscription = run->events.subscribe(after, std::move(sink));
  std::unique_lock lock{what->mutex};
  what->waited_for = what->empty() && subscription != 0;
  if (what->waited_for) {
    lock.unlock();
    forget(run->id); // the same node asks again: it has lost what it asked
    waiting_.emplace(run->id, question{run, what, subscription, later()});
    return {};
  }
  lock.unlock();
  run->events.unsubscribe(subscription);
  return note_of(*run, what->output);
}

void run_followers::answer(const run_id& id) {
  auto found = waiting_.find(id);
  if (found == waiting_.end())
    return; // of a question whose place a newer one has taken
  auto q = found->second;
  forget(id);
  std::lock_guard guard{q.what->mutex};
  q.reply.deliver(note_of(*q.run, q.what->output));
}

void run_followers::forget(const run_id& id) {
  if (auto q = waiting_.extract(id))
    q.mapped().run->events.unsubscribe(q.mapped().subscription);
}

} // namespace troupe
