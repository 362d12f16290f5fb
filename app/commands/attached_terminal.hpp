#pragma once

#include "app/cli/engine_dialer.hpp"
#include "runtime/json/json.hpp"

#include <string>

namespace troupe {

/// How the time at a terminal ended.
struct attached_end {
  json::value process; // null: it goes on
  int signal = 0;      // that ended us
};

/// Joins the terminal that this command was typed in with one of a sandbox, at
/// `target`, until one of them ends or Ctrl-] is typed.
result<attached_end> attach_terminal(engine_dialer_ptr engine,
                                     std::string target);

} // namespace troupe
