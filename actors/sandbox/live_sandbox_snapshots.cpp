// Snapshots of a sandbox's files.
#include "actors/sandbox/live_sandbox.hpp"
#include "actors/sandbox/place_call.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/limit_fields.hpp"

namespace troupe {

namespace {

using state = sandbox_state;

sandbox_error takes_none(const sandbox_place& at) {
  return {sandbox_problem::unsupported_here, ec::invalid_request,
          std::string{to_string(at.name)}
            + " takes no snapshots of sandboxes; copy the files, or make the "
              "sandbox on this machine"};
}

sandbox_error busy_with_files() {
  return {sandbox_problem::none, ec::conflict,
          "a snapshot of this sandbox is under way", std::chrono::seconds{1}};
}

/// What a place says of its disk and of what is not there is said as such.
sandbox_error from_place(const error& why) {
  if (why.code == ec::exhausted)
    return {sandbox_problem::disk_limit, ec::no_space, why.text};
  if (why.code == ec::unavailable)
    return {sandbox_problem::place_unavailable, why.code, why.text,
            std::chrono::seconds{1}};
  return sandbox_error{why};
}

boost::asio::awaitable<result<place_snapshot>>
take_at_place(std::shared_ptr<sandbox_provider> provider,
              std::shared_ptr<const sandbox_handle> box,
              std::chrono::milliseconds longest) {
  call_scope scope{std::chrono::steady_clock::now() + longest, nullptr};
  co_return co_await provider->snapshot(*box, scope);
}

boost::asio::awaitable<result<void>>
roll_back_at_place(std::shared_ptr<sandbox_provider> provider,
                   std::shared_ptr<const sandbox_handle> box,
                   std::string snapshot, std::chrono::milliseconds longest) {
  call_scope scope{std::chrono::steady_clock::now() + longest, nullptr};
  co_return co_await provider->rollback(*box, std::move(snapshot), scope);
}

} // namespace

caf::result<snapshot_answer>
live_sandbox::snapshot(const snapshot_order& order) {
  if (!cutting && may_resume())
    return after_resuming<snapshot_answer>(snapshot_v, order);
  if (auto why = why_not_running())
    return snapshot_answer{std::move(*why)};
  if (!place().provider->capabilities().snapshots)
    return snapshot_answer{takes_none(place())};
  if (cutting)
    return snapshot_answer{busy_with_files()};
  const auto& rules = services->options.rules;
  if (!order.temporary)
    if (auto why = services->snapshots.refuse(record()->organization,
                                              order.name, rules.snapshots))
      return snapshot_answer{std::move(*why)};
  cutting = true;
  wanted_snapshot = order;
  auto home = sandbox_actor{self};
  auto work = [provider = place().provider, box = box,
               longest = rules.snapshot_timeout] {
    return take_at_place(provider, box, longest);
  };
  call_place<result<place_snapshot>>(
    place().executor, std::move(work),
    [home](std::optional<result<place_snapshot>> came) {
      place_event news;
      news.what = place_event::kind::snapped;
      if (came && *came)
        news.snapshot = std::make_shared<place_snapshot>(std::move(**came));
      else
        news.failure
          = std::make_shared<const error>(came ? came->error() : place_threw());
      caf::anon_send(home, event_v, std::move(news));
    });
  snapshots.push_back(self->make_response_promise<snapshot_answer>());
  return snapshots.back();
}

/// As another one like it is asked for.
std::shared_ptr<const sandbox_spec> live_sandbox::spec_of_it() const {
  const auto& r = *record();
  auto spec = std::make_shared<sandbox_spec>();
  spec->template_name = r.template_name;
  spec->place = r.place;
  spec->timeout = r.timeout;
  spec->on_timeout = r.on_timeout;
  spec->idle_timeout = r.idle_timeout;
  spec->on_idle = r.on_idle;
  spec->auto_resume = r.auto_resume;
  spec->metadata = r.metadata;
  spec->env = env;
  spec->resources = all_of(r.resources);
  spec->network = r.network;
  return spec;
}

void live_sandbox::snapped(const place_event& news) {
  cutting = false;
  auto waiting = std::exchange(snapshots, {});
  const auto say = [&waiting](const snapshot_answer& what) {
    for (auto& each : waiting)
      each.deliver(what);
  };
  go_on(std::nullopt);
  if (news.failure)
    return say(from_place(*news.failure));
  auto r = std::make_shared<snapshot_record>();
  r->id = sandbox_id::make();
  r->organization = record()->organization;
  r->name = wanted_snapshot.name;
  r->sandbox = record()->id;
  r->place = record()->place;
  r->template_name = record()->template_name;
  r->bytes = news.snapshot->bytes;
  r->copied = news.snapshot->copied;
  r->stood_still = news.snapshot->stood_still;
  r->created_at = now();
  services->snapshots.put({r, place_index, news.snapshot->id,
                           record()->resources, wanted_snapshot.temporary});
  if (!wanted_snapshot.temporary)
    events->tell(sandbox_event::kind::snapshot, r->id.str());
  say(taken_snapshot{r, spec_of_it()});
}

caf::result<record_answer> live_sandbox::rollback(const rollback_order& order) {
  if (!cutting && may_resume())
    return after_resuming<record_answer>(rollback_v, order);
  if (auto why = why_not_running())
    return record_answer{std::move(*why)};
  if (cutting)
    return record_answer{busy_with_files()};
  wanted_rollback
    = services->snapshots.find(record()->organization, order.snapshot);
  if (!wanted_rollback || wanted_rollback->record->sandbox != record()->id)
    return record_answer{no_such_snapshot(order.snapshot + " of this sandbox")};
  cutting = true;
  end_processes(process_reason::killed);
  auto home = sandbox_actor{self};
  auto work = [provider = place().provider, box = box,
               snapshot = wanted_rollback->at_place,
               longest = services->options.rules.snapshot_timeout] {
    return roll_back_at_place(provider, box, snapshot, longest);
  };
  call_place<result<void>>(place().executor, std::move(work),
                           [home](std::optional<result<void>> came) {
                             place_event news;
                             news.what = place_event::kind::rolled_back;
                             if (!came || !*came)
                               news.failure = std::make_shared<const error>(
                                 came ? came->error() : place_threw());
                             caf::anon_send(home, event_v, std::move(news));
                           });
  rollbacks.push_back(self->make_response_promise<record_answer>());
  return rollbacks.back();
}

void live_sandbox::rolled_back(const place_event& news) {
  cutting = false;
  auto waiting = std::exchange(rollbacks, {});
  if (!news.failure)
    events->tell(sandbox_event::kind::rollback,
                 wanted_rollback->record->id.str());
  go_on(std::nullopt);
  for (auto& each : waiting)
    if (news.failure)
      each.deliver(record_answer{from_place(*news.failure)});
    else
      each.deliver(record_answer{record()});
}

void live_sandbox::go_on(const std::optional<sandbox_error>& why) {
  for (auto& each : std::exchange(waiting_until_resumed, {}))
    each(why);
}

} // namespace troupe
