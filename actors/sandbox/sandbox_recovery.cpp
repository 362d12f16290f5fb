// What an engine before us has left: every record gets its actor again, and the
// places are asked what is still there.
#include "actors/sandbox/live_sandbox.hpp"
#include "actors/sandbox/place_call.hpp"
#include "actors/sandbox/sandbox_controller.hpp"
#include "runtime/base/log.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::chrono::seconds longest_list{30};

boost::asio::awaitable<result<std::vector<tagged_sandbox>>>
list_place(std::shared_ptr<sandbox_provider> provider) {
  call_scope scope{std::chrono::steady_clock::now() + longest_list, nullptr};
  co_return co_await provider->list(scope);
}

std::shared_ptr<sandbox_init> init_of(stored_sandbox&& s, std::size_t place,
                                      const sandbox_rules& rules) {
  auto init = std::make_shared<sandbox_init>();
  init->who.organization = s.record.organization;
  init->place = place;
  init->env = std::move(s.env);
  init->events = std::make_shared<sandbox_event_log>(rules.events);
  if (!s.box.id.empty())
    init->box = std::make_shared<const sandbox_handle>(std::move(s.box));
  init->record = std::move(s.record);
  init->was_there = true;
  return init;
}

/// What is true of it now. One whose caller got no answer goes, when its place
/// has said what there is.
void correct(sandbox_record& r, bool outlived_us) {
  using state = sandbox_state;
  if (is_over(r.state))
    return;
  const bool is_gone = !outlived_us || r.state == state::queued;
  if (is_gone && r.state == state::deleting) {
    r.state = state::deleted;
  } else if (is_gone) {
    r.state = state::failed;
    r.failure = std::make_shared<const error>(
      fail(ec::unavailable,
           "the engine was restarted, and the sandbox did not outlive it; "
           "create another one"));
  } else if (r.state == state::creating) {
    r.state = state::deleting;
  } else if (r.state == state::pausing || r.state == state::resuming) {
    r.state = state::running;
  }
  if (r.state != state::running && r.state != state::paused
      && r.end == sandbox_end::none)
    r.end = sandbox_end::lost;
}

} // namespace

void sandbox_controller_state::take_over() {
  const auto& options = services->options;
  std::vector<std::size_t> asked;
  for (auto& s : std::exchange(services->left, {})) {
    const auto at
      = std::ranges::find(options.places, s.record.place, &sandbox_place::name);
    const auto place = static_cast<std::size_t>(at - options.places.begin());
    if (at == options.places.end()) {
      missing_place(s.record);
      continue;
    }
    const auto id = s.record.id;
    const bool asks = outlives_us(*at) && !is_over(s.record.state);
    const bool was_over = is_over(s.record.state);
    correct(s.record, outlives_us(*at));
    auto init = init_of(std::move(s), place, options.rules);
    init->was_over = was_over;
    sandbox_index::entry entry;
    entry.record = std::make_shared<sandbox_record>(init->record);
    entry.place = place;
    entry.route = services->index.make_route();
    entry.events = init->events;
    entry.box = init->box;
    entry.due = services->now();
    entry.was_there = true;
    services->index.put(id, entry);
    entry.actor = self->spawn(sandbox, services, engine, std::move(init));
    services->index.adopt(id, entry.actor);
    if (asks && std::ranges::find(asked, place) == asked.end())
      asked.push_back(place);
  }
  for (const auto place : asked)
    ask_what_is_left(place);
}

/// It can be neither reached nor ended: the place is not set up any more. Its
/// record stays, for the day on which it is.
void sandbox_controller_state::missing_place(const sandbox_record& r) const {
  log::warning("sandbox " + r.id.str() + " is at "
               + std::string{to_string(r.place)}
               + ", which is not set up any more; its record stays");
}

void sandbox_controller_state::ask_what_is_left(std::size_t place) {
  auto home = sandbox_controller_actor{self};
  const auto& at = services->options.places[place];
  call_place<result<std::vector<tagged_sandbox>>>(
    at.executor, [provider = at.provider] { return list_place(provider); },
    [home, place](std::optional<result<std::vector<tagged_sandbox>>> came) {
      left_sandboxes news;
      news.place = place;
      if (came && *came)
        news.there = std::make_shared<const std::vector<tagged_sandbox>>(
          std::move(**came));
      caf::anon_send(home, event_v, std::move(news));
    });
}

void sandbox_controller_state::heard(const left_sandboxes& news) {
  if (!news.there) {
    self->delayed_send(self, services->options.rules.look_again, look_v,
                       news.place);
    return;
  }
  for (const auto& each : services->index.all()) {
    if (each.place != news.place || !each.was_there)
      continue;
    const auto& r = *each.record;
    const auto at = std::ranges::find_if(*news.there, [&](const auto& t) {
      return t.tag == r.id.str() || (each.box && t.sandbox == each.box->id);
    });
    place_event found;
    found.what = place_event::kind::found;
    if (at != news.there->end())
      found.process = at->sandbox;
    // Without a sender: nothing that comes of it is an answer to us.
    caf::anon_send(each.actor, event_v, std::move(found));
  }
}

} // namespace troupe
