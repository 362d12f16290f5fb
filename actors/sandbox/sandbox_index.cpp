#include "actors/sandbox/sandbox_index.hpp"

#include <algorithm>

namespace troupe {

void sandbox_index::put(const sandbox_id& id, entry e) {
  std::lock_guard lock{mutex_};
  entries_.insert_or_assign(id, std::move(e));
}

void sandbox_index::adopt(const sandbox_id& id, sandbox_actor actor) {
  std::lock_guard lock{mutex_};
  if (auto i = entries_.find(id); i != entries_.end())
    i->second.actor = std::move(actor);
}

bool sandbox_index::update(const sandbox_id& id, sandbox_record_ptr record,
                           time_point due,
                           std::shared_ptr<const sandbox_handle> box) {
  std::lock_guard lock{mutex_};
  auto i = entries_.find(id);
  if (i == entries_.end())
    return false;
  i->second.record = std::move(record);
  i->second.due = due;
  i->second.box = std::move(box);
  return true;
}

std::optional<sandbox_index::entry>
sandbox_index::find(const sandbox_id& id) const {
  std::lock_guard lock{mutex_};
  auto i = entries_.find(id);
  return i == entries_.end() ? std::nullopt : std::optional{i->second};
}

std::optional<sandbox_id>
sandbox_index::id_of(const caf::actor_addr& actor) const {
  std::lock_guard lock{mutex_};
  for (const auto& [id, e] : entries_)
    if (e.actor && e.actor.address() == actor)
      return id;
  return std::nullopt;
}

void sandbox_index::erase(const sandbox_id& id) {
  std::lock_guard lock{mutex_};
  entries_.erase(id);
}

void sandbox_index::clear() {
  std::map<sandbox_id, entry> gone; // actors go without the lock
  std::lock_guard lock{mutex_};
  gone.swap(entries_);
}

std::vector<sandbox_index::entry> sandbox_index::all() const {
  std::lock_guard lock{mutex_};
  std::vector<entry> out;
  out.reserve(entries_.size());
  for (const auto& [id, e] : entries_)
    out.push_back(e);
  return out;
}

std::vector<sandbox_actor> sandbox_index::due(time_point now) const {
  std::lock_guard lock{mutex_};
  std::vector<sandbox_actor> out;
  for (const auto& [id, e] : entries_)
    if (e.due <= now && e.actor)
      out.push_back(e.actor);
  return out;
}

bool sandbox_index::has_name(const organization_id& organization,
                             const std::string& name) const {
  std::lock_guard lock{mutex_};
  return std::ranges::any_of(entries_, [&](const auto& item) {
    const auto& r = *item.second.record;
    return r.organization == organization && r.name == name
      && !is_over(r.state);
  });
}

std::optional<sandbox_index::entry>
sandbox_index::of_session(const organization_id& organization,
                          const std::string& session) const {
  std::lock_guard lock{mutex_};
  const auto found = std::ranges::find_if(entries_, [&](const auto& item) {
    const auto& r = *item.second.record;
    return r.organization == organization && r.session == session
      && !is_over(r.state) && r.state != sandbox_state::deleting;
  });
  return found == entries_.end() ? std::nullopt : std::optional{found->second};
}

bool sandbox_index::empty() const {
  std::lock_guard lock{mutex_};
  return entries_.empty();
}

std::uint64_t sandbox_index::make_route() {
  std::lock_guard lock{mutex_};
  return ++routes_;
}

} // namespace troupe
