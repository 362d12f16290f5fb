#pragma once

#include "storage/database/database.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace troupe {

/// A backup is a directory: the store's files at one moment and a list of them
/// with hashes. It holds no master key; without the right one nothing sealed
/// in it can be read.
struct backup_summary {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::uint32_t format = 0;
  std::string master_key; // the id of the one that opens it
};

/// While the store is in use; tables are shared by hard links where both lie on
/// one file system. The directory appears at once, with mode 0700 and files of
/// mode 0600. `conflict` when it exists.
result<backup_summary> create_backup(const database& db,
                                     const std::filesystem::path& directory);

/// Every file against its hash, every block against its checksum, and that the
/// configuration reads. The error names what is wrong.
result<backup_summary> verify_backup(const std::filesystem::path& directory);

/// Verifies, copies to where no store is yet, verifies and reads the copy, and
/// makes it appear at once. Only what the backup lists is copied.
result<backup_summary> restore_backup(const std::filesystem::path& directory,
                                      const std::filesystem::path& store);

} // namespace troupe
