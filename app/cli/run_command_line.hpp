#pragma once

namespace troupe {

/// Parses, runs, and says what was wrong in one line with the way out.
int run_command_line(int argc, const char* const* argv);

} // namespace troupe
