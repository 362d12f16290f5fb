#include "actors/sandbox/live_sandbox.hpp"

#include "actors/sandbox/place_call.hpp"
#include "runtime/engine/sandbox_repository.hpp"
#include "runtime/json/json.hpp"

#include <boost/asio/post.hpp>

namespace troupe {

namespace {

using state = sandbox_state;

std::shared_ptr<const error> shared(error why) {
  return std::make_shared<const error>(std::move(why));
}

/// What a place calls a template.
std::shared_ptr<const sandbox_config> config_for(backend_kind kind,
                                                 const std::string& name) {
  auto config = std::make_shared<sandbox_config>();
  config->type = kind;
  if (!name.empty())
    config->config[kind == backend_kind::daytona ? "snapshot" : "template"]
      = name;
  return config;
}

} // namespace

// -- life ---------------------------------------------------------------------

sandbox_request live_sandbox::request() const {
  const auto& r = *record();
  sandbox_request wanted;
  wanted.tag = r.id.str();
  // What cannot be renewed lives as long as it may, and our clock ends it.
  const auto lifetime = place().provider->capabilities().renew
    ? r.timeout
    : services->options.rules.max_life;
  wanted.lifetime = std::chrono::ceil<std::chrono::seconds>(lifetime)
    + std::chrono::seconds{60}; // for the way there, and for the deletion
  wanted.organization = r.organization;
  wanted.config = config_for(place().name.kind(), r.template_name);
  wanted.kind = run_kind::command;
  wanted.limits = r.resources;
  wanted.network = r.network;
  wanted.env = env;
  wanted.snapshot = at_place;
  // It may be kept for longer than the actor.
  wanted.lost = [home = self->address()](const error& why) {
    const auto there = caf::actor_cast<sandbox_actor>(home);
    if (!there)
      return;
    place_event news;
    news.what = place_event::kind::lost;
    news.failure = shared(why);
    caf::anon_send(there, event_v, std::move(news));
  };
  return wanted;
}

void live_sandbox::admit() {
  const auto now = services->now();
  if (!life->enter(state::creating, now))
    return publish(); // it was deleted meanwhile: the room is free again
  admitted_at = now;
  creation = std::make_shared<cancellation>();
  publish();
  if (!outlives_us(place()))
    return make(creation);
  // Written before it exists: no crash leaves one that no record names.
  kept = record();
  services->records.put(
    to_store(), [home = sandbox_actor{self}](const result<void>& written) {
      place_event news;
      news.what = place_event::kind::recorded;
      if (!written)
        news.failure = shared(written.error());
      caf::anon_send(home, event_v, std::move(news));
    });
}

void live_sandbox::make(std::shared_ptr<cancellation> cancel) {
  call_scope scope{std::chrono::steady_clock::now()
                     + *longest_in(state::creating),
                   std::move(cancel)};
  auto home = sandbox_actor{self};
  auto work = [provider = place().provider, wanted = request(), git = git,
               scope = std::move(scope)] {
    return create_sandbox(provider, wanted, git, scope);
  };
  call_place<sandbox_creation>(
    place().executor, std::move(work),
    [home](std::optional<sandbox_creation> came) {
      place_event news;
      news.what = place_event::kind::created;
      news.creation = came
        ? std::make_shared<sandbox_creation>(std::move(*came))
        : std::make_shared<sandbox_creation>(sandbox_creation{place_threw()});
      caf::anon_send(home, event_v, std::move(news));
    });
}

void live_sandbox::recorded(const place_event& news) {
  if (state() != state::creating) { // it was deleted meanwhile
    creation.reset();
    return destroy();
  }
  if (!news.failure)
    return make(creation);
  creation.reset();
  finish(state::failed, sandbox_end::start_failed, news.failure);
}

void live_sandbox::created(const place_event& news) {
  creation.reset();
  auto& made = *news.creation;
  const auto now = services->now();
  if (made.sandbox)
    box = std::make_shared<const sandbox_handle>(std::move(*made.sandbox));
  else if (!made.left_behind.empty())
    box = std::make_shared<const sandbox_handle>(
      sandbox_handle{made.left_behind});
  if (state() == state::deleting)
    return destroy();
  if (made.sandbox) {
    life->enter(state::running, now);
    services->meters.created_in(
      std::chrono::duration_cast<std::chrono::microseconds>(now - admitted_at));
    return publish();
  }
  auto why = shared(made.sandbox.error());
  if (!box)
    return finish(state::failed, sandbox_end::start_failed, std::move(why));
  life->enter(state::deleting, sandbox_end::start_failed, now, std::move(why));
  publish();
  destroy();
}

caf::result<record_answer> live_sandbox::ready() {
  if (state() != state::queued && state() != state::creating)
    return record_answer{record()};
  waiting_until_ready.push_back(self->make_response_promise<record_answer>());
  return waiting_until_ready.back();
}

caf::result<record_answer> live_sandbox::remove(const remove_order& order) {
  if (is_over(state()))
    return record_answer{record()};
  removals.push_back(self->make_response_promise<record_answer>());
  auto answer = removals.back(); // which may be gone from the list below
  begin_removal(order.why);
  return answer;
}

void live_sandbox::begin_removal(sandbox_end why) {
  const auto now = services->now();
  if (life->enter(state::deleted, why, now))
    return publish(); // nothing of it exists
  if (!life->enter(state::deleting, why, now))
    return; // it is under way
  publish();
  end_processes(process_reason::sandbox_ended);
  end_contexts("the sandbox has ended");
  if (creation) // it goes as soon as it is known whether it is there
    boost::asio::post(place().executor,
                      [creation = creation] { creation->cancel(); });
  else
    destroy();
}

void live_sandbox::destroy() {
  if (destroying)
    return;
  auto home = sandbox_actor{self};
  if (unknown_box)
    return; // its place is asked first
  if (!box)
    return destroyed({place_event::kind::destroyed, {}, {}, {}, {}});
  destroying = true;
  call_scope scope{
    std::chrono::steady_clock::now() + *longest_in(state::deleting), nullptr};
  auto work
    = [provider = place().provider, box = box, scope = std::move(scope)] {
        return provider->destroy(*box, scope);
      };
  call_place<result<void>>(place().executor, std::move(work),
                           [home](std::optional<result<void>> came) {
                             place_event news;
                             news.what = place_event::kind::destroyed;
                             if (!came || !*came)
                               news.failure
                                 = shared(came ? came->error() : place_threw());
                             caf::anon_send(home, event_v, std::move(news));
                           });
}

void live_sandbox::destroyed(const place_event& news) {
  destroying = false;
  const auto now = services->now();
  if (news.failure && news.failure->code != ec::not_found) {
    // It may still be there, and so it still counts: tried again until true.
    life->failed_to_delete(news.failure, now);
    publish();
    const sandbox_error why{sandbox_problem::place_unavailable, ec::unavailable,
                            "the sandbox could not be deleted yet, and that is "
                            "tried again: "
                              + news.failure->text,
                            services->options.rules.first_retry};
    for (auto& each : std::exchange(removals, {}))
      each.deliver(record_answer{why});
    return;
  }
  box.reset();
  finish(state::deleted, record()->end, {});
}

void live_sandbox::finish(sandbox_state last, sandbox_end why,
                          std::shared_ptr<const error> failure) {
  env.clear();
  end_processes(process_reason::sandbox_ended);
  end_contexts("the sandbox has ended");
  for (auto& [id, entry] : processes)
    entry.process->is_lost(process_reason::sandbox_ended);
  life->enter(last, why, services->now(), std::move(failure));
  publish();
}

void live_sandbox::lost(const place_event& news) {
  if (is_over(state()) || state() == state::deleting
      || state() == state::creating)
    return; // it is on its way
  box.reset();
  finish(state::failed, sandbox_end::lost, news.failure);
}

void live_sandbox::tick() {
  const auto now = services->now();
  using alarm = sandbox_life::alarm;
  switch (life->look(now)) {
  case alarm::none:
    break;
  case alarm::queue_expired:
    finish(state::failed, sandbox_end::queue_timeout,
           shared(fail(ec::exhausted,
                       "no room for a sandbox became free in time; delete "
                       "another one, or raise sandbox.max or "
                       "sandbox.max-per-organization")));
    break;
  case alarm::expiring:
    life->told_expiring();
    events->tell(sandbox_event::kind::expiring);
    break;
  case alarm::expired:
    end_by(record()->on_timeout, sandbox_end::timeout);
    break;
  case alarm::idle:
    if (has_bounded_process())
      touch(); // its caller waits for it, and its own timeout ends it
    else
      end_by(record()->on_idle, sandbox_end::idle);
    break;
  case alarm::paused_too_long:
    begin_removal(sandbox_end::paused_too_long);
    break;
  case alarm::stuck:
    begin_removal(state() == state::creating ? sandbox_end::start_failed
                                             : sandbox_end::lost);
    break;
  case alarm::retry:
    life->retries();
    publish();
    destroy();
    break;
  case alarm::forget:
    services->records.erase(record()->organization, record()->id);
    return self->quit();
  }
  contexts_due(now);
  processes_due(now);
}

void live_sandbox::handle(const place_event& news) {
  switch (news.what) {
  case place_event::kind::recorded:
    return recorded(news);
  case place_event::kind::created:
    return created(news);
  case place_event::kind::found:
    return found(news);
  case place_event::kind::renewed:
    return renewed(news);
  case place_event::kind::paused:
    return paused(news);
  case place_event::kind::resumed:
    return resumed(news);
  case place_event::kind::snapped:
    return snapped(news);
  case place_event::kind::rolled_back:
    return rolled_back(news);
  case place_event::kind::networked:
    return networked(news);
  case place_event::kind::lost:
    return lost(news);
  case place_event::kind::destroyed:
    return destroyed(news);
  case place_event::kind::begun:
    return process_begun(news);
  case place_event::kind::ended:
    return process_ended(news.process);
  case place_event::kind::context:
    return context_changed();
  }
}

void live_sandbox::publish() {
  if (std::exchange(told, state()) != state())
    events->tell(sandbox_event::kind::state, std::string{to_string(state())},
                 std::string{to_string(record()->end)});
  if (is_over(state()))
    events->close();
  keep();
  tell_due();
  if (auto routes = engine->routes.load(); routes && routes->sandboxes)
    self->send(routes->sandboxes, changed_v, sandbox_reference{record()->id});
  answer_waiting();
}

void live_sandbox::answer_waiting() {
  if (state() != state::queued && state() != state::creating)
    for (auto& each : std::exchange(waiting_until_ready, {}))
      each.deliver(record_answer{record()});
  if (!is_over(state()) || std::exchange(end_told, true))
    return;
  for (auto& each : std::exchange(waiting_until_resumed, {}))
    each(ended());
  for (auto& each : std::exchange(pauses, {}))
    each.deliver(record_answer{ended()});
  services->meters.end(record()->end);
  for (auto& each : std::exchange(removals, {}))
    each.deliver(record_answer{record()});
  ledger_entry line;
  line.organization = record()->organization;
  line.audit = audit_of_sandbox(who, "sandbox_ended", *record());
  enqueue_ledger_entry(*engine, std::move(line));
}

std::optional<sandbox_error> live_sandbox::why_not_running() const {
  switch (state()) {
  case state::running:
    return std::nullopt;
  case state::deleting:
  case state::deleted:
  case state::failed:
    return ended();
  case state::paused:
  case state::pausing:
    return sandbox_error{sandbox_problem::sandbox_paused, ec::conflict,
                         "the sandbox is paused; resume it"};
  default:
    return sandbox_error{sandbox_problem::sandbox_not_running, ec::conflict,
                         "the sandbox is " + std::string{to_string(state())}
                           + "; ask again when it runs",
                         std::chrono::seconds{1}};
  }
}

sandbox_error live_sandbox::ended() const {
  auto text = "the sandbox has ended (" + std::string{to_string(record()->end)}
    + "); create another one";
  return {sandbox_problem::sandbox_ended, ec::not_found, std::move(text)};
}

std::string audit_of_sandbox(const caller& who, std::string_view change,
                             const sandbox_record& r) {
  json::object line;
  line["event"] = change;
  line["sandbox"] = r.id.str();
  line["place"] = to_string(r.place);
  line["user"] = who.user.str();
  if (who.key)
    line["key"] = who.key.str();
  if (!who.request_id.empty())
    line["request"] = who.request_id;
  if (!r.template_name.empty())
    line["template"] = r.template_name;
  line["network"] = to_string(r.network.mode);
  line["state"] = to_string(r.state);
  if (r.end != sandbox_end::none)
    line["end"] = to_string(r.end);
  if (r.failure)
    line["error"] = to_string(r.failure->code);
  return json::to_text(line);
}

} // namespace troupe
