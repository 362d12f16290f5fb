#pragma once

#include "runtime/local/zygote/module/guest.hpp"

#include <cstdint>

namespace troupe::zygote {

/// Clones a slot per order and says which of them died, until the control
/// socket ends. The interpreter runs nothing from here on: what it writes to
/// its heap is no longer shared with the children. `huge_pages`: to be told.
/// Returns only in a run's process.
void serve_zygote(guest& in, int control, std::uint64_t huge_pages);

} // namespace troupe::zygote
