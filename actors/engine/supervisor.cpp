#include "actors/engine/supervisor.hpp"

#include "actors/cluster/remote_gateway.hpp"
#include "actors/config/config_writer.hpp"
#include "actors/config/credential.hpp"
#include "actors/dispatch/dispatcher.hpp"
#include "actors/dispatch/executor.hpp"
#include "actors/ledger/ledger.hpp"
#include "actors/sandbox/sandbox_controller.hpp"

#include <algorithm>

namespace troupe {

void supervisor_state::start_all() {
  auto add
    = [this](std::string child_name, shutdown_tier tier, std::size_t slot,
             backend_name backend, std::function<caf::actor()> spawn) {
        child c;
        c.name = std::move(child_name);
        c.tier = tier;
        c.slot = slot;
        c.backend = backend;
        c.spawn = std::move(spawn);
        children.push_back(std::move(c));
      };
  const backend_name local = backend_kind::local;
  // They wait for a disk.
  auto with_own_thread = [this](auto behavior, auto where) {
    return caf::actor_cast<caf::actor>(
      context->options.stepped
        ? self->spawn<caf::monitored>(behavior, context, where)
        : self->spawn<caf::monitored + caf::detached>(behavior, context,
                                                      where));
  };
  add("ledger", shutdown_tier::ledger, 0, local,
      [=, this] { return with_own_thread(ledger, context->options.journal); });
  add("config", shutdown_tier::service, 0, local, [=, this] {
    return with_own_thread(config_writer, context->configuration);
  });
  add("credential", shutdown_tier::service, 1, local, [this] {
    return caf::actor_cast<caf::actor>(
      self->spawn<caf::monitored>(credential, context));
  });
  if (!context->options.sandboxes.places.empty())
    add("sandboxes", shutdown_tier::service, 2, local, [this] {
      return caf::actor_cast<caf::actor>(self->spawn<caf::monitored>(
        sandbox_controller, context->sandboxes, context));
    });
  for (auto name : context->backends->names())
    for (std::uint32_t i = 0; i < context->options.executors_per_backend; ++i)
      add(std::string{to_string(name)} + "-executor-" + std::to_string(i),
          shutdown_tier::executor, i, name, [this, name] {
            return caf::actor_cast<caf::actor>(
              self->spawn<caf::monitored>(executor, context, name));
          });
  for (std::uint32_t i = 0; i < context->options.dispatchers; ++i)
    add("dispatcher-" + std::to_string(i), shutdown_tier::dispatcher, i, local,
        [this, i] {
          return caf::actor_cast<caf::actor>(
            self->spawn<caf::monitored>(dispatcher, context, i));
        });
  add("gateway", shutdown_tier::gate, 0, local, [this] {
    return caf::actor_cast<caf::actor>(
      self->spawn<caf::monitored>(remote_gateway, context));
  });
  for (auto& c : children)
    start(c);
  publish();
}

void supervisor_state::start(child& c) {
  c.handle = c.spawn();
  c.started_at = context->now();
}

void supervisor_state::publish() {
  auto next = std::make_shared<routing>();
  next->version = ++version;
  next->dispatchers.resize(context->options.dispatchers);
  for (auto& c : children) {
    auto as = [&c]<class Handle>(Handle& into) {
      if (c.handle)
        into = caf::actor_cast<Handle>(c.handle);
    };
    switch (c.tier) {
    case shutdown_tier::ledger:
      as(next->ledger);
      break;
    case shutdown_tier::service:
      if (c.slot == 0)
        as(next->config);
      else if (c.slot == 1)
        as(next->credential);
      else
        as(next->sandboxes);
      break;
    case shutdown_tier::executor: {
      auto& line = next->executors[c.backend.index()];
      line.resize(context->options.executors_per_backend);
      as(line[c.slot]);
      break;
    }
    case shutdown_tier::dispatcher:
      as(next->dispatchers[c.slot]);
      break;
    case shutdown_tier::gate:
      as(next->gate);
      break;
    }
  }
  context->routes.store(std::move(next));
}

// -- death and birth ----------------------------------------------------------

void supervisor_state::down(const caf::down_msg& m) {
  auto c = std::find_if(children.begin(), children.end(), [&](const child& x) {
    return x.handle && x.handle.address() == m.source;
  });
  if (c == children.end())
    return;
  c->handle = caf::actor{};
  if (stopping)
    return stop_next_tier();
  const auto& rules = context->options.supervision;
  const auto t = context->now();
  // Whoever lived for a whole window has earned a quick start.
  c->pause = t - c->started_at > rules.window || c->pause.count() == 0
    ? rules.first_pause
    : std::min(c->pause * 2, rules.longest_pause);
  c->deaths.push_back(t);
  while (!c->deaths.empty() && t - c->deaths.front() > rules.window)
    c->deaths.pop_front();
  context->report("supervisor lost " + c->name + " ("
                  + self->system().render(m.reason) + "), restarting it in "
                  + std::to_string(c->pause.count()) + " ms"
                  + (is_crash_looping(*c) ? ": it keeps failing" : ""));
  if (c->tier == shutdown_tier::executor && is_crash_looping(*c))
    context->backends->find(c->backend)->quarantine_until(t + rules.window);
  publish(); // before anybody is told: what is sent after that goes elsewhere
  engine_metrics::add(context->metrics.restarts);
  notify_death(*c, m.source);
  self->delayed_send(self, c->pause, born_v,
                     static_cast<std::uint64_t>(c - children.begin()));
}

void supervisor_state::notify_death(child& c, const caf::actor_addr& who) {
  if (c.tier != shutdown_tier::dispatcher) {
    for (auto& d : context->routes.load()->dispatchers)
      if (d)
        self->send(d, gone_v, who);
    return;
  }
  abandon_runs_of(c);
  context->router->fail_route(
    route_of(static_cast<std::uint32_t>(c.slot)),
    caf::make_error(caf::exit_reason::unhandled_exception));
}

void supervisor_state::abandon_runs_of(const child& c) {
  const auto slot = static_cast<std::uint32_t>(c.slot);
  auto orphans = context->runs.select([slot](const active_run& run) {
    return run.owner == slot && !run.is_notified();
  });
  for (auto& run : orphans)
    abandon(*context, run,
            {run->may_have_started ? ec::timeout : ec::unavailable,
             run->may_have_started
               ? "a part of the engine failed while the tool was running; "
                 "check its effects before trying again"
               : "a part of the engine failed before the tool was started"});
}

void supervisor_state::restart(std::uint64_t index) {
  if (stopping || index >= children.size() || children[index].handle)
    return;
  // What was sent to the dead one after we had looked belongs to nobody.
  if (children[index].tier == shutdown_tier::dispatcher)
    abandon_runs_of(children[index]);
  start(children[index]);
  publish();
  context->report("supervisor started " + children[index].name + " again");
}

// -- the end ------------------------------------------------------------------

void supervisor_state::stop() {
  stopping = true;
  stop_next_tier();
}

void supervisor_state::stop_next_tier() {
  // From the last rank to the first: dispatchers answer while the ledger is
  // still there to write it down.
  int last = -1;
  for (const auto& c : children)
    if (c.handle)
      last = std::max(last, static_cast<int>(c.tier));
  if (last < 0)
    return self->quit(caf::exit_reason::user_shutdown);
  for (const auto& c : children)
    if (c.handle && static_cast<int>(c.tier) == last)
      caf::anon_send_exit(c.handle, caf::exit_reason::user_shutdown);
}

bool supervisor_state::is_crash_looping(const child& c) const {
  const auto& rules = context->options.supervision;
  return c.deaths.size() >= rules.deaths
    && context->now() - c.deaths.back() <= rules.window;
}

component_health supervisor_state::health() const {
  component_health h;
  std::size_t dispatchers = 0;
  h.ready = true;
  for (const auto& c : children) {
    const bool fails = is_crash_looping(c);
    const bool up = c.handle && !fails;
    h.components.emplace_back(c.name,
                              !c.handle ? "restarting"
                                : fails ? "failing"
                                        : "up");
    if (c.tier == shutdown_tier::dispatcher)
      dispatchers += up ? 1 : 0;
    else if (c.tier
             != shutdown_tier::executor) // those are a matter of the backends
      h.ready = h.ready && up;
  }
  h.ready = h.ready && dispatchers > 0;
  return h;
}

supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self,
           context_ptr context) {
  auto& state = self->state;
  state.self = self;
  state.context = std::move(context);
  self->set_down_handler([self](caf::down_msg& m) { self->state.down(m); });
  self->set_exit_handler([self](caf::exit_msg&) { self->state.stop(); });
  state.start_all();
  return {
    [self](health_atom) { return self->state.health(); },
    [self](restart_atom, std::uint64_t index) { self->state.restart(index); },
  };
}

} // namespace troupe
