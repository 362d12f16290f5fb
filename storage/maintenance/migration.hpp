#pragma once

#include "storage/database/database.hpp"
#include "storage/sealing/sealer.hpp"

#include <cstdint>

namespace troupe {

/// The format of what is stored. It grows when older code would misread newer
/// records, or newer code would miss something in older ones.
///   0  no format number; runs without an index by time
///   1  run_index
///   2  records of runs and idempotent answers are sealed, keys are digests
inline constexpr std::uint32_t current_format = 2;

/// The format of an open store; `current_format` for an empty one.
/// `invalid_request` when a newer version wrote it.
result<std::uint32_t> read_format(const database& db);

/// Leads a store from a format to the current one, a step per version: killed
/// in between, the next start goes on. `from` is what read_format said before
/// anything was written.
result<void> migrate(database& db, sealer& seals, std::uint32_t from);

} // namespace troupe
