#pragma once

#include "runtime/engine/sandbox.hpp"

#include <string>
#include <vector>

namespace troupe {

/// What to run in a sandbox before anything else: one installer call per
/// language, every requirement an argument of its own.
std::vector<std::vector<std::string>> installers(const sandbox_request& wanted,
                                                 const std::string& folder);

} // namespace troupe
