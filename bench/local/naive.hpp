#pragma once

#include "bench/local/tools.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace troupe::bench {

/// What a number of calls took.
struct batch {
  double seconds = 0;            // for all of them
  double cpu = 0;                // seconds, of everybody involved
  std::vector<double> latencies; // seconds, of each
  std::size_t failures = 0;

  double rate() const {
    return static_cast<double>(latencies.size()) / seconds;
  }
  double cpu_per_call() const {
    return cpu / static_cast<double>(latencies.size());
  }
};

/// The way of the system that this one replaces: a script in a temporary
/// file, a fresh interpreter that imports pydantic, the result between marks
/// on standard output. Spared: an event loop and unpickling. For JavaScript: a
/// fresh node.
batch run_naive(const std::string& interpreter, const local_tool& tool,
                std::size_t calls, std::size_t at_a_time);

/// `python3 -I -S -c pass`, one at a time.
batch run_empty_interpreter(const std::string& python, std::size_t calls);

/// fork, _exit and wait of this program, small because just executed and
/// doing nothing else.
batch run_bare_forks(std::size_t calls);

/// The same into fresh namespaces, of the kinds that a strict run has for
/// itself, with nothing done in them. What the kernel does about their end in
/// threads of its own is in the time, not in the CPU.
batch run_bare_namespaces(std::size_t calls);

/// What that program does: `troupe_bench __forks N` prints seconds and CPU;
/// with `namespaces` behind it, those too.
inline constexpr const char* forks_command = "__forks";
int bare_forks(std::size_t calls, bool namespaces);

} // namespace troupe::bench
