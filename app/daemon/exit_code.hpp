#pragma once

#include "runtime/base/error.hpp"

namespace troupe {

/// What the process says when it ends. Scripts rely on these; those beyond 60
/// are of sysexits.h.
enum exit_code : int {
  exit_ok = 0,
  exit_tool_failed = 1,  // the tool ran, and failed
  exit_usage = 2,        // the command line, a setting or a request is wrong
  exit_not_found = 66,   // what it names does not exist: EX_NOINPUT
  exit_unreachable = 69, // no engine, or none that can: EX_UNAVAILABLE
  exit_ours = 70,        // the engine failed: EX_SOFTWARE
  exit_refused = 77,     // a key, a policy or its state forbids: EX_NOPERM
  exit_timeout = 124,    // as timeout(1) has it
};

/// The same for people.
inline constexpr auto exit_codes_help
  = "0 success, 1 the tool failed, 2 usage error or invalid request, 66 not "
    "found, 69 the engine cannot be reached or cannot take it now, 70 internal "
    "error, 77 refused, 124 timeout.";

constexpr int exit_code_of(ec code) {
  switch (code) {
  case ec::invalid_request:
    return exit_usage;
  case ec::not_found:
    return exit_not_found;
  case ec::conflict:
  case ec::denied:
    return exit_refused;
  case ec::unavailable:
  case ec::exhausted:
  case ec::no_space:
    return exit_unreachable;
  case ec::timeout:
    return exit_timeout;
  case ec::internal:
    break;
  }
  return exit_ours;
}

} // namespace troupe
