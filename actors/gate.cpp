#include "actors/gate.hpp"

namespace troupe {

namespace {

caf::error stopped() {
  return to_caf({ec::unavailable, "the engine has stopped"});
}

} // namespace

result<taken_run> gate_state::take_in(execution& what) {
  if (what.version != wire_version)
    return error{ec::invalid_request,
                 "this node speaks version " + std::to_string(wire_version)
                   + " of the protocol, the message is of version "
                   + std::to_string(what.version)};
  if (what.unreadable)
    return *what.unreadable;
  if (!what.request)
    return error{ec::invalid_request, "the execution holds no request"};
  if (what.who.organization.empty())
    what.who.organization = default_organization();
  auto taken = take_on(*context, caller{what.who}, run_request{*what.request});
  if (!taken)
    return taken;
  what.request = taken->run->request();
  what.local = taken->run;
  // The answer goes straight back: only the end of the run comes by here.
  auto count_out
    = [context = context, run = taken->run.get()](const run_event& event) {
        if (event.kind == run_event_kind::end)
          let_go(*context, *run);
        return true;
      };
  taken->run->events.subscribe(0, std::move(count_out));
  return taken;
}

template <class Answer, class Word>
caf::result<Answer> gate_state::pass_on(Word word, execution& what) {
  auto taken = take_in(what);
  if (!taken)
    return to_caf(std::move(taken.error()));
  auto to = choose_dispatcher(*context, *taken->run);
  if (!to) {
    abandon(*context, taken->run, to.error());
    return to_caf(std::move(to.error()));
  }
  // As urgent as it came: the answer to a message that became urgent on its way
  // is not what the asker waits for.
  return self->delegate(*to, word, std::move(what));
}

caf::result<run_answer> gate_state::run(execution& what) {
  return pass_on<run_answer>(run_v, what);
}

caf::result<run_note> gate_state::start(execution& what) {
  return pass_on<run_note>(start_v, what);
}

caf::result<run_note> gate_state::cancel(const run_reference& which) {
  auto run = context->runs.find(run_id{which.id});
  if (!run || run->who.organization.str() != which.organization
      || run->phase == run_phase::ended)
    return find(which);
  auto routes = context->routes.load();
  if (!routes)
    return stopped();
  run->cancel_wanted = true;
  const auto owner = run->owner.load();
  if (owner >= routes->dispatchers.size() || !routes->dispatchers[owner])
    return to_note(describe(*run));
  return self->delegate(routes->dispatchers[owner], cancel_v, std::move(run));
}

caf::result<run_note> gate_state::find(const run_reference& which) {
  if (auto run = context->runs.find(run_id{which.id});
      run && run->who.organization.str() == which.organization)
    return to_note(describe(*run));
  auto routes = context->routes.load();
  if (!routes || !routes->ledger)
    return stopped();
  return self->delegate(routes->ledger, find_v, which);
}

gate_actor::behavior_type gate(gate_actor::stateful_pointer<gate_state> self,
                               context_ptr context) {
  self->state.self = self;
  self->state.context = std::move(context);
  return {
    [self](run_atom, execution& what) { return self->state.run(what); },
    [self](start_atom, execution& what) { return self->state.start(what); },
    [self](cancel_atom, const run_reference& which) {
      return self->state.cancel(which);
    },
    [self](find_atom, const run_reference& which) {
      return self->state.find(which);
    },
    [self](hello_atom, const hello&) {
      hello us;
      us.name = self->state.context->options.name;
      us.boot = self->state.context->boot;
      return us;
    },
  };
}

} // namespace troupe
