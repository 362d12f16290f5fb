#include "actors/engine/supervisor.hpp"

#include "actors/cluster/remote_gateway.hpp"
#include "actors/config/config_writer.hpp"
#include "actors/config/credential.hpp"
#include "actors/dispatch/dispatcher.hpp"
#include "actors/dispatch/executor.hpp"
#include "actors/ledger/ledger.hpp"

#include <algorithm>

namespace troupe {

void supervisor_state::begin(std::shared_ptr<configuration_store> store,
                             std::shared_ptr<journal> books) {
  auto add = [this](std::string child_name, rank level, std::size_t slot,
                    backend_kind kind, std::function<caf::actor()> spawn) {
    child c;
    c.name = std::move(child_name);
    c.level = level;
    c.slot = slot;
    c.kind = kind;
    c.spawn = std::move(spawn);
    children.push_back(std::move(c));
  };
  const auto local = backend_kind::local;
  add("ledger", rank::ledger, 0, local, [this, books] {
    return caf::actor_cast<caf::actor>(
      self->spawn<caf::monitored + caf::detached>(ledger, context, books));
  });
  add("config", rank::service, 0, local, [this, store] {
    return caf::actor_cast<caf::actor>(
      self->spawn<caf::monitored + caf::detached>(config_writer, context,
                                                  store));
  });
  add("credential", rank::service, 1, local, [this, store] {
    return caf::actor_cast<caf::actor>(
      self->spawn<caf::monitored>(credential, context, store));
  });
  for (auto kind : context->board->kinds())
    for (std::uint32_t i = 0; i < context->options.executors_per_backend; ++i)
      add(std::string{to_string(kind)} + "-executor-" + std::to_string(i),
          rank::executor, i, kind, [this, kind] {
            return caf::actor_cast<caf::actor>(
              self->spawn<caf::monitored>(executor, context, kind));
          });
  for (std::uint32_t i = 0; i < context->options.dispatchers; ++i)
    add("dispatcher-" + std::to_string(i), rank::dispatcher, i, local,
        [this, i] {
          return caf::actor_cast<caf::actor>(
            self->spawn<caf::monitored>(dispatcher, context, i));
        });
  add("gateway", rank::gate, 0, local, [this] {
    return caf::actor_cast<caf::actor>(
      self->spawn<caf::monitored>(gate, context));
  });
  for (auto& c : children)
    start(c);
  publish();
}

void supervisor_state::start(child& c) {
  c.handle = c.spawn();
  c.born = clock::now();
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
    switch (c.level) {
    case rank::ledger:
      as(next->ledger);
      break;
    case rank::service:
      if (c.slot == 0)
        as(next->config);
      else
        as(next->credential);
      break;
    case rank::executor: {
      auto& line = next->executors[static_cast<std::size_t>(c.kind)];
      line.resize(context->options.executors_per_backend);
      as(line[c.slot]);
      break;
    }
    case rank::dispatcher:
      as(next->dispatchers[c.slot]);
      break;
    case rank::gate:
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
    return stop_next_rank();
  const auto& rules = context->options.supervision;
  const auto t = clock::now();
  // Whoever lived for a whole window has earned a quick start.
  c->pause = t - c->born > rules.window || c->pause.count() == 0
    ? rules.first_pause
    : std::min(c->pause * 2, rules.longest_pause);
  c->deaths.push_back(t);
  while (!c->deaths.empty() && t - c->deaths.front() > rules.window)
    c->deaths.pop_front();
  context->report("supervisor lost " + c->name + " ("
                  + self->system().render(m.reason) + "), restarting it in "
                  + std::to_string(c->pause.count()) + " ms"
                  + (is_crash_looping(*c) ? ": it keeps failing" : ""));
  if (c->level == rank::executor && is_crash_looping(*c))
    context->board->find(c->kind)->quarantine_until(t + rules.window);
  publish(); // before anybody is told: what is sent after that goes elsewhere
  meters::add(context->meter.restarts);
  lost(*c, m.source);
  self->delayed_send(self, c->pause, born_v,
                     static_cast<std::uint64_t>(c - children.begin()));
}

void supervisor_state::lost(child& c, const caf::actor_addr& who) {
  if (c.level != rank::dispatcher) {
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

void supervisor_state::born(std::uint64_t index) {
  if (stopping || index >= children.size() || children[index].handle)
    return;
  // What was sent to the dead one after we had looked belongs to nobody.
  if (children[index].level == rank::dispatcher)
    abandon_runs_of(children[index]);
  start(children[index]);
  publish();
  context->report("supervisor started " + children[index].name + " again");
}

// -- the end ------------------------------------------------------------------

void supervisor_state::stop() {
  stopping = true;
  stop_next_rank();
}

void supervisor_state::stop_next_rank() {
  // From the last rank to the first: dispatchers answer while the ledger is
  // still there to write it down.
  int last = -1;
  for (const auto& c : children)
    if (c.handle)
      last = std::max(last, static_cast<int>(c.level));
  if (last < 0)
    return self->quit(caf::exit_reason::user_shutdown);
  for (const auto& c : children)
    if (c.handle && static_cast<int>(c.level) == last)
      caf::anon_send_exit(c.handle, caf::exit_reason::user_shutdown);
}

bool supervisor_state::is_crash_looping(const child& c) const {
  const auto& rules = context->options.supervision;
  return c.deaths.size() >= rules.deaths
    && clock::now() - c.deaths.back() <= rules.window;
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
    if (c.level == rank::dispatcher)
      dispatchers += up ? 1 : 0;
    else if (c.level != rank::executor) // those are a matter of the backends
      h.ready = h.ready && up;
  }
  h.ready = h.ready && dispatchers > 0;
  return h;
}

supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self,
           context_ptr context, std::shared_ptr<configuration_store> store,
           std::shared_ptr<journal> books) {
  auto& state = self->state;
  state.self = self;
  state.context = std::move(context);
  self->set_down_handler([self](caf::down_msg& m) { self->state.down(m); });
  self->set_exit_handler([self](caf::exit_msg&) { self->state.stop(); });
  state.begin(std::move(store), std::move(books));
  return {
    [self](health_atom) { return self->state.health(); },
    [self](restart_atom, std::uint64_t index) { self->state.born(index); },
  };
}

} // namespace troupe
