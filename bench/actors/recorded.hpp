#pragma once

#include "bench/bench.hpp"

namespace troupe::bench {

/// The engine's own cost with its record on a disk.
void run_with_a_record(report& out);

} // namespace troupe::bench
