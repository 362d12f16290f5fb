#pragma once

#include "runtime/local/isolation/seccomp_builder.hpp"

/// Verdicts for calls by their number alone.
namespace troupe::isolation {

/// Newer than the headers that we may be built with.
inline constexpr long call_fchmodat2 = 452;

/// What a program does with files, memory, time and itself.
void allow_ordinary_calls(seccomp_builder& f);
/// Processes, threads and signals of the run's own pid namespace.
void allow_process_calls(seccomp_builder& f);
/// What only a machine's owner needs: a clear no instead of "unknown call".
void refuse_privileged_calls(seccomp_builder& f);

} // namespace troupe::isolation
