#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/sandbox/inside/keeper.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"

#include <sys/types.h>

#include <cstdint>
#include <vector>

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
  bool terminal = false;  // all three are one, which it will lead
  bool may_leave = false; // the network; then `listener` is said before `begun`
  const char* cwd = nullptr;
  std::uint64_t open_files = 1024;
  execute_fn execute = nullptr;
  /// In memory that the keeper has as well: the command, from its first moment.
  pid_t* pid = nullptr;
};

/// So many descriptors come with an `exec`.
std::size_t descriptors_with(const keeper_message& exec);
/// By those that came with it, or by the terminal that it has.
void set_streams(command_order& order, const keeper_message& exec,
                 const std::vector<unique_fd>& given, int terminal);

/// The process between the keeper and one command. All that the command starts
/// stays below it, daemons too, so that it can be ended as a whole. It ends
/// with the command; what is left of its tree goes on in the sandbox.
[[noreturn]] void run_command_parent(const command_order& order) noexcept;

} // namespace troupe::inside
