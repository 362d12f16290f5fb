#pragma once

#include "app/bridges/engine_dialer.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/terminal_size.hpp"

#include <optional>
#include <string>

namespace troupe {

/// Of the one that this command was typed in; nothing where that is no
/// terminal, or one that does not know.
std::optional<terminal_size> size_of_terminal();

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
