#pragma once

#include "net/server/options.hpp"
#include "runtime/settings/settings.hpp"

#include <functional>

namespace troupe {

/// A line for every answer, as log.access says. What only asks whether we are
/// well is left to the level debug, and what failed is a warning either way.
std::function<void(const net::access_entry&)> access_log_of(const settings& s);

} // namespace troupe
