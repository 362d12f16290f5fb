#pragma once

#include "net/server/router.hpp"

#include <functional>
#include <string>

namespace troupe {
class engine;
}

namespace troupe::net {

/// /livez, /readyz and /metrics. They answer without a key, while draining
/// and when everything else is full.
void add_operators(router& routes, engine& core,
                   std::function<std::string()> own_metrics);

} // namespace troupe::net
