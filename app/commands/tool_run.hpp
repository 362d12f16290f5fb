#pragma once

#include "app/cli/command_line.hpp"

namespace troupe {

/// Adds `run` to the tool commands.
void add_tool_run(CLI::App* group, invocation& call);

} // namespace troupe
