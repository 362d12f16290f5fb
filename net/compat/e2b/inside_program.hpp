#pragma once

#include "runtime/engine/sandbox_engine.hpp"

#include <functional>
#include <string>

namespace troupe::net::e2b_facade {

/// What a program in a sandbox said until its end.
struct program_answer {
  process_record how;
  std::string out;
  std::string err;
  bool complete = true; // nothing of it fell out of the window
};

/// Runs a program of the facade's own in a sandbox, and forgets it: what is
/// known inside only is asked there.
void run_inside(sandbox_engine& engine, const caller& who, const sandbox_id& id,
                process_spec what, sandbox_handler<program_answer> then);

/// Marks those programs, which clients are not shown.
inline constexpr std::string_view own_tag = "troupe.e2b";

} // namespace troupe::net::e2b_facade
