#pragma once

#include <sys/types.h>

namespace troupe::inside {

// Everything that the calling process, a subreaper, is the ancestor of. Numbers
// of processes that end meanwhile may be given out again only within the same
// sandbox: nothing outside of it is ever hit.

/// Once to each that can be seen; where none can, to the group of `child`.
void signal_descendants(pid_t child, int number) noexcept;

/// Once to `root`, a child that was not reaped, and to all below it that can be
/// seen; with SIGKILL until no more of them are found. Waits for none.
void signal_tree(pid_t root, int number) noexcept;

/// Kills and reaps them until none is left, and returns how `child` ended.
/// Where they multiply faster than that, all others in the sandbox go too.
int kill_descendants(pid_t child) noexcept;

} // namespace troupe::inside
