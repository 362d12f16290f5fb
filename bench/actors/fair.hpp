#pragma once

#include "bench/bench.hpp"

namespace troupe::bench {

/// What a flood of one organization does to the single runs of another.
void run_beside_a_flood(report& out);

} // namespace troupe::bench
