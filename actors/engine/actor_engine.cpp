#include "actors/engine/actor_engine.hpp"

#include "actors/caf/request.hpp"
#include "actors/context/metrics_page.hpp"
#include "actors/context/run_intake.hpp"
#include "actors/sandbox/sandbox_services.hpp"
#include "actors/state/object_pool.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

error engine_stopped() {
  return {ec::unavailable, "the engine has stopped"};
}

error no_such_run(const run_id& id) {
  // The same words for a foreign one: ids must not be guessed at.
  return {ec::not_found, "there is no run " + id.str()};
}

run_reference reference_to(const caller& who, const run_id& id) {
  run_reference which;
  which.id = id.str();
  which.organization = who.organization.str();
  return which;
}

/// Why it ended, in the words that its record has.
error failure_of(const active_run& run, error told) {
  const bool ended = run.phase == run_phase::ended;
  return ended && run.failure ? *run.failure : std::move(told);
}

result<std::shared_ptr<const run_request>>
request_in(const run_status_message& note, const run_id& id) {
  if (!note.request)
    return error{ec::conflict,
                 "the request of run " + id.str()
                   + " was not kept: it is larger than "
                     "storage.max-request-bytes, or older than this feature"};
  auto parsed = json::parse_object(
    note.request->reveal(), {.depth = 128, .bytes = note.request->size()});
  if (!parsed)
    return parsed.error();
  auto request = from_wire(*parsed);
  json::value tree(std::move(*parsed));
  json::wipe_texts(tree);
  if (!request)
    return std::move(request.error()).within("read a stored request");
  return std::make_shared<const run_request>(std::move(*request));
}

constexpr std::size_t largest_page = 1'000;

/// A reading may end when the engine has gone.
std::shared_ptr<schema_cache> make_schema_cache(const context_ptr& context) {
  std::weak_ptr<engine_context> weak{context};
  schema_cache::places places;
  places.take = [weak](admission::ticket& ticket, const organization_id& who) {
    auto c = weak.lock();
    return c && c->admissions.enter_at_once(ticket, who, backend_kind::local);
  };
  places.give_back = [weak](admission::ticket& ticket) {
    if (auto c = weak.lock())
      give_place_back(*c, ticket);
  };
  return std::make_shared<schema_cache>(
    context->options.deriver, context->options.derivations, std::move(places));
}

} // namespace

actor_engine::actor_engine(context_ptr context, supervisor_actor supervisor)
    : context_{std::move(context)},
      supervisor_{
        std::make_shared<const supervisor_actor>(std::move(supervisor))},
      schemas_{make_schema_cache(context_)} {}

actor_engine::~actor_engine() = default;

void actor_engine::close() {
  supervisor_.store(nullptr);
}

// -- runs ---------------------------------------------------------------------

void actor_engine::submit(caller who, run_request request,
                          handler<std::shared_ptr<const run_result>> done,
                          event_sink events) {
  auto taken = accept_run(*context_, std::move(who), std::move(request));
  if (!taken)
    return done(std::move(taken.error()));
  const auto& run = taken->run;
  if (events)
    run->events.subscribe(0, std::move(events));
  auto to = choose_dispatcher(*context_, *run);
  const request_options by{route_of(run->owner), taken->priority};
  auto finish = [context = context_, run,
                 done = std::move(done)](result<run_answer> answer) {
    release_run(*context, *run);
    if (answer)
      return done(std::move(answer->result));
    // Whoever ended the run has said so; if nobody did, its dispatcher died.
    abandon(*context, run, answer.error());
    if (run->phase == run_phase::ended && run->outcome)
      return done(run->outcome); // it died with the answer in its hand
    done(failure_of(*run, std::move(answer.error())));
  };
  if (!to)
    return finish(std::move(to.error()));
  ask<run_answer>(*context_->router, by, *to, std::move(finish), run_v, run);
}

