#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

// A sandbox that lives is contained in two halves: its first process stays, and
// must be able to fork and to hear the engine; what runs a tenant's byte is put
// under the filter beside.

/// The first process, which was just cloned with `clone_flags`: namespaces,
/// tree, bounds, and not one capability left. What it forks has all of that.
/// `kept`: what it will write, for sandboxes that are made from it; or -1.
outcome contain_keeper(const plan& p, int& kept) noexcept;

/// A process that only copies what another sandbox has written.
outcome contain_copier(const plan& p, int& kept) noexcept;

/// What a command puts on right before it becomes another program.
outcome confine_command(const plan& p) noexcept;
/// The same for one that may leave the network, whose calls `listener` hears.
outcome confine_command(const plan& p, int& listener) noexcept;

} // namespace troupe::isolation
