#pragma once

#include <string>

namespace troupe {

/// Of this process and its build, in Prometheus' text format and by its usual
/// names: memory, processor time, descriptors, start.
std::string process_metrics();

} // namespace troupe
