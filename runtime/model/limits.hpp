#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace troupe {

/// What one run, with everything it starts, may use. Every bound is for the
/// whole group, has a default and ends the run with a reason of its own.
struct limits {
  std::chrono::milliseconds wall{180'000}; // as Letta has it
  std::chrono::milliseconds cpu{180'000};  // all threads and children together
  std::uint64_t memory_bytes = 512ull << 20; // its files in tmpfs count too
  std::uint64_t processes = 64;              // threads count too
  std::uint64_t open_files = 1024;           // per process
  std::uint64_t disk_bytes = 128ull << 20;   // its private /tmp
  std::uint64_t inodes = 16'384;             // files in its private /tmp
  std::uint64_t output_bytes = 1ull << 20;   // stdout and stderr, each
  std::uint64_t result_bytes = 8ull << 20;   // the JSON of the return value

  friend bool operator==(const limits&, const limits&) = default;
};

/// What no run goes beyond, whatever it asks for: more is an operator's
/// decision (limits.max-*), not a caller's.
inline limits standard_ceiling() {
  using std::chrono::hours;
  return {.wall = hours{1},
          .cpu = hours{1},
          .memory_bytes = 4ull << 30,
          .processes = 1'024,
          .open_files = 65'536,
          .disk_bytes = 4ull << 30,
          .inodes = 262'144,
          .output_bytes = 64ull << 20,
          .result_bytes = 64ull << 20};
}

/// What a request or a config says about limits; absent: not said.
struct limit_overrides {
  std::optional<std::chrono::milliseconds> wall;
  std::optional<std::chrono::milliseconds> cpu;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> processes;
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> disk_bytes;
  std::optional<std::uint64_t> inodes;
  std::optional<std::uint64_t> output_bytes;
  std::optional<std::uint64_t> result_bytes;

  friend bool operator==(const limit_overrides&, const limit_overrides&)
    = default;
};

/// `base` with everything that `said` says, none of it above `ceiling`.
limits apply(limits base, const limit_overrides& said, const limits& ceiling);

} // namespace troupe
