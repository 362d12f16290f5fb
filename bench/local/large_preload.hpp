#pragma once

#include "bench/bench.hpp"
#include "bench/local/engine.hpp"

namespace troupe::bench {

/// Runs out of an interpreter that has imported a quarter of a gigabyte, beside
/// runs out of one that has not.
void measure_ballast(report& out, local_engine& light);

} // namespace troupe::bench
