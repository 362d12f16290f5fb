#pragma once

#include "runtime/engine/backend.hpp"

#include <optional>
#include <string>

namespace troupe {

/// Why an installer that ended so has installed nothing, by what can be done
/// about it; nothing if it succeeded. `over_bound`: what it took too much of.
std::optional<error> install_failure(const run_outcome& outcome,
                                     const std::string& over_bound,
                                     const std::string& last_lines);

} // namespace troupe
