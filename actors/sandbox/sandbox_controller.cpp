#include "actors/sandbox/sandbox_controller.hpp"

#include "actors/caf/request_router.hpp"
#include "actors/sandbox/live_sandbox.hpp"
#include "actors/sandbox/place_call.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/limit_fields.hpp"

namespace troupe {

namespace {

/// The sandbox of an actor that died: nothing else would end it.
void destroy_orphan(const sandbox_place& at,
                    std::shared_ptr<const sandbox_handle> box) {
  call_scope scope{std::chrono::steady_clock::now()
                     + *longest_in(sandbox_state::deleting),
                   nullptr};
  auto work
    = [provider = at.provider, box = std::move(box), scope = std::move(scope)] {
        return provider->destroy(*box, scope);
      };
  // Where that fails, its own life at the place ends it.
  call_place<result<void>>(at.executor, std::move(work),
                           [](std::optional<result<void>>) {});
}

sandbox_error queue_is_full(const std::string& why) {
  return {sandbox_problem::queue_full, ec::exhausted,
          "as many " + why + "; try again later", std::chrono::seconds{2}};
}

} // namespace

void sandbox_controller_state::recall() {
  const auto& rules = services->options.rules;
  admission = std::make_unique<sandbox_admission>(services->options);
  records = std::make_unique<kept_records>(rules.kept_per_organization,
                                           rules.kept_records);
  take_over();
  for (const auto& each : services->index.all()) {
    const auto& r = *each.record;
    self->monitor(each.actor);
    if (r.state == sandbox_state::queued) {
      if (admission->enter(r.id, r.organization, each.place)
          == sandbox_admission::verdict::now)
        self->send(each.actor, admit_v);
    } else if (is_live(r.state)) {
      admission->recall(r.id, r.organization, each.place,
                        r.state == sandbox_state::creating);
    } else {
      keep_record(r);
    }
  }
  schedule_tick();
}

sandbox_result<std::shared_ptr<sandbox_init>>
sandbox_controller_state::init_for(const create_order& order) const {
  if (stopping || engine->draining)
    return sandbox_error{fail(ec::unavailable, "the engine is stopping")};
  auto init = std::make_shared<sandbox_init>();
  auto spec = *order.spec;
  std::string snapshot;
  if (!spec.snapshot.empty()) {
    auto from = services->snapshots.find(order.who.organization, spec.snapshot);
    if (!from)
      return no_such_snapshot(spec.snapshot);
    if (spec.place && *spec.place != from->record->place)
      return sandbox_error{bad_field(
        "/place", "is not where the snapshot is",
        "leave it out, or say " + std::string{to_string(from->record->place)})};
    spec.place = from->record->place;
    spec.template_name = from->record->template_name;
    spec.resources = over(from->resources, spec.resources);
    init->at_place = from->at_place;
    snapshot = from->record->id.str();
  }
  auto record = record_for(spec, services->options, init->place);
  if (!record)
    return record.error();
  record->snapshot = std::move(snapshot);
  record->organization = order.who.organization;
  record->created_at = now();
  if (!record->name.empty()
      && services->index.has_name(record->organization, record->name))
    return sandbox_error{fail(ec::conflict,
                              "there is a sandbox '" + record->name
                                + "' already; use it, or another name")};
  init->record = std::move(*record);
  init->env = order.spec->env;
  init->git = order.spec->git;
  init->who = order.who;
  init->events
    = std::make_shared<sandbox_event_log>(services->options.rules.events);
  return init;
}

std::optional<sandbox_record_ptr>
sandbox_controller_state::of_session(const create_order& order) const {
  if (order.spec->session.empty())
    return std::nullopt;
  auto found
    = services->index.of_session(order.who.organization, order.spec->session);
  return found ? std::optional{found->record} : std::nullopt;
}

record_answer sandbox_controller_state::create(const create_order& order) {
  if (auto known = of_session(order))
    return *known;
  auto init = init_for(order);
  if (!init)
    return init.error();
  const auto id = (*init)->record.id;
  const auto place = (*init)->place;
  auto record = std::make_shared<sandbox_record>((*init)->record);
  using verdict = sandbox_admission::verdict;
  const auto entered = admission->enter(id, record->organization, place);
  if (entered == verdict::queue_full)
    return queue_is_full("sandboxes wait already as sandbox.queue allows");
  if (entered == verdict::share_full)
    return queue_is_full("sandboxes of this organization wait already as "
                         "sandbox.queue-per-organization allows");
  sandbox_index::entry entry;
  entry.record = record;
  entry.place = place;
  entry.route = services->index.make_route();
  entry.due = services->now() + services->options.rules.queue_timeout;
  entry.events = (*init)->events;
  entry.actor = self->spawn<caf::monitored>(sandbox, services, engine, *init);
  services->index.put(id, entry);
  if (entered == verdict::now)
    self->send(entry.actor, admit_v);
  ledger_entry line;
  line.organization = record->organization;
  line.audit = audit_of_sandbox(order.who, "sandbox_created", *record);
  enqueue_ledger_entry(*engine, std::move(line));
  schedule_tick();
  return sandbox_record_ptr{record};
}

records_answer sandbox_controller_state::list(const list_order& order) const {
  auto found = std::make_shared<page<sandbox_record_ptr>>();
  // The index is in the order of the ids, which cursors are.
  for (auto& each : services->index.all()) {
    const auto& r = *each.record;
    if (r.organization != order.organization
        || (!order.which->after.empty() && r.id.str() <= order.which->after)
        || !order.which->accepts(r))
      continue;
    if (found->items.size() == order.which->limit) {
      found->next = found->items.back()->id.str();
      break;
    }
    found->items.push_back(std::move(each.record));
  }
  return std::shared_ptr<const page<sandbox_record_ptr>>{found};
}

void sandbox_controller_state::changed(const sandbox_id& id) {
  auto entry = services->index.find(id);
  if (!entry)
    return;
  const auto state = entry->record->state;
  if (state == sandbox_state::queued)
    return;
  if (!is_live(state))
    admission->left(id);
  else if (state != sandbox_state::creating)
    admission->made(id);
  if (stopping && is_over(state))
    caf::anon_send_exit(entry->actor, caf::exit_reason::user_shutdown);
  if (is_over(state))
    keep_record(*entry->record);
  admit_more();
}

void sandbox_controller_state::keep_record(const sandbox_record& r) {
  const auto oldest = records->add(r.id, r.organization);
  if (!oldest)
    return;
  if (auto entry = services->index.find(*oldest))
    caf::anon_send_exit(entry->actor, caf::exit_reason::user_shutdown);
}

void sandbox_controller_state::admit_more() {
  while (auto id = admission->next())
    if (auto entry = services->index.find(*id))
      self->send(entry->actor, admit_v);
    else
      admission->left(*id);
}

void sandbox_controller_state::schedule_tick() {
  if (!std::exchange(ticking, true))
    self->delayed_send(self, services->options.rules.tick, tick_v);
}

void sandbox_controller_state::tick() {
  ticking = false;
  for (const auto& each : services->index.due(services->now()))
    self->send(each, tick_v);
  if (!services->index.empty())
    schedule_tick();
}

void sandbox_controller_state::down(const caf::down_msg& m) {
  auto id = services->index.id_of(m.source);
  if (!id)
    return;
  auto entry = services->index.find(*id);
  services->index.erase(*id);
  admission->left(*id);
  records->forget(*id);
  // What was sent to it and not answered never will be.
  services->router->fail_route(
    entry->route, caf::make_error(caf::exit_reason::unhandled_exception));
  if (entry->box)
    destroy_orphan(services->options.places[entry->place], entry->box);
  if (!stopping)
    return admit_more();
  if (services->index.empty())
    self->quit(caf::exit_reason::user_shutdown);
}

void sandbox_controller_state::stop() {
  if (std::exchange(stopping, true))
    return;
  const auto all = services->index.all();
  if (all.empty())
    return self->quit(caf::exit_reason::user_shutdown);
  for (const auto& each : all)
    if (is_over(each.record->state))
      caf::anon_send_exit(each.actor, caf::exit_reason::user_shutdown);
    else
      caf::anon_send(each.actor, remove_v, remove_order{sandbox_end::shutdown});
  self->delayed_send(self, services->options.rules.stop_patience, overdue_v);
}

void sandbox_controller_state::overdue() {
  for (const auto& each : services->index.all())
    caf::anon_send_exit(each.actor, caf::exit_reason::kill);
  self->quit(caf::exit_reason::user_shutdown);
}

sandbox_controller_actor::behavior_type sandbox_controller(
  sandbox_controller_actor::stateful_pointer<sandbox_controller_state> self,
  sandbox_services_ptr services, run_services_ptr engine) {
  auto& state = self->state;
  state.self = self;
  state.services = std::move(services);
  state.engine = std::move(engine);
  self->set_down_handler([self](caf::down_msg& m) { self->state.down(m); });
  self->set_exit_handler([self](caf::exit_msg&) { self->state.stop(); });
  state.recall();
  return {
    [self](create_atom, const create_order& order) {
      return self->state.create(order);
    },
    [self](list_atom, const list_order& order) {
      return self->state.list(order);
    },
    [self](changed_atom, const sandbox_reference& which) {
      self->state.changed(which.id);
    },
    [self](event_atom, const left_sandboxes& news) { self->state.heard(news); },
    [self](look_atom, std::uint64_t place) {
      self->state.ask_what_is_left(place);
    },
    [self](tick_atom) { self->state.tick(); },
    [self](overdue_atom) { self->state.overdue(); },
  };
}

} // namespace troupe
