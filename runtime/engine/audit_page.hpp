#pragma once

#include <cstdint>
#include <limits>

namespace troupe {

/// As `after` of `engine::list_audit`: the newest entries, still in order.
inline constexpr std::uint64_t newest_audit_entries
  = std::numeric_limits<std::uint64_t>::max();

} // namespace troupe
