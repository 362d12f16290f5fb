#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Makes `from[i]` descriptor `i` for each of `count`; a `from[0]` of -1 is
/// /dev/null. Everything else closes with the next exec; who does not execute
/// calls `close_from(count)` afterwards.
outcome install_fds(int* from, int count) noexcept;

/// Closes everything from `first` up.
outcome close_from(unsigned first) noexcept;

} // namespace troupe::isolation