void actor_engine::submit_detached(caller who, run_request request,
                                   handler<run_record> accepted) {
  auto taken = accept_run(*context_, std::move(who), std::move(request));
  if (!taken)
    return accepted(std::move(taken.error()));
  const auto& run = taken->run;
  auto to = choose_dispatcher(*context_, *run);
  const request_options by{route_of(run->owner), taken->priority};
  auto finish = [context = context_, run, accepted = std::move(accepted)](
                  result<run_status_message> note) {
    release_run(*context, *run);
    if (note)
      return accepted(to_record(*note));
    abandon(*context, run, note.error());
    accepted(failure_of(*run, std::move(note.error())));
  };
  if (!to)
    return finish(std::move(to.error()));
  ask<run_status_message>(*context_->router, by, *to, std::move(finish),
                          start_v, run);
}

void actor_engine::cancel(caller who, run_id id, handler<run_record> done) {
  auto run = context_->runs.find(id);
  if (!run)
    return find_run(std::move(who), std::move(id), std::move(done));
  if (run->who.organization != who.organization)
    return done(no_such_run(id));
  auto routes = context_->routes.load();
  if (!routes)
    return done(engine_stopped());
  // A run whose dispatcher is being chosen right now sees the wish later.
  run->cancel_wanted = true;
  const auto owner = run->owner.load();
  if (run->phase == run_phase::ended || owner >= routes->dispatchers.size())
    return done(describe(*run));
  auto finish = [done = std::move(done)](result<run_status_message> note) {
    if (note)
      done(to_record(*note));
    else
      done(std::move(note.error()));
  };
  ask<run_status_message>(
    *context_->router, {route_of(owner), caf::message_priority::high},
    routes->dispatchers[owner], std::move(finish), cancel_v, run);
}

void actor_engine::find_run(caller who, run_id id, handler<run_record> done) {
  if (auto run = context_->runs.find(id)) {
    if (run->who.organization != who.organization)
      return done(no_such_run(id));
    return done(describe(*run));
  }
  auto routes = context_->routes.load();
  if (!routes)
    return done(engine_stopped());
  auto finish = [done = std::move(done)](result<run_status_message> note) {
    if (note)
      done(to_record(*note));
    else
      done(std::move(note.error()));
  };
  ask<run_status_message>(*context_->router, 0, routes->ledger,
                          std::move(finish), find_v, reference_to(who, id));
}

void actor_engine::find_request(
  caller who, run_id id, handler<std::shared_ptr<const run_request>> done) {
  if (auto run = context_->runs.find(id)) {
    if (run->who.organization != who.organization)
      return done(no_such_run(id));
    if (auto request = run->request())
      return done(std::move(request));
  }
  auto routes = context_->routes.load();
  if (!routes)
    return done(engine_stopped());
  auto finish = [id, done = std::move(done)](result<run_status_message> note) {
    if (!note)
      return done(std::move(note.error()));
    done(request_in(*note, id));
  };
  ask<run_status_message>(*context_->router, 0, routes->ledger,
                          std::move(finish), find_v, reference_to(who, id));
}

void actor_engine::list_runs(caller who, std::string after, std::size_t limit,
                             handler<page<run_record>> done) {
  auto routes = context_->routes.load();
  if (!routes)
    return done(engine_stopped());
  run_list_query order;
  order.organization = who.organization;
  order.after = std::move(after);
  order.limit = std::min(limit, largest_page);
  auto finish = [done = std::move(done)](result<run_list> list) {
    if (list)
      done(*list->what);
    else
      done(std::move(list.error()));
  };
  ask<run_list>(*context_->router, 0, routes->ledger, std::move(finish), list_v,
                std::move(order));
}

void actor_engine::subscribe(caller who, run_id id, std::uint64_t sequence,
                             event_sink events, handler<void> accepted) {
  if (auto run = context_->runs.find(id)) {
    if (run->who.organization != who.organization)
      return accepted(no_such_run(id));
    if (run->events.full())
      return accepted(
        error{ec::exhausted, "this run has too many readers already"});
    accepted({});
    run->events.subscribe(sequence, std::move(events));
    return;
  }
  // It ended long ago: what is left of it is its end.
  auto publish_end
    = [id, sequence, events = std::move(events),
       accepted = std::move(accepted)](result<run_record> record) {
        if (!record)
          return accepted(std::move(record.error()));
        accepted({});
        run_event note;
        note.sequence = sequence + 1;
        note.kind = run_event_kind::progress;
        note.data = "the events of this run are no longer kept";
        if (!events(note))
          return;
        run_event end;
        end.sequence = sequence + 2;
        end.kind = run_event_kind::end;
        end.result = record->result;
        end.failure = record->failure;
        events(end);
      };
  find_run(std::move(who), std::move(id), std::move(publish_end));
}

