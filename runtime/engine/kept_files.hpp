#pragma once

#include "runtime/model/run.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

namespace troupe {

struct kept_files_options {
  /// Of one file that stays in its answer, and of all of one answer times four:
  /// an answer is read whole, often by a model.
  std::uint64_t inline_bytes = 256u << 10;
  std::uint64_t bytes = 256u << 20; // kept, of all runs: they are in memory
  std::chrono::milliseconds keep_for{3'600'000};
};

/// Files of ended runs that are too large for an answer, until somebody fetches
/// them: in memory, because they are a tenant's and the store seals what it
/// keeps. Beyond the bound the oldest go first. Thread-safe.
class kept_files {
public:
  using clock = std::chrono::steady_clock;
  using content = std::shared_ptr<const std::string>;

  explicit kept_files(kept_files_options options) : options_{options} {}

  /// Takes over what is too large to stay in the result.
  void take(const organization_id& organization, run_result& result,
            clock::time_point now = clock::now());
  /// Null: there is none, or not any more.
  content find(const organization_id& organization, const run_id& run,
               const std::string& name, clock::time_point now = clock::now());
  std::uint64_t bytes() const;

private:
  using key = std::tuple<organization_id, run_id, std::string>;

  void forget_oldest();

  const kept_files_options options_;
  mutable std::mutex mutex_;
  std::map<key, content> files_;
  std::deque<std::pair<clock::time_point, key>> order_;
  std::uint64_t bytes_ = 0;
};

} // namespace troupe
