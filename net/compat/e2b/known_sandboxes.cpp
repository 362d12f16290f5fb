#include "net/compat/e2b/known_sandboxes.hpp"

namespace troupe::net::e2b_facade {

void known_sandboxes::put(const sandbox_id& id, known_sandbox what) {
  std::lock_guard lock{mutex_};
  // Those that are over are forgotten when they are next asked about: beyond
  // this bound any one goes, and a call with its owner's key brings it back.
  if (entries_.size() >= most && !entries_.contains(id)) {
    samples_.erase(entries_.begin()->first);
    entries_.erase(entries_.begin());
  }
  entries_.insert_or_assign(id, std::move(what));
}

known_sandbox known_sandboxes::meet(const sandbox_id& id, const caller& owner) {
  if (auto known = find(id))
    return std::move(*known);
  known_sandbox fresh;
  fresh.owner = owner;
  put(id, fresh);
  return fresh;
}

std::optional<known_sandbox> known_sandboxes::find(const sandbox_id& id) const {
  std::lock_guard lock{mutex_};
  const auto found = entries_.find(id);
  if (found == entries_.end())
    return std::nullopt;
  return found->second;
}

void known_sandboxes::forget(const sandbox_id& id) {
  std::lock_guard lock{mutex_};
  entries_.erase(id);
  samples_.erase(id);
}

std::vector<sandbox_id> known_sandboxes::all() const {
  std::lock_guard lock{mutex_};
  std::vector<sandbox_id> out;
  out.reserve(entries_.size());
  for (const auto& [id, known] : entries_)
    out.push_back(id);
  return out;
}

template <class Change>
void known_sandboxes::change(const sandbox_id& id, Change with) {
  std::lock_guard lock{mutex_};
  if (auto found = entries_.find(id); found != entries_.end())
    with(found->second);
}

void known_sandboxes::resumed(const sandbox_id& id, timestamp at) {
  change(id, [&](known_sandbox& known) {
    known.resumed_at = at;
    known.paused_at.reset();
  });
}

void known_sandboxes::paused(const sandbox_id& id, timestamp at) {
  change(id, [&](known_sandbox& known) { known.paused_at = at; });
}

void known_sandboxes::add_sample(const sandbox_id& id,
                                 const usage_sample& sample) {
  std::lock_guard lock{mutex_};
  if (!entries_.contains(id))
    return;
  auto& all = samples_[id];
  if (all.size() >= most_samples)
    all.erase(all.begin());
  all.push_back(sample);
}

std::vector<usage_sample> known_sandboxes::samples(const sandbox_id& id) const {
  std::lock_guard lock{mutex_};
  const auto found = samples_.find(id);
  return found == samples_.end() ? std::vector<usage_sample>{} : found->second;
}

std::uint64_t known_sandboxes::next_cell(const sandbox_id& id,
                                         const std::string& context) {
  std::uint64_t number = 1;
  change(id, [&](known_sandbox& known) { number = ++known.cells[context]; });
  return number;
}

void known_sandboxes::restart_cells(const sandbox_id& id,
                                    const std::string& context) {
  change(id, [&](known_sandbox& known) { known.cells.erase(context); });
}

} // namespace troupe::net::e2b_facade
