#pragma once

#include "actors/context/engine_context.hpp"

#include <string>
#include <vector>

namespace troupe {

/// Every backend with its state, for health and for the metrics.
std::vector<backend_health> backends_of(const engine_context& context);

/// Prometheus' text format.
std::string metrics_text(const engine_context& context);

} // namespace troupe
