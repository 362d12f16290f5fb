#pragma once

#include <sys/types.h>

namespace troupe::inside {

// Everything that the calling process, a subreaper, is the ancestor of. Numbers
// of processes that end meanwhile may be given out again only within the same
// sandbox: nothing outside of it is ever hit.

/// Once to each that can be seen.
void signal_descendants(int number) noexcept;

/// Kills and reaps them until none is left, and returns how `child` ended.
/// Where they multiply faster than that, all others in the sandbox go too.
int kill_descendants(pid_t child) noexcept;

} // namespace troupe::inside
