#include "actors/sandbox/kept_records.hpp"

namespace troupe {

std::optional<sandbox_id>
kept_records::add(const sandbox_id& id, const organization_id& organization) {
  if (!places_.emplace(id, place{organization, next_}).second)
    return std::nullopt;
  auto& own = of_[organization];
  own.emplace(next_, id);
  all_.emplace(next_, id);
  ++next_;
  std::optional<sandbox_id> oldest;
  if (own.size() > per_organization_)
    oldest = own.begin()->second;
  else if (all_.size() > in_all_)
    oldest = all_.begin()->second;
  if (oldest)
    forget(*oldest);
  return oldest;
}

void kept_records::forget(const sandbox_id& id) {
  const auto found = places_.find(id);
  if (found == places_.end())
    return;
  const auto own = of_.find(found->second.organization);
  all_.erase(found->second.number);
  own->second.erase(found->second.number);
  if (own->second.empty())
    of_.erase(own);
  places_.erase(found);
}

} // namespace troupe