void actor_engine::explain(caller who, run_request request,
                           handler<explanation> done) {
  request.id = run_id::make();
  request.organization = who.organization;
  request.user = who.user;
  auto run = make_recycled<active_run>(
    std::move(who), std::make_shared<const run_request>(std::move(request)),
    context_->events);
  auto to = choose_dispatcher(*context_, *run);
  if (!to)
    return done(std::move(to.error()));
  auto finish = [done = std::move(done)](result<explain_result> what) {
    if (what)
      done(*what->what);
    else
      done(std::move(what.error()));
  };
  ask<explain_result>(*context_->router, route_of(run->owner), *to,
                      std::move(finish), explain_v, run);
}

// -- configuration ------------------------------------------------------------

catalog_ptr actor_engine::snapshot() const {
  return context_->catalog();
}

void actor_engine::change(caller who, catalog_change what,
                          handler<change_reply> done) {
  auto routes = context_->routes.load();
  if (!routes)
    return done(engine_stopped());
  change_request order;
  order.who = std::move(who);
  order.what = std::make_shared<const catalog_change>(std::move(what));
  auto finish = [done = std::move(done)](result<change_result> reply) {
    if (reply)
      done(*reply->reply);
    else
      done(std::move(reply.error()));
  };
  ask<change_result>(*context_->router, 0, routes->config, std::move(finish),
                     change_v, std::move(order));
}

void actor_engine::derive_schema(caller who, language lang, std::string source,
                                 std::string function,
                                 handler<derived_schema> done) {
  schemas_->derive(who.organization, lang, std::move(source),
                   std::move(function), std::move(done));
}

// -- operations ---------------------------------------------------------------

void actor_engine::health(handler<engine_health> done) {
  auto supervisor = supervisor_.load();
  if (!supervisor)
    return done(engine_stopped());
  auto finish = [context = context_,
                 done = std::move(done)](result<component_health> parts) {
    engine_health h;
    h.backends = backends_of(*context);
    const bool fit = parts && parts->ready;
    if (parts)
      h.components = std::move(parts->components);
    else
      h.components.emplace_back("supervisor", parts.error().text);
    // Runs go on, and what they say waits; so it is no reason to send none.
    if (auto bad = context->options.journal->write_failure())
      h.components.emplace_back("store",
                                bad->code == ec::no_space
                                  ? "cannot be written: disk full"
                                  : "cannot be written");
    else if (context->record_fails)
      h.components.emplace_back("store", "cannot be written");
    if (context->draining)
      h.components.emplace_back("engine", "draining");
    bool any = false;
    for (const auto& backend : h.backends)
      any = any || backend.ready;
    h.ready = fit && any && !context->draining && context->to_ledger.room();
    done(std::move(h));
  };
  ask<component_health>(*context_->router, 0, *supervisor, std::move(finish),
                        health_v);
}

void actor_engine::list_audit(caller who, std::uint64_t after,
                              std::size_t limit,
                              handler<page<audit_entry>> done) {
  auto routes = context_->routes.load();
  if (!routes)
    return done(engine_stopped());
  audit_list_query order;
  order.organization = who.organization;
  order.after = after;
  order.limit = std::min(limit, largest_page);
  auto finish = [done = std::move(done)](result<audit_list> list) {
    if (list)
      done(*list->what);
    else
      done(std::move(list.error()));
  };
  ask<audit_list>(*context_->router, 0, routes->ledger, std::move(finish),
                  list_v, std::move(order));
}

std::string actor_engine::metrics() const {
  return metrics_text(*context_)
    + (context_->options.sandboxes.places.empty()
         ? std::string{}
         : sandbox_metrics(*context_->sandboxes));
}

} // namespace troupe
