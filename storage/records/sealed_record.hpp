#pragma once

#include "storage/database/database.hpp"
#include "storage/sealing/sealer.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

/// Records that are sealed as a whole: a format byte of their own, then what
/// sealer::seal_record made.
namespace troupe::records {

/// Clear ones are read by a migration only.
bool is_sealed(std::string_view bytes);

result<std::string> seal(sealer& seals, const sealed_place& place,
                         std::string_view text);
/// `what` names the kind of record in the error. `internal`: it is not what was
/// written, or not at its place.
result<secret> unseal(const sealer& seals, const sealed_place& place,
                      std::string_view bytes, std::string_view what);

/// Which version of its organization's key seals it; 0 for a clear one.
std::uint32_t key_version(std::string_view bytes);

/// Puts into the batch what shall stand in place of a row.
using row_change = std::function<result<void>(
  batch& changes, std::string_view key, std::string_view value)>;

/// Offers every row under `prefix` to `change`, and writes what it made of
/// them, some rows at a time, each time under `lock`: other writers of these
/// rows take it as well.
result<void> change_all(database& db, column where, std::string_view prefix,
                        std::mutex& lock, const row_change& change);

} // namespace troupe::records
