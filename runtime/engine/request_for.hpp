#pragma once

#include "runtime/engine/backend.hpp"

namespace troupe {

/// The request that asks for this very run: for what carries it out elsewhere.
/// The variables are complete already, and the deadline is what is left of it.
run_request request_for(const prepared_run& run);

} // namespace troupe
