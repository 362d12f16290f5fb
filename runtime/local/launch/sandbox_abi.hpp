#pragma once

#include <cstdint>

/// What a program inside a sandbox finds when it begins. README.md tells it in
/// words; the warden's cold path and the zygotes' slots both keep it.
namespace troupe::abi {

inline constexpr int stdin_fd = 0;   // /dev/null, or the run's stdin text
inline constexpr int stdout_fd = 1;  // a pipe
inline constexpr int stderr_fd = 2;  // a pipe
inline constexpr int channel_fd = 3; // a stream socket: request in, answer out
inline constexpr int fd_count = 4;   // and nothing else is open

/// Read-only directory with the runner programs of runtime/runner.
inline constexpr const char* runners = "/opt/troupe/runners";

} // namespace troupe::abi
