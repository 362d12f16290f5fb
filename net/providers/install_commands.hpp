#pragma once

#include "net/providers/provider.hpp"

#include <string>
#include <vector>

namespace troupe::net {

/// What to run before the tool: one installer call per language, every
/// requirement an argument of its own.
std::vector<std::vector<std::string>> installers(const prepared_run& run,
                                                 const std::string& folder);

/// The program of a run that is a command.
command_request command_of(const prepared_run& run);

} // namespace troupe::net
