#include "actors/sandbox/snapshot_index.hpp"

#include <algorithm>

namespace troupe {

sandbox_error no_such_snapshot(const std::string& which) {
  return sandbox_error{
    fail(ec::not_found,
         "there is no snapshot " + which
           + "; those of an engine that was restarted are gone")};
}

std::optional<sandbox_error>
snapshot_index::refuse(const organization_id& organization,
                       const std::string& name, std::size_t most) const {
  std::lock_guard lock{mutex_};
  std::size_t count = 0;
  for (const auto& [id, e] : entries_) {
    if (e.record->organization != organization || e.temporary)
      continue;
    ++count;
    if (!name.empty() && e.record->name == name)
      return sandbox_error{fail(ec::conflict,
                                "there is a snapshot '" + name
                                  + "' already; delete it, or "
                                    "use another name")};
  }
  if (count >= most)
    return sandbox_error{
      sandbox_problem::quota, ec::exhausted,
      "the organization has " + std::to_string(count)
        + " snapshots, as many as sandbox.snapshots allows; delete one"};
  return std::nullopt;
}

void snapshot_index::put(entry e) {
  std::lock_guard lock{mutex_};
  const auto id = e.record->id;
  entries_.insert_or_assign(id, std::move(e));
}

snapshot_index::map::const_iterator
snapshot_index::locate(const organization_id& organization,
                       const std::string& which) const {
  return std::ranges::find_if(entries_, [&](const auto& item) {
    const auto& r = *item.second.record;
    return r.organization == organization
      && (r.id.str() == which || (!r.name.empty() && r.name == which));
  });
}

std::optional<snapshot_index::entry>
snapshot_index::find(const organization_id& organization,
                     const std::string& which) const {
  std::lock_guard lock{mutex_};
  const auto i = locate(organization, which);
  return i == entries_.end() ? std::nullopt : std::optional{i->second};
}

std::optional<snapshot_index::entry>
snapshot_index::take(const organization_id& organization,
                     const std::string& which) {
  std::lock_guard lock{mutex_};
  const auto i = locate(organization, which);
  if (i == entries_.end())
    return std::nullopt;
  auto taken = i->second;
  entries_.erase(i);
  return taken;
}

std::vector<snapshot_record_ptr>
snapshot_index::list(const organization_id& organization) const {
  std::vector<snapshot_record_ptr> all;
  {
    std::lock_guard lock{mutex_};
    for (const auto& [id, e] : entries_)
      if (e.record->organization == organization && !e.temporary)
        all.push_back(e.record);
  }
  std::ranges::sort(all, {}, [](const auto& r) { return r->created_at; });
  return all;
}

} // namespace troupe
