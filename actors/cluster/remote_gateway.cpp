#include "actors/cluster/remote_gateway.hpp"

#include <type_traits>
#include <utility>

namespace troupe {

namespace {

// A node has one link here. Who comes after that many is not told.
constexpr std::size_t most_linked_nodes = 256;

caf::error stopped() {
  return to_caf({ec::unavailable, "the engine has stopped"});
}

result<void> check(const execution& what) {
  if (what.version != wire_version)
    return error{ec::invalid_request,
                 "this node uses version " + std::to_string(wire_version)
                   + " of the protocol, the message is of version "
                   + std::to_string(what.version)};
  if (what.unreadable)
    return *what.unreadable;
  if (!what.request)
    return error{ec::invalid_request, "the message contains no request"};
  return {};
}

template <class Answer>
auto& promise_of(remote_queue::pending_execution& v) {
  if constexpr (std::is_same_v<Answer, run_answer>)
    return v.answer;
  else
    return v.accepted;
}

void refuse(remote_queue::pending_execution& v, error why) {
  if (v.answer.pending())
    v.answer.deliver(to_caf(std::move(why)));
  else
    v.accepted.deliver(to_caf(std::move(why)));
}

} // namespace

remote_gateway_services::remote_gateway_services(const context_ptr& engine)
    : intake{engine}, weakest{engine->options.rules.weakest},
      linked{engine, &engine->linked_nodes} {
  us.name = engine->options.name;
  us.boot = engine->boot;
}

// -- executions ---------------------------------------------------------------

result<accepted_run> gateway_state::accept(execution& what) {
  run_request request{*what.request};
  const auto sent = what.ext.find(complete_run);
  // What another node asks for is its own standard, as a rule: here it gets no
  // less than runs of this one.
  if (const auto least = weakest; sent != what.ext.end() && request.isolation
      && strictness(*request.isolation) < strictness(least))
    request.isolation = least;
  auto taken = accept_run(*intake, caller{what.who}, std::move(request));
  if (!taken)
    return taken;
  what.request = nullptr; // the run has one of its own now
  taken->run->is_linked = true;
  if (sent != what.ext.end())
    taken->run->sent_config = std::move(sent->second);
  const bool counts = is_light(*taken->run->request());
  if (counts) // the others keep no dispatcher busy
    pressure->on_forwarded();
  // The answer goes straight back: only what the dispatcher tells comes by.
  auto count = [intake = intake, run = taken->run.get(), pressure = pressure,
                home = inner_gateway_actor{self},
                ahead = counts](const run_event& event) mutable {
    if (std::exchange(ahead, false) && pressure->arrived())
      caf::anon_send(home, turn_v);
    if (event.kind == run_event_kind::end)
      release_run(*intake, *run);
    return true;
  };
  taken->run->events.subscribe(0, std::move(count));
  return taken;
}

result<gateway_state::admitted> gateway_state::admit(execution& what) {
  auto taken = accept(what);
  if (!taken)
    return taken.error();
  auto to = choose_dispatcher(*intake, *taken->run);
  if (!to) {
    abandon(*intake, taken->run, to.error());
    return to.error();
  }
  return admitted{std::move(taken->run), std::move(*to)};
}

template <class Answer, class Word>
caf::result<Answer> gateway_state::receive(Word word, execution& what) {
  if (auto fine = check(what); !fine)
    return to_caf(std::move(fine.error()));
  if (what.who.organization.empty())
    what.who.organization = default_organization();
  if (line.size() == 0 && pressure->has_room())
    return forward<Answer>(word, what);
  if (intake->pending + line.size() >= intake->most_pending) {
    engine_metrics::add(intake->metrics.refused);
    return to_caf({ec::exhausted,
                   "too many requests are pending",
                   {},
                   std::chrono::milliseconds{1'000}});
  }
  remote_queue::pending_execution v;
  auto promise = self->make_response_promise<Answer>();
  promise_of<Answer>(v) = promise;
  v.what = std::move(what);
  line.push(std::move(v));
  // Behind all that is in the mailbox now: they have to be in the line first.
  if (pressure->request_turn())
    self->send(self, turn_v);
  return promise;
}

template <class Answer, class Word>
caf::result<Answer> gateway_state::forward(Word word, execution& what) {
  auto in = admit(what);
  if (!in)
    return to_caf(std::move(in.error()));
  // Keep the priority: CAF drops the reply to a request whose priority was
  // changed when it was delegated.
  return self->delegate(in->to, word, std::move(in->run));
}

void gateway_state::forward_pending(remote_queue::pending_execution& v) {
  auto in = admit(v.what);
  if (!in)
    return refuse(v, std::move(in.error()));
  if (v.answer.pending())
    v.answer.delegate(in->to, run_v, std::move(in->run));
  else
    v.accepted.delegate(in->to, start_v, std::move(in->run));
}

void gateway_state::turn() {
  pressure->turn_started();
  while (line.size() > 0 && pressure->has_room())
    if (auto next = line.pop())
      forward_pending(*next);
  if (line.size() > 0 && pressure->request_turn())
    self->send(self, turn_v);
}

void gateway_state::stop() {
  while (auto next = line.pop())
    refuse(*next, {ec::unavailable, "the engine has stopped"});
}

// -- words between nodes ------------------------------------------------------

caf::result<hello> gateway_state::greet(const hello& them) {
  // After it has become a promise there is no sender any more.
  const auto sender = self->current_sender();
  const auto who = caf::actor_cast<caf::actor_addr>(sender);
  if (stopping || intake->draining)
    return stopping_node();
  if (waits_for_stop(them) && who
      && (linked_nodes.contains(who)
          || linked_nodes.size() < most_linked_nodes)) {
    auto promise = self->make_response_promise<hello>();
    // One that asks again has lost what it asked before.
    if (linked_nodes.insert_or_assign(who, promise).second)
      self->monitor(sender);
    *linked = static_cast<std::uint32_t>(linked_nodes.size());
    return promise;
  }
  return us;
}

hello gateway_state::stopping_node() const {
  auto node = us;
  say_stopping(node);
  return node;
}

bool gateway_state::announce_stop() {
  stopping = true;
  for (auto& [who, promise] : linked_nodes)
    if (promise.pending())
      promise.deliver(stopping_node());
  return true;
}

void gateway_state::forget(const caf::actor_addr& who) {
  linked_nodes.erase(who);
  *linked = static_cast<std::uint32_t>(linked_nodes.size());
}

// -- questions ----------------------------------------------------------------

caf::result<run_status_message>
gateway_state::cancel(const run_reference& which) {
  if (auto waiting = line.take(which))
    forward_pending(*waiting); // there it ends before it has begun
  auto run = intake->runs.find(run_id{which.id});
  if (!run || run->who.organization.str() != which.organization
      || run->phase == run_phase::ended)
    return find(which);
  auto routes = intake->routes.load();
  if (!routes)
    return stopped();
  run->cancel_wanted = true;
  const auto owner = run->owner.load();
  if (owner >= routes->dispatchers.size() || !routes->dispatchers[owner])
    return to_note(describe(*run));
  return self->delegate(routes->dispatchers[owner], cancel_v, std::move(run));
}

caf::result<run_status_message>
gateway_state::find(const run_reference& which) {
  if (const auto after = follows_after(which))
    return follow(which, *after);
  if (auto waiting = line.take(which))
    forward_pending(*waiting); // who is asked about is known from here on
  if (auto run = intake->runs.find(run_id{which.id});
      run && run->who.organization.str() == which.organization)
    return to_note(describe(*run));
  auto routes = intake->routes.load();
  if (!routes || !routes->ledger)
    return stopped();
  return self->delegate(routes->ledger, find_v, which);
}

caf::result<run_status_message>
gateway_state::follow(const run_reference& which, std::uint64_t after) {
  auto run = intake->runs.find(run_id{which.id});
  if (!run || run->who.organization.str() != which.organization) {
    // It waits at the gate, and being asked about brings it no further.
    run_status_message note;
    put_output(note, {after, {}});
    return note;
  }
  auto tell = [home = inner_gateway_actor{self}](const run_id& id) {
    caf::anon_send(home, find_v, id);
  };
  run_followers::promise promise;
  auto reply = followers.follow(run, after, std::move(tell), [&] {
    return promise = self->make_response_promise<run_status_message>();
  });
  if (reply)
    return std::move(*reply);
  return promise;
}

inner_gateway_actor::behavior_type
remote_gateway(inner_gateway_actor::stateful_pointer<gateway_state> self,
               remote_gateway_services services) {
  auto& state = self->state;
  state.self = self;
  static_cast<remote_gateway_services&>(state) = std::move(services);
  *state.linked = 0; // of the gate before: they will come again
  self->set_down_handler(
    [self](caf::down_msg& m) { self->state.forget(m.source); });
  self->set_exit_handler([self](caf::exit_msg& m) {
    self->state.stop();
    self->quit(std::move(m.reason));
  });
  return {
    [self](run_atom word, execution& what) {
      return self->state.receive<run_answer>(word, what);
    },
    [self](start_atom word, execution& what) {
      return self->state.receive<run_status_message>(word, what);
    },
    [self](cancel_atom, const run_reference& which) {
      return self->state.cancel(which);
    },
    [self](find_atom, const run_reference& which) {
      return self->state.find(which);
    },
    [self](hello_atom, const hello& them) { return self->state.greet(them); },
    [self](admitted_atom) { self->state.turn(); },
    [self](gone_atom) { return self->state.announce_stop(); },
    [self](find_atom, const run_id& id) { self->state.followers.answer(id); },
  };
}

} // namespace troupe
