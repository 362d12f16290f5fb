#pragma once

namespace troupe {

/// What the process says when it ends. Scripts rely on these.
enum exit_code : int {
  exit_ok = 0,
  exit_tool_failed = 1, // the tool ran, and failed
  exit_usage = 2,       // the command line or a setting is wrong
  exit_ours = 70,       // the engine failed: EX_SOFTWARE of sysexits.h
  exit_timeout = 124,   // as timeout(1) has it
};

} // namespace troupe
