#pragma once

#include "runtime/local/warm/process/interpreter.hpp"

#include <cstdint>
#include <string_view>

namespace troupe::zygote {

/// What the tricks have come to, to be told.
struct memory_report {
  std::uint64_t huge_pages = 0;
  std::uint64_t hot_blocks = 0;
  std::uint64_t ready_pages = 0;
};

/// Clones a slot per order and says which of them died, until the control
/// socket ends. The interpreter runs nothing from here on: what it writes to
/// its heap is no longer shared with the children.
/// `plays` are for a rehearsal. Returns only in a run's process.
void serve_zygote(interpreter& in, int control, memory_report made,
                  std::string_view plays);

} // namespace troupe::zygote
