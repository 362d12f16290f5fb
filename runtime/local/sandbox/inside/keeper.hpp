#pragma once

#include "runtime/local/isolation/plan.hpp"

#include <cstdint>

namespace troupe::inside {

/// Becomes the program of a launch block; errno when that fails.
using execute_fn = int (*)(int launch_block) noexcept;

struct keeper_order {
  const isolation::plan* plan = nullptr; // outlives it
  int control = -1;                      // to the engine
  std::uint64_t open_files = 1024;       // what a command may have open
  int score = -1; // its own oom_score_adj, open for writing; -1: none
  execute_fn execute = nullptr;
};

/// The life of pid 1 of a sandbox, once it is contained: does what the engine
/// says over `control`, reaps, and never sees a byte of a tenant's. The end of
/// the socket is the engine's, and the sandbox ends with it.
[[noreturn]] void keep(const keeper_order& order) noexcept;

} // namespace troupe::inside
