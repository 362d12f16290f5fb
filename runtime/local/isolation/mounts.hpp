#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// How many sources a tree may show.
inline constexpr int max_sources = 64;

/// Detached copies of everything that is shown inside, opened while the child
/// still has its parent's rights on the host. Closed by `build_tree`.
struct opened_sources {
  int mounts[max_sources];
  int devices[5];
  int count = 0;
  int terminal = -1; // /dev/tty, for trees that have terminals
};

outcome open_sources(const tree_plan& tree, opened_sources& out) noexcept;

/// Root tmpfs, binds by descriptor (read-only, nosuid, nodev), five device
/// nodes whose numbers are checked, scratch, /proc of the current pid
/// namespace; then pivot_root and the old tree is detached. Needs a mount and
/// a user namespace of its own, and the mapped identity.
/// Without `scratch` the places for it stay empty, and nothing is shown inside
/// of it.
outcome build_tree(const tree_plan& tree, opened_sources& from,
                   bool scratch) noexcept;

/// Whether something is shown inside the scratch.
bool fills_scratch(const tree_plan& tree) noexcept;

/// A new, empty /tmp and /dev/shm.
outcome fresh_scratch(const tree_plan& tree) noexcept;

/// /proc of the current pid namespace, only processes in it. It covers the one
/// that was there: the kernel grants it only to who has one.
outcome fresh_proc() noexcept;

/// What a run left of its scratch.
struct scratch_use {
  std::uint64_t free_bytes = 0;
  std::uint64_t free_inodes = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t used_inodes = 0;
};
bool measure_scratch(const char* directory, scratch_use& out) noexcept;

} // namespace troupe::isolation
