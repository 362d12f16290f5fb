#pragma once

#include "runtime/model/limits.hpp"

#include <string>
#include <vector>

namespace troupe {

/// A sentence for each limit that was asked for and is lower now.
std::vector<std::string> notes_on_lowered(const limit_overrides& asked,
                                          const limits& settled);

} // namespace troupe
