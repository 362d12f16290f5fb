#pragma once

#include "bench/bench.hpp"
#include "bench/local/engine.hpp"

namespace troupe::bench {

/// TypeScript in warm slots against a node per call.
void measure_node(report& out, local_engine& on_demand, local_engine& pooled);

} // namespace troupe::bench
