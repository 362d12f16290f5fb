#include "actors/caf/request_router.hpp"

namespace troupe {

request_router::request_router(caf::actor_system& system)
    : handle_{system.spawn<caf::actor_companion, caf::hidden>()},
      self_{caf::actor_cast<caf::strong_actor_ptr>(handle_)} {
  auto* companion = caf::actor_cast<caf::actor_companion*>(handle_);
  // Runs on the answering thread.
  companion->on_enqueue([this](caf::mailbox_element_ptr e) {
    if (!e->mid.is_response())
      return;
    if (auto p = take(e->mid.request_id().integer_value()))
      p->finish(e->move_content_to_message());
  });
}

void request_router::shutdown() {
  if (stopped_.exchange(true))
    return;
  auto why = caf::make_error(caf::exit_reason::user_shutdown);
  auto* companion = caf::actor_cast<caf::actor_companion*>(handle_);
  companion->cleanup(caf::error{why}, nullptr);
  // Waits for an answer that is being delivered; later ones find nobody.
  companion->on_enqueue({});
  fail_if([](const pending&) { return true; }, why);
}

std::shared_ptr<request_router::pending>
request_router::take(std::uint64_t id) {
  auto& s = shards_[id % shard_count];
  std::lock_guard guard{s.mutex};
  if (auto n = s.map.extract(id))
    return std::move(n.mapped());
  return nullptr;
}

void request_router::fail_route(std::uint64_t route, const caf::error& why) {
  fail_if([=](const pending& p) { return p.route == route; }, why);
}

void request_router::expire(std::chrono::steady_clock::time_point now) {
  fail_if([=](const pending& p) { return p.until <= now; },
          caf::make_error(caf::sec::request_timeout));
}

std::size_t request_router::size() const {
  std::size_t n = 0;
  for (const auto& s : shards_) {
    std::lock_guard guard{s.mutex};
    n += s.map.size();
  }
  return n;
}

bool request_router::keep(std::uint64_t id, std::shared_ptr<pending> p) {
  auto& s = shards_[id % shard_count];
  {
    std::lock_guard guard{s.mutex};
    // Asked under the lock: `shutdown` empties the map after it said so.
    if (!stopped_) {
      s.map.emplace(id, std::move(p));
      return true;
    }
  }
  p->finish(caf::make_error(caf::exit_reason::user_shutdown));
  return false;
}

void request_router::fail_if(const std::function<bool(const pending&)>& which,
                             const caf::error& why) {
  std::vector<std::shared_ptr<pending>> dead;
  for (auto& s : shards_) {
    std::lock_guard guard{s.mutex};
    std::erase_if(s.map, [&](auto& entry) {
      return which(*entry.second)
        && (dead.push_back(std::move(entry.second)), true);
    });
  }
  for (auto& p : dead)
    p->finish(why);
}

} // namespace troupe
