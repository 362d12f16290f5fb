#pragma once

#include "runtime/local/warm/process/interpreter.hpp"

#include <string_view>

namespace troupe::zygote {

/// Where a process stands that waits for its run.
enum class waiting : int {
  forked, // its run follows another one, and comes soon
  warmed, // it has worked, and has time
};

/// Before the first slot: carries out `plays`, requests of our own with a
/// length of eight bytes before each, as slots will carry out those of tools.
/// Returns how many pages a run is expected to write to; -1, and only then, in
/// the process of such a run.
int rehearse(interpreter& in, std::string_view plays);

/// In a process that waits for its run: makes those pages its own.
void make_pages_ready(waiting now);

/// At the end of a run: tells a rehearsal, if this is one.
void end_rehearsal();

} // namespace troupe::zygote
