#include "actors/gate.hpp"

#include "actors/gateway.hpp"
#include "actors/recycled.hpp"
#include "runtime/model/codec.hpp"

namespace troupe {

namespace {

caf::error stopped() {
  return to_caf({ec::unavailable, "the engine has stopped"});
}

} // namespace

result<live_run_ptr> gate_state::take_on(execution& what) {
  if (what.version != wire_version)
    return error{ec::invalid_request,
                 "this node speaks version " + std::to_string(wire_version)
                   + " of the protocol, the message is of version "
                   + std::to_string(what.version)};
  if (!what.request)
    return error{ec::invalid_request, "the execution holds no request"};
  if (what.who.organization.empty())
    what.who.organization = default_organization();
  auto request = *what.request;
  if (!request.id)
    request.id = run_id::make();
  request.organization = what.who.organization;
  request.user = what.who.user;
  meters::add(context->meter.submitted);
  if (context->draining) {
    meters::add(context->meter.refused);
    return error{ec::unavailable,
                 "the engine is about to stop; ask another node",
                 {},
                 std::chrono::milliseconds{1'000}};
  }
  if (context->runs.alive() >= context->options.pending) {
    meters::add(context->meter.refused);
    return error{ec::exhausted,
                 "too many requests are pending",
                 {},
                 std::chrono::milliseconds{1'000}};
  }
  auto run = make_recycled<live_run>(
    what.who, std::make_shared<const run_request>(std::move(request)),
    context->options.events);
  run->created_at = now();
  run->began = live_run::clock::now();
  if (!context->runs.add(run))
    return error{ec::conflict, "there is a run " + run->id.str() + " already"};
  what.request = run->request();
  what.local = run;
  return run;
}

caf::result<run_answer> gate_state::run(execution& what) {
  auto run = take_on(what);
  if (!run)
    return to_caf(std::move(run.error()));
  auto to = choose_dispatcher(*context, **run);
  if (!to) {
    abandon(*context, *run, to.error());
    return to_caf(std::move(to.error()));
  }
  return self->delegate(*to, run_v, std::move(what));
}

caf::result<run_note> gate_state::start(execution& what) {
  auto run = take_on(what);
  if (!run)
    return to_caf(std::move(run.error()));
  auto to = choose_dispatcher(*context, **run);
  if (!to) {
    abandon(*context, *run, to.error());
    return to_caf(std::move(to.error()));
  }
  return self->delegate(*to, start_v, std::move(what));
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
