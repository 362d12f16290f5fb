#pragma once

#include "runtime/local/zygote/wire.hpp"

namespace troupe::zygote {

/// As the shell has it for a program that could not be run.
inline constexpr int could_not_start = 126;

/// What every child of a slot does first: a session of its own, and the right
/// to look at itself in /proc.
void begin_run_process();

/// The order's descriptors become 1 to 3; ends the process if they cannot.
void place_descriptors(const descriptors& with);

/// The run's own bound on CPU time, if it has one.
void bound_cpu(std::uint64_t seconds);

} // namespace troupe::zygote
