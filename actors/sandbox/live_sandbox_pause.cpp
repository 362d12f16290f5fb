// A sandbox that stands still and goes on, and what of it can be changed.
#include "actors/sandbox/live_sandbox.hpp"
#include "actors/sandbox/place_call.hpp"
#include "actors/sandbox/sandbox_controller.hpp"

#include <boost/asio/any_io_executor.hpp>

namespace troupe {

namespace {

using state = sandbox_state;

/// Before the state itself counts as stuck.
constexpr std::chrono::seconds longest_call{8};

/// For the way there, and for the deletion.
constexpr std::chrono::seconds reserve{60};

using still_work = boost::asio::awaitable<result<void>> (sandbox_provider::*)(
  const sandbox_handle&, std::chrono::seconds, call_scope);

boost::asio::awaitable<result<void>>
call_still(std::shared_ptr<sandbox_provider> provider, still_work what,
           std::shared_ptr<const sandbox_handle> box,
           std::chrono::seconds lifetime) {
  call_scope scope{std::chrono::steady_clock::now() + longest_call, nullptr};
  co_return co_await ((*provider).*what)(*box, lifetime, scope);
}

/// Calls `pause` or `resume` of a place; the actor hears of it.
void ask_place(const sandbox_place& place, still_work what,
               std::shared_ptr<const sandbox_handle> box,
               std::chrono::milliseconds lifetime, sandbox_actor home,
               place_event::kind news_of) {
  const auto seconds
    = std::chrono::ceil<std::chrono::seconds>(lifetime) + reserve;
  auto work = [provider = place.provider, what, box = std::move(box), seconds] {
    return call_still(provider, what, box, seconds);
  };
  call_place<result<void>>(place.executor, std::move(work),
                           [home, news_of](std::optional<result<void>> came) {
                             place_event news;
                             news.what = news_of;
                             if (!came || !*came)
                               news.failure = std::make_shared<const error>(
                                 came ? came->error() : place_threw());
                             caf::anon_send(home, event_v, std::move(news));
                           });
}

boost::asio::awaitable<result<void>>
set_at_place(std::shared_ptr<sandbox_provider> provider,
             std::shared_ptr<const sandbox_handle> box, network_policy policy) {
  call_scope scope{std::chrono::steady_clock::now() + longest_call, nullptr};
  co_return co_await provider->set_network(*box, std::move(policy), scope);
}

sandbox_error on_its_way(state now) {
  return {sandbox_problem::sandbox_not_running, ec::conflict,
          "the sandbox is " + std::string{to_string(now)} + "; ask again soon",
          std::chrono::seconds{1}};
}

} // namespace

caf::result<record_answer> live_sandbox::pause() {
  if (state() == state::paused)
    return record_answer{record()};
  if (state() != state::pausing) {
    if (auto why = why_not_running())
      return record_answer{std::move(*why)};
    if (auto why = cannot_do(timeout_action::pause, place()))
      return record_answer{std::move(*why)};
    if (cutting)
      return record_answer{sandbox_error{
        sandbox_problem::none, ec::conflict,
        "a snapshot of this sandbox is under way", std::chrono::seconds{1}}};
    begin_pause();
  }
  pauses.push_back(self->make_response_promise<record_answer>());
  return pauses.back();
}

void live_sandbox::begin_pause() {
  still_since = services->now();
  if (!life->enter(state::pausing, still_since))
    return;
  publish();
  ask_place(place(), &sandbox_provider::pause, box,
            services->options.rules.paused_for, sandbox_actor{self},
            place_event::kind::paused);
}

void live_sandbox::paused(const place_event& news) {
  auto waiting = std::exchange(pauses, {});
  const auto say = [&waiting](const record_answer& what) {
    for (auto& each : waiting)
      each.deliver(what);
  };
  if (state() != state::pausing) // it was deleted meanwhile
    return say(ended());
  const auto now = services->now();
  if (!news.failure) {
    life->enter(state::paused, now);
    publish();
    return say(record());
  }
  const bool was_due = still_since >= life->timeout_end();
  life->enter(state::running, sandbox_end::none, now, news.failure);
  publish();
  say(sandbox_error{sandbox_problem::place_unavailable, news.failure->code,
                    news.failure->text, std::chrono::seconds{5}});
  if (was_due) // what cannot be paused at its end is deleted then
    begin_removal(sandbox_end::timeout);
}

bool live_sandbox::may_resume() const {
  return record()->auto_resume
    && (state() == state::paused || state() == state::resuming);
}

caf::result<record_answer> live_sandbox::resume() {
  if (state() == state::running)
    return record_answer{record()};
  if (state() == state::paused || state() == state::resuming)
    return after_resuming<record_answer>(find_v);
  if (state() == state::pausing)
    return record_answer{on_its_way(state())};
  return record_answer{*why_not_running()};
}

void live_sandbox::begin_resume() {
  if (!life->enter(state::resuming, services->now()))
    return;
  publish();
  ask_place(place(), &sandbox_provider::resume, box, record()->timeout,
            sandbox_actor{self}, place_event::kind::resumed);
}

void live_sandbox::resumed(const place_event& news) {
  const auto now = services->now();
  std::optional<sandbox_error> why;
  if (state() != state::resuming) {
    why = ended(); // it was deleted meanwhile
  } else if (news.failure) {
    life->enter(state::paused, sandbox_end::none, now, news.failure);
    why = sandbox_error{sandbox_problem::place_unavailable, news.failure->code,
                        news.failure->text, std::chrono::seconds{5}};
  } else {
    life->enter(state::running, now);
    // Clocks of what is in it stood still as well.
    for (auto& [id, entry] : processes)
      if (entry.end != clock::time_point::max())
        entry.end += now - still_since;
  }
  publish();
  go_on(why);
}

void live_sandbox::end_by(timeout_action how, sandbox_end why) {
  if (cutting)
    return; // looked at again when that is over
  if (how == timeout_action::pause && !cannot_do(how, place()))
    begin_pause();
  else
    begin_removal(why);
}

caf::result<record_answer> live_sandbox::connect(const connect_order& order) {
  switch (state()) {
  case state::queued:
  case state::creating:
    return ready();
  case state::paused:
  case state::resuming:
    return after_resuming<record_answer>(connect_v, order);
  case state::pausing:
    return record_answer{on_its_way(state())};
  default:
    break;
  }
  if (auto why = why_not_running())
    return record_answer{std::move(*why)};
  touch();
  if (order.timeout)
    return renew(renew_order{*order.timeout});
  publish();
  return record_answer{record()};
}

caf::result<record_answer> live_sandbox::change(const patch_order& order) {
  const auto& what = *order.what;
  if (is_over(state()) || state() == state::deleting)
    return record_answer{ended()};
  if (what.timeout)
    if (auto why = why_not_running())
      return record_answer{std::move(*why)};
  for (auto action : {what.on_timeout, what.on_idle})
    if (action)
      if (auto why = cannot_do(*action, place()))
        return record_answer{std::move(*why)};
  auto pairs = record()->metadata;
  for (const auto& [name, value] : what.metadata)
    if (value)
      pairs[name] = *value;
    else
      pairs.erase(name);
  if (pairs.size() > bounds::sandbox_metadata)
    return record_answer{sandbox_error{
      bad_field("/metadata", "would have more than 64 pairs",
                "send null for those that are not needed any more")}};
  if (what.network)
    return change_network(order);
  life->apply(what);
  touch(); // a new idle timeout counts from now
  publish();
  if (what.timeout)
    return renew(renew_order{*what.timeout});
  return record_answer{record()};
}

caf::result<record_answer>
live_sandbox::change_network(const patch_order& order) {
  const auto now = state();
  if (now != sandbox_state::paused)
    if (auto why = why_not_running())
      return record_answer{std::move(*why)};
  if (!place().provider->capabilities().set_network)
    return record_answer{sandbox_error{
      sandbox_problem::unsupported_here, ec::invalid_request,
      std::string{to_string(place().name)}
        + " cannot change the network of a sandbox that lives; make another "
          "one with the policy that it is to have"}};
  if (cutting || !network_changes.empty())
    return record_answer{
      sandbox_error{sandbox_problem::none, ec::conflict,
                    "a snapshot or another change of this sandbox is under way",
                    std::chrono::seconds{1}}};
  auto wanted = std::make_shared<sandbox_change>(*order.what);
  wanted->network = strictest(*wanted->network, services->options.network);
  wanted_change = wanted;
  auto home = sandbox_actor{self};
  auto work
    = [provider = place().provider, box = box, policy = *wanted->network] {
        return set_at_place(provider, box, policy);
      };
  call_place<result<void>>(place().executor, std::move(work),
                           [home](std::optional<result<void>> came) {
                             place_event news;
                             news.what = place_event::kind::networked;
                             if (!came || !*came)
                               news.failure = std::make_shared<const error>(
                                 came ? came->error() : place_threw());
                             caf::anon_send(home, event_v, std::move(news));
                           });
  network_changes.push_back(self->make_response_promise<record_answer>());
  return network_changes.back();
}

void live_sandbox::networked(const place_event& news) {
  auto waiting = std::exchange(network_changes, {});
  const auto wanted = std::exchange(wanted_change, nullptr);
  if (!news.failure) {
    sandbox_change of_it;
    of_it.network = wanted->network;
    life->apply(of_it);
    publish();
  }
  auto rest = std::make_shared<sandbox_change>(*wanted);
  rest->network.reset();
  for (auto& each : waiting)
    if (news.failure)
      each.deliver(record_answer{sandbox_error{*news.failure}});
    else
      each.delegate(sandbox_actor{self}, change_v, patch_order{rest});
}

namespace {

using state = sandbox_state;

} // namespace

caf::result<record_answer> live_sandbox::renew(const renew_order& order) {
  if (auto why = why_not_running())
    return record_answer{std::move(*why)};
  if (renewing)
    return record_answer{sandbox_error{
      sandbox_problem::none, ec::conflict,
      "another renewal of this sandbox is under way", std::chrono::seconds{1}}};
  if (!place().provider->capabilities().renew)
    return renew_by_our_clock(order.timeout);
  renewing = true;
  auto home = sandbox_actor{self};
  const auto lifetime = std::chrono::ceil<std::chrono::seconds>(order.timeout)
    + std::chrono::seconds{60};
  call_scope scope{std::chrono::steady_clock::now() + std::chrono::seconds{30},
                   nullptr};
  auto work = [provider = place().provider, box = box, lifetime,
               scope = std::move(scope)] {
    return provider->reconnect(*box, lifetime, scope);
  };
  call_place<result<sandbox_handle>>(
    place().executor, std::move(work),
    [home, timeout = order.timeout](std::optional<result<sandbox_handle>> r) {
      place_event news;
      news.what = place_event::kind::renewed;
      news.timeout = timeout;
      if (!r || !*r)
        news.failure
          = std::make_shared<const error>(r ? r->error() : place_threw());
      caf::anon_send(home, event_v, std::move(news));
    });
  renewals.push_back(self->make_response_promise<record_answer>());
  return renewals.back();
}

/// A sandbox whose end its place cannot move was made for the longest life:
/// our clock ends it before that.
record_answer
live_sandbox::renew_by_our_clock(std::chrono::milliseconds timeout) {
  const auto now = services->now();
  if (now + timeout > admitted_at + services->options.rules.max_life)
    return sandbox_error{
      sandbox_problem::unsupported_here, ec::invalid_request,
      std::string{to_string(place().name)}
        + " cannot let a sandbox live longer than it was made for; make "
          "another one in time"};
  life->renew(timeout, now);
  publish();
  return record();
}

void live_sandbox::renewed(const place_event& news) {
  renewing = false;
  auto waiting = std::exchange(renewals, {});
  auto say = [&waiting](const record_answer& what) {
    for (auto& each : waiting)
      each.deliver(what);
  };
  if (auto why = why_not_running())
    return say(std::move(*why));
  if (news.failure && news.failure->code == ec::not_found) {
    // Its place does not know it any more.
    life->enter(state::deleting, sandbox_end::lost, services->now(),
                news.failure);
    publish();
    destroy();
    return say(ended());
  }
  if (news.failure)
    return say(sandbox_error{sandbox_problem::place_unavailable,
                             news.failure->code, news.failure->text,
                             std::chrono::seconds{5}});
  life->renew(news.timeout, services->now());
  publish();
  say(record());
}

} // namespace troupe
