// The end of a sandbox is moved: at its place, or by our clock.
#include "actors/sandbox/live_sandbox.hpp"
#include "actors/sandbox/place_call.hpp"

namespace troupe {

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
