#pragma once

#include <cstddef>

namespace troupe {

/// How many there are of `backend_kind`, for what is kept by kind.
inline constexpr std::size_t backend_kinds = 6;

} // namespace troupe
