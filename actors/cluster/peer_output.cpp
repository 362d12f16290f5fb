#include "actors/caf/request.hpp"
#include "actors/cluster/linked_peers.hpp"
#include "actors/protocol/followed_output.hpp"

namespace troupe {

namespace {

/// How often the runs that go on are looked at, and asked again where the
/// answer was that there is nothing.
constexpr std::chrono::milliseconds between_looks{50};
constexpr std::chrono::milliseconds before_next_question{200};

caf::behavior follower(caf::event_based_actor* self,
                       std::function<bool()> follow_all) {
  return {[=](tick_atom) {
    if (follow_all())
      self->delayed_send(self, between_looks, tick_v);
  }};
}

void tell(run_observer& observer, const run_event& event,
          std::size_t (&bytes)[2]) {
  switch (event.kind) {
  case run_event_kind::started:
    return observer.started();
  case run_event_kind::out:
    bytes[0] += event.data.size();
    return observer.output(output_stream::out, event.data);
  case run_event_kind::err:
    bytes[1] += event.data.size();
    return observer.output(output_stream::err, event.data);
  case run_event_kind::progress:
    return observer.progress(event.data);
  case run_event_kind::accepted:
  case run_event_kind::queued:
  case run_event_kind::end:
    return;
  }
}

} // namespace

// -- output while it goes on --------------------------------------------------

/// Under the lock. Most runs are over before the first look, and cost the link
/// no question.
void linked_peers::begin_following() {
  if (following_ || !follower_)
    return;
  following_ = true;
  caf::delayed_anon_send(follower_, between_looks, tick_v);
}

void linked_peers::start_follower() {
  follower_ = system_.spawn(follower, [this] { return follow_all(); });
}

void linked_peers::stop_follower() {
  if (!follower_)
    return;
  caf::scoped_actor self{system_};
  self->send_exit(follower_, caf::exit_reason::user_shutdown);
  self->wait_for(follower_);
  follower_ = caf::actor{};
}

/// Whether there are runs to come back for.
bool linked_peers::follow_all() {
  const auto now = clock::now();
  std::vector<run_id> due;
  std::unique_lock lock{mutex_};
  for (auto& [id, f] : runs_)
    if (f.to && f.follows && !f.asked && !f.telling && now >= f.ask_at)
      due.push_back(id);
  for (const auto& id : due)
    if (auto i = runs_.find(id); i != runs_.end() && !i->second.asked) {
      follow(lock, i->second);
      lock.lock();
    }
  return following_ = !runs_.empty() && !stopping_;
}

/// Asks for what came after the last event. Unlocks: the answer may be there
/// before the question has left.
void linked_peers::follow(std::unique_lock<std::mutex>& lock, forwarded& f) {
  f.asked = true;
  const auto id = f.run->id;
  auto question = follow_run(id, f.organization, f.heard);
  const auto gate = f.to->gate;
  const request_options by{f.to->route, caf::message_priority::normal,
                           f.run->deadline + answer_slack};
  lock.unlock();
  auto done = [weak = weak_from_this(), id](result<run_status_message> said) {
    if (auto self = weak.lock())
      self->heard(id, std::move(said));
  };
  ask<run_status_message>(*router_, by, gate, std::move(done), find_v,
                          std::move(question));
}

void linked_peers::heard(const run_id& id, result<run_status_message> said) {
  std::unique_lock lock{mutex_};
  const auto i = runs_.find(id);
  if (i == runs_.end())
    return;
  auto& f = i->second;
  f.asked = false;
  auto output = said ? output_of(*said) : std::nullopt;
  if (output) {
    f.telling = true;
    const auto observer = f.observer;
    lock.unlock();
    std::size_t bytes[2] = {};
    for (const auto& event : output->events)
      tell(*observer, event, bytes);
    lock.lock();
    f.telling = false;
    f.heard = output->next;
    f.told[0] += bytes[0];
    f.told[1] += bytes[1];
  }
  // The result has what a node cannot tell, and what is missing at the end.
  f.follows = output.has_value();
  const bool more = output && !output->events.empty();
  if (f.answer && !more) {
    auto answer = std::move(*f.answer);
    const auto run = f.run;
    const auto observer = f.observer;
    lock.unlock();
    return answered(run, observer, std::move(answer));
  }
  f.ask_at = clock::now() + before_next_question;
  if (more)
    follow(lock, f);
}

/// The answer to the run itself. What it printed last may still be on its way,
/// and comes first.
void linked_peers::ended(const prepared_run_ptr& run,
                         const run_observer_ptr& observer,
                         result<run_answer> given) {
  std::unique_lock lock{mutex_};
  auto& f = runs_.at(run->id);
  if (f.asked || f.telling || (given && f.follows && f.heard > 0)) {
    f.answer.emplace(std::move(given));
    if (!f.asked && !f.telling)
      follow(lock, f);
    return;
  }
  lock.unlock();
  answered(run, observer, std::move(given));
}

} // namespace troupe
