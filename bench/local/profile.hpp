#pragma once

namespace troupe::bench {

/// `troupe_bench __runs TOOL LEVEL CALLS AT_A_TIME [NODE]`: nothing but runs,
/// to be looked at with perf or strace. Prints one line.
inline constexpr const char* profile_command = "__runs";
int profile_runs(int argc, char** argv);

} // namespace troupe::bench
