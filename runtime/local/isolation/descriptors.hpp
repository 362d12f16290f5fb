#pragma once

#include "runtime/local/isolation/step.hpp"

namespace troupe::isolation {

/// Makes `from[i]` descriptor `i` for each of `count`, then closes everything
/// else but `keep` (-1: nothing), which becomes `count`, close-on-exec. A
/// `from[0]` of -1 is /dev/null.
outcome hand_in(int* from, int count, int keep) noexcept;

/// Closes everything from `first` up.
outcome close_from(unsigned first) noexcept;

} // namespace troupe::isolation
