#include "actors/caf/request.hpp"
#include "actors/cluster/link_monitor.hpp"
#include "actors/cluster/linked_peers.hpp"
#include "actors/protocol/wire_json.hpp"

namespace troupe {

namespace {

/// What the node said before it began: somebody else may run it.
bool never_began(const error& why) {
  switch (why.code) {
  case ec::exhausted:
  case ec::no_space:
  case ec::unavailable:
  case ec::invalid_request:
  case ec::not_found:
  case ec::conflict:
  case ec::denied:
    return true;
  case ec::timeout:
  case ec::internal:
    return false;
  }
  return false;
}

/// Whether another node may see it otherwise.
bool is_of_this_node(const error& why) {
  return why.code == ec::exhausted || why.code == ec::unavailable
    || why.code == ec::denied;
}

} // namespace

// -- runs ---------------------------------------------------------------------

void linked_peers::start(prepared_run_ptr run, run_observer_ptr observer) {
  if (auto fits = check_fits_link(request_for_peer(*run)); !fits)
    return observer->finished({fits.error(), false});
  {
    std::unique_lock lock{mutex_};
    forwarded fresh;
    fresh.organization = run->organization;
    fresh.run = run;
    fresh.observer = observer;
    if (!runs_.try_emplace(run->id, std::move(fresh)).second) {
      lock.unlock();
      return observer->finished(
        {error{ec::conflict, "run " + run->id.str() + " is under way"}, false});
    }
  }
  send(run, observer);
}

/// To the next node that was not tried.
void linked_peers::send(const prepared_run_ptr& run,
                        const run_observer_ptr& observer) {
  const auto now = clock::now();
  std::unique_lock lock{mutex_};
  auto& f = runs_.at(run->id);
  f.to = choose_node(nodes_, f.tried, options_.runs_per_node, now);
  if (!f.to) {
    auto why = no_node(nodes_, options_.runs_per_node, now);
    for (const auto& refusal : f.refusals)
      why.text += "; " + refusal;
    runs_.erase(run->id);
    lock.unlock();
    // Each node has a circuit of its own: that of the kind stays closed.
    return observer->finished({std::move(why), false, true});
  }
  f.tried.push_back(f.to);
  f.permit = f.to->breaker.allow(now);
  f.follows = true;
  f.heard = 0;
  f.ask_at = now + quiet_before_following;
  begin_following();
  ++f.to->under_way;
  const auto gate = f.to->gate;
  const auto& name = f.to->name;
  const request_options by{f.to->route, caf::message_priority::normal,
                           run->deadline + answer_slack};
  lock.unlock();
  execution what;
  what.who.organization = run->organization;
  what.who.user = default_user();
  what.request = std::make_shared<const run_request>(request_for_peer(*run));
  what.ext[complete_run] = config_for_peer(*run, options_.standard_dir);
  observer->progress("sent to node " + name);
  auto finish
    = [self = shared_from_this(), run, observer](result<run_answer> answer) {
        self->ended(run, observer, std::move(answer));
      };
  ask<run_answer>(*router_, by, gate, std::move(finish), run_v,
                  std::move(what));
}

/// Under the lock: what an answer, or a failure, says of its node.
void linked_peers::record_outcome(node& n, circuit_breaker::permit permit,
                                  const error* why) {
  using change = circuit_breaker::change;
  const auto now = clock::now();
  ++(why ? n.failed : n.answered);
  if (!why) {
    if (n.breaker.succeeded(now) == change::closed)
      warn("node " + n.name + " accepts runs again");
    return;
  }
  // A full node works, and so does one that stops or says that the request is
  // wrong. Of one whose link is gone its next link will tell.
  const bool sick = why->code == ec::unavailable || why->code == ec::internal
    || why->code == ec::timeout;
  if (!sick || n.stopping || !n.gate)
    return n.breaker.abandoned(permit);
  if (n.breaker.failed(now) == change::opened)
    warn("node " + n.name + " is " + why_passed_over(n.breaker.look(now))
         + "; the last failure: " + why->text);
}

void linked_peers::answered(const prepared_run_ptr& run,
                            const run_observer_ptr& observer,
                            result<run_answer> given) {
  auto answer = result_of(std::move(given));
  if (!answer)
    return refused(run, observer, std::move(answer.error()));
  std::unique_lock lock{mutex_};
  auto was = std::move(runs_.extract(run->id).mapped());
  leave(*was.to);
  record_outcome(*was.to, was.permit, nullptr);
  lock.unlock();
  auto r = **answer;
  for (auto& refusal : was.refusals)
    r.notes.push_back(std::move(refusal));
  r.notes.push_back("executed by node " + was.to->name);
  r.fingerprint.clear(); // our own config's, as of a run of this machine
  // It says `cancelled`, which is how we asked it, and not why.
  if (was.wanted && r.reason == exit_reason::cancelled)
    r.reason = *was.wanted;
  // What was not heard while it went on, which is all of it for a short run.
  if (r.stdout_text.size() > was.told[0])
    observer->output(output_stream::out,
                     std::string_view{r.stdout_text}.substr(was.told[0]));
  if (r.stderr_text.size() > was.told[1])
    observer->output(output_stream::err,
                     std::string_view{r.stderr_text}.substr(was.told[1]));
  observer->finished({std::move(r), true});
}

/// By its node, which may have begun; else another one may have it.
void linked_peers::refused(const prepared_run_ptr& run,
                           const run_observer_ptr& observer, error why) {
  std::unique_lock lock{mutex_};
  auto& f = runs_.at(run->id);
  auto& from = *f.to;
  leave(from);
  record_outcome(from, f.permit, &why);
  const bool began = !never_began(why);
  if (from.stopping && why.code == ec::unavailable)
    why.text = "it is stopping; the run did not begin";
  const bool elsewhere = !began && is_of_this_node(why) && !f.wanted;
  why = std::move(why).within("node " + from.name);
  if (elsewhere)
    f.refusals.push_back(why.text);
  else
    runs_.erase(run->id);
  lock.unlock();
  if (!elsewhere)
    return observer->finished({std::move(why), began, true});
  observer->progress(why.text);
  send(run, observer);
}

/// Under the lock: one less there.
void linked_peers::leave(node& n) {
  --n.under_way;
  if (n.stopping)
    changed_.notify_all();
}

void linked_peers::cancel(const run_id& id, exit_reason reason) {
  std::unique_lock lock{mutex_};
  auto i = runs_.find(id);
  if (i == runs_.end())
    return;
  i->second.wanted = reason;
  if (!i->second.to)
    return;
  run_reference which;
  which.id = id.str();
  which.organization = i->second.organization.str();
  const auto gate = i->second.to->gate;
  const auto route = i->second.to->route;
  lock.unlock();
  if (gate)
    ask<run_status_message>(
      *router_, route, gate, [](const result<run_status_message>&) {}, cancel_v,
      std::move(which));
}

} // namespace troupe
