#include "actors/state/run_registry.hpp"

namespace troupe {

run_record describe(const active_run& run) {
  run_record record;
  record.id = run.id;
  record.organization = run.who.organization;
  record.phase = run.phase.load(std::memory_order_acquire);
  record.tool_name = run.tool_name;
  record.agent_id = run.agent_id;
  record.backend = run.backend;
  record.created_at = run.created_at;
  record.labels = run.labels;
  if (record.phase == run_phase::ended) {
    record.ended_at = run.ended_at;
    record.result = run.outcome;
    record.failure = run.failure;
  }
  return record;
}

run_registry::run_registry(const registry_bounds& bounds)
    : bounds_{bounds.ended_runs / shard_count + 1,
              bounds.ended_bytes / shard_count + 1} {}

bool run_registry::add(const active_run_ptr& run) {
  auto& s = shards_[shard_of(run->id_hash)];
  std::lock_guard guard{s.mutex};
  return s.runs.try_emplace(run->id, run).second;
}

active_run_ptr run_registry::find(const run_id& id) const {
  const auto& s = shards_[shard_of(std::hash<run_id>{}(id))];
  std::lock_guard guard{s.mutex};
  const auto found = s.runs.find(id);
  return found == s.runs.end() ? nullptr : found->second;
}

void run_registry::retire(const active_run_ptr& run) {
  auto bytes = run->events.bytes() + 1'024; // the object itself, roughly
  if (run->outcome)
    bytes += run->outcome->value_json.size() + run->outcome->stdout_text.size()
      + run->outcome->stderr_text.size()
      + run->outcome->agent_state_json.size();
  // Destroyed outside of the lock: a megabyte of events takes its time.
  std::vector<active_run_ptr> forgotten;
  auto& s = shards_[shard_of(run->id_hash)];
  std::lock_guard guard{s.mutex};
  s.ended.push_back({run->id, bytes});
  s.ended_bytes += bytes;
  while (!s.ended.empty()
         && (s.ended.size() > bounds_.ended_runs
             || s.ended_bytes > bounds_.ended_bytes)) {
    const auto& oldest = s.ended.front();
    s.ended_bytes -= oldest.bytes;
    if (auto gone = s.runs.find(oldest.run); gone != s.runs.end()) {
      forgotten.push_back(std::move(gone->second));
      s.runs.erase(gone);
    }
    s.ended.pop_front();
  }
}

void run_registry::forget(const active_run_ptr& run) {
  auto& s = shards_[shard_of(run->id_hash)];
  std::lock_guard guard{s.mutex};
  s.runs.erase(run->id);
}

std::vector<active_run_ptr> run_registry::select(
  const std::function<bool(const active_run&)>& which) const {
  std::vector<active_run_ptr> found;
  for (const auto& s : shards_) {
    std::lock_guard guard{s.mutex};
    for (const auto& [id, run] : s.runs)
      if (which(*run))
        found.push_back(run);
  }
  return found;
}

std::size_t run_registry::alive() const {
  std::size_t n = 0;
  for (const auto& s : shards_) {
    std::lock_guard guard{s.mutex};
    n += s.runs.size() - s.ended.size();
  }
  return n;
}

std::size_t run_registry::shard_of(std::size_t hash) {
  // The index inside uses the low bits: take others.
  return (hash >> 20) % shard_count;
}

} // namespace troupe
