#pragma once

#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/sandbox/inside/keeper.hpp"

#include <sys/types.h>

#include <cstdint>

namespace troupe::inside {

struct command_order {
  const isolation::plan* plan = nullptr;
  std::uint64_t ticket = 0;
  int keeper = -1; // a socket: `begun` and `ended` out, `signal` in
  int launch = -1;
  int in = -1; // -1: /dev/null
  int out = -1;
  int err = -1;
  int channel = -1;       // -1: none; else its descriptor 3
  bool may_leave = false; // the network; then `listener` is said before `begun`
  const char* cwd = nullptr;
  std::uint64_t open_files = 1024;
  execute_fn execute = nullptr;
  /// In memory that the keeper has as well: the command, from its first moment.
  pid_t* pid = nullptr;
};

/// The process between the keeper and one command. All that the command starts
/// stays below it, daemons too, so that it can be ended as a whole. It ends
/// with the command; what is left of its tree goes on in the sandbox.
[[noreturn]] void run_command_parent(const command_order& order) noexcept;

} // namespace troupe::inside
