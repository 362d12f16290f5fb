#include "actors/sandbox/sandbox_admission.hpp"

namespace troupe {

sandbox_admission::verdict
sandbox_admission::enter(const sandbox_id& id,
                         const organization_id& organization,
                         std::size_t place) {
  auto& room = places_.at(place);
  // What waits goes first: a new one does not pass it.
  const bool free = room.queue.size(organization) == 0 && has_room(place)
    && has_room(organization);
  if (!free && waiting() >= rules_.queue)
    return verdict::queue_full;
  if (!free && waiting(organization) >= rules_.queue_per_organization)
    return verdict::share_full;
  auto& s = stays_[id];
  s.organization = organization;
  s.place = place;
  if (free) {
    take(s);
    return verdict::now;
  }
  s.waits = room.queue.push(organization, 0, 1, id);
  return verdict::waits;
}

void sandbox_admission::recall(const sandbox_id& id,
                               const organization_id& organization,
                               std::size_t place, bool starting) {
  auto& s = stays_[id];
  s.organization = organization;
  s.place = place;
  take(s);
  if (!starting)
    made(id);
}

void sandbox_admission::made(const sandbox_id& id) {
  auto s = stays_.find(id);
  if (s == stays_.end() || !s->second.starting)
    return;
  s->second.starting = false;
  --starting_;
}

void sandbox_admission::left(const sandbox_id& id) {
  auto s = stays_.find(id);
  if (s == stays_.end())
    return;
  auto& room = places_[s->second.place];
  if (s->second.waits) {
    room.queue.take(*s->second.waits);
  } else {
    made(id);
    --living_;
    --room.taken;
    auto of = by_organization_.find(s->second.organization);
    if (--of->second == 0)
      by_organization_.erase(of);
  }
  stays_.erase(s);
}

std::optional<sandbox_id> sandbox_admission::next() {
  for (std::size_t looked = 0; looked < places_.size(); ++looked) {
    const auto place = turn_++ % places_.size();
    if (!has_room(place))
      continue;
    auto id = places_[place].queue.pop(
      [this](const organization_id& who) { return has_room(who); });
    if (!id)
      continue;
    auto& s = stays_.at(*id);
    s.waits.reset();
    take(s);
    return id;
  }
  return std::nullopt;
}

std::size_t sandbox_admission::waiting() const {
  std::size_t all = 0;
  for (const auto& room : places_)
    all += room.queue.size();
  return all;
}

std::size_t
sandbox_admission::waiting(const organization_id& organization) const {
  std::size_t all = 0;
  for (const auto& room : places_)
    all += room.queue.size(organization);
  return all;
}

bool sandbox_admission::has_room(std::size_t place) const {
  return living_ < rules_.max && starting_ < rules_.starting
    && places_[place].taken < places_[place].limit;
}

bool sandbox_admission::has_room(const organization_id& organization) const {
  auto of = by_organization_.find(organization);
  return (of == by_organization_.end() ? 0 : of->second)
    < rules_.max_per_organization;
}

void sandbox_admission::take(stay& s) {
  s.starting = true;
  ++starting_;
  ++living_;
  ++places_[s.place].taken;
  ++by_organization_[s.organization];
}

} // namespace troupe
