#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rocksdb {
class Env;
} // namespace rocksdb

namespace troupe {

/// The first table in `directory` that cannot be read in full, and why.
///
/// A store with a damaged table does not open, but of some damages RocksDB
/// tells only in which manifest the table is listed. Looking at each table by
/// itself finds the file that an operator must put back.
std::optional<std::string>
find_damaged_table(const std::filesystem::path& directory, rocksdb::Env* env);

} // namespace troupe
