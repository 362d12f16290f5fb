#pragma once

#include "runtime/engine/engine.hpp"
#include "runtime/model/sandbox.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net::e2b_facade {

/// One moment of a sandbox, as its metrics tell it.
struct usage_sample {
  std::int64_t at = 0; // seconds since 1970
  std::uint64_t cpu_count = 0;
  double cpu_percent = 0;
  std::uint64_t memory_used = 0;
  std::uint64_t memory_total = 0;
  std::uint64_t memory_cache = 0;
  std::uint64_t disk_used = 0;
  std::uint64_t disk_total = 0;
  std::uint64_t busy_ticks = 0; // since the sandbox began; for the next one
  std::uint64_t all_ticks = 0;
};

/// What E2B's protocol says of a sandbox and the engine does not.
struct known_sandbox {
  caller owner; // on whose behalf calls into it are made
  std::string template_id = "base";
  environment env;
  std::optional<bool> internet; // as it was asked for
  std::optional<timestamp> resumed_at;
  std::optional<timestamp> paused_at;
  /// Of each context: cells that a client has run.
  std::map<std::string, std::uint64_t> cells;
};

/// The sandboxes that clients have come by, by their ids: a call into one says
/// neither key nor organization. Thread-safe.
class known_sandboxes {
public:
  static constexpr std::size_t most = 20'000;
  static constexpr std::size_t most_samples = 1'000; // of one

  void put(const sandbox_id& id, known_sandbox what);
  /// One that came by another way is known from now on.
  known_sandbox meet(const sandbox_id& id, const caller& owner);
  std::optional<known_sandbox> find(const sandbox_id& id) const;
  void forget(const sandbox_id& id);
  std::vector<sandbox_id> all() const;

  void resumed(const sandbox_id& id, timestamp at);
  void paused(const sandbox_id& id, timestamp at);
  void add_sample(const sandbox_id& id, const usage_sample& sample);
  std::vector<usage_sample> samples(const sandbox_id& id) const;
  /// The number of the next cell of a context.
  std::uint64_t next_cell(const sandbox_id& id, const std::string& context);
  void restart_cells(const sandbox_id& id, const std::string& context);

private:
  template <class Change>
  void change(const sandbox_id& id, Change with);

  mutable std::mutex mutex_;
  std::map<sandbox_id, known_sandbox> entries_;
  std::map<sandbox_id, std::vector<usage_sample>> samples_; // of these
};

} // namespace troupe::net::e2b_facade
