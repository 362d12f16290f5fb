#pragma once

#include "actors/state/active_run.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace troupe {

struct registry_bounds {
  std::size_t ended_runs = 4'096;      // kept for late readers
  std::size_t ended_bytes = 64u << 20; // their output and results
};

/// Finds runs by id: those that live, and the last ones that ended, so that a
/// reader that lost its connection finds the rest of its events. Thread-safe.
class run_registry {
public:
  explicit run_registry(const registry_bounds& bounds = {});

  /// False: there is one with this id.
  bool add(const active_run_ptr& run);
  active_run_ptr find(const run_id& id) const;
  /// The run has ended; it may be forgotten when its time has come.
  void retire(const active_run_ptr& run);
  /// The run never was one: it is forgotten now.
  void forget(const active_run_ptr& run);

  std::vector<active_run_ptr>
  select(const std::function<bool(const active_run&)>& which) const;
  std::size_t alive() const;

private:
  static constexpr std::size_t shard_count = 16;
  struct retired {
    run_id run; // one of the shard's
    std::size_t bytes = 0;
  };
  struct shard {
    mutable std::mutex mutex;
    boost::unordered_flat_map<run_id, active_run_ptr, std::hash<run_id>> runs;
    std::deque<retired> ended; // the oldest first
    std::size_t ended_bytes = 0;
  };
  static std::size_t shard_of(std::size_t hash);

  const registry_bounds bounds_;
  std::array<shard, shard_count> shards_;
};

} // namespace troupe
