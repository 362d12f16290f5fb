#pragma once

#include "runtime/error.hpp"
#include "runtime/settings/layers.hpp"

namespace troupe {

/// Settings that nothing in this version obeys yet. Where obeying them would
/// keep somebody out or a run from starting, the engine does not open; the
/// others it only says, in the log.
result<void> check_supported(const configuration& what);

} // namespace troupe
