#pragma once

#include "runtime/toolkit/toolkit_call.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace troupe::toolkit {

/// What a program has written, and how it ended.
struct captured {
  process_record how;
  std::string out;
  std::string err;
  std::uint64_t missed = 0; // bytes that fell out of the window

  bool fine() const {
    return how.reason == process_reason::exited && how.exit_code == 0;
  }
};

captured capture(const sandbox_program& program, output_offsets from = {});

/// Runs a program to its end, which has to come within `limit`: then it is
/// killed. Ends with the call.
void run_program(const call_ptr& call, process_spec what,
                 std::chrono::milliseconds limit,
                 std::function<void(captured)> then);

/// Runs a program and waits for its end as long as the call does. One that goes
/// on is handed back as a process; its timeout still ends it.
void run_or_hand_back(const call_ptr& call, process_spec what,
                      std::chrono::milliseconds wait,
                      std::function<void(captured)> then);

/// Tells the last line of what a program has written, while the call goes on.
void tell_progress(const call_ptr& call, const sandbox_program_ptr& program,
                   output_offsets seen = {});

/// The last line of a result: "[exit 0 · 1.24 s]".
std::string ending_text(const process_record& how);
/// Whether it was ended by us, and did not end by itself.
bool was_killed(const process_record& how);

/// What a program wrote, for a model.
std::string output_text(const captured& program, std::size_t most);

} // namespace troupe::toolkit
