#pragma once

#include "storage/database.hpp"

#include <cstdint>

namespace troupe {

/// The format of what is stored. It grows when older code would misread newer
/// records, or newer code would miss something in older ones.
///   0  no format number; runs without an index by time
///   1  run_index
inline constexpr std::uint32_t current_format = 1;

/// The format of an open store; `current_format` for an empty one.
/// `invalid_request` when a newer version wrote it.
result<std::uint32_t> read_format(const database& db);

/// Leads a store to the current format, a step per version, each one batch:
/// killed in between, the next start goes on.
result<void> migrate(database& db);

} // namespace troupe
