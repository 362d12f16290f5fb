#pragma once

#include "runtime/engine/sandbox.hpp"

namespace troupe {

/// The sandbox that a run wants: fresh, or shared with runs of its kind.
sandbox_request sandbox_for(const prepared_run& run);

/// Whether its config asks for a sandbox that others have used. A run that asks
/// for the strictest isolation follows none.
bool wants_reuse(const prepared_run& run);

/// The program of a run that is a command.
process_request process_for(const prepared_run& run);

} // namespace troupe
