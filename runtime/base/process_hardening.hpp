#pragma once

#include "runtime/base/error.hpp"

namespace troupe {

/// From now on nothing writes this process's memory to a file, and no process
/// of the same user reads it: no core dump, no ptrace, no /proc/<pid>/mem. A
/// program that it executes begins afresh.
result<void> keep_memory_private();

} // namespace troupe
