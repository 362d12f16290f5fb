#pragma once

#include "actors/context/engine_context.hpp"
#include "actors/engine/engine_host.hpp"

namespace troupe {

/// What stands behind an engine: for tests that break it on purpose, and for
/// the parts of the engine that join it from outside.
context_ptr context_of(engine_host& host);
/// Null after its end.
caf::actor_system* system_of(engine_host& host);

} // namespace troupe
