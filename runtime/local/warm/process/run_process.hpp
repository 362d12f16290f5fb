#pragma once

#include "runtime/local/warm/packet_io.hpp"

#include <signal.h>

namespace troupe::zygote {

/// As the shell has it for a program that could not be run.
inline constexpr int could_not_start = 126;

/// What every child of a slot does first: a session of its own, and the right
/// to look at itself in /proc.
void begin_run_process();

/// The order's descriptors become 1 to 3; ends the process if they cannot.
void place_descriptors(const descriptors& with);

/// What else `order` says of this run: its own bound on CPU time, and whether
/// `leave` is to tell the slot.
void apply_order(const packet& order);

/// The end of a run that has said everything it had to say.
[[noreturn]] void leave(int status);

/// How a run that leaves well tells its slot so, whether or not it is true: the
/// slot sees for itself (sole_process.hpp).
inline constexpr int leaving_signal = SIGUSR1;
inline constexpr int leaving_value = static_cast<int>(tag);

} // namespace troupe::zygote
