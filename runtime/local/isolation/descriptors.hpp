#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Makes `from[i]` descriptor `i` for each of `count`; a `from[0]` of -1 is
/// /dev/null. Everything else closes with the next exec; who does not execute
/// calls `close_from(count)` afterwards.
outcome install_fds(int* from, int count) noexcept;

/// Closes everything but these, -1 among them being none; sorts them. 0, 1 and
/// 2 are /dev/null then: none of them may be one that is kept.
outcome keep_only(int* kept, int count) noexcept;

/// Closes everything from `first` up.
outcome close_from(unsigned first) noexcept;

} // namespace troupe::isolation
