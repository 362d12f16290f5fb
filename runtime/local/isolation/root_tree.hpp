#pragma once

#include "runtime/local/isolation/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::isolation {

/// The tree that every run sees, made from what this host has: the system's
/// programs and libraries read-only, a minimal /etc, and no more.
tree_plan standard_tree();

/// The bounds that hold per process, beside those of the group.
struct process_limits {
  std::uint64_t open_files = 1024; // 0: set later, by whoever hands in
  std::uint64_t file_bytes = 128ull << 20;
  std::uint64_t cpu_seconds = 0;  // 0: none
  std::uint64_t memory_bytes = 0; // 0: the cgroup bounds it
  std::uint64_t processes = 0;    // 0: the cgroup bounds it
};
std::vector<rlimit_plan> standard_rlimits(const process_limits& limits);

} // namespace troupe::isolation
