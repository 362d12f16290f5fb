#pragma once

#include "bench/bench.hpp"

namespace troupe::bench {

/// Local runs through the actors and the store beside local runs without.
void run_through_the_actors(report& out);

} // namespace troupe::bench
