#pragma once

#include "runtime/settings/layers.hpp"

namespace troupe {

/// Names in the log each setting that somebody set and nothing in this version
/// obeys yet. None of them would keep anybody out.
void warn_of_unsupported(const configuration& what);

} // namespace troupe
