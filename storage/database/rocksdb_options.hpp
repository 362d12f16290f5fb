#pragma once

#include "storage/database/database.hpp"

#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <array>
#include <memory>

/// Where RocksDB's own words may be used: inside the database's files, and in
/// tests that put a failing disk beneath it. No store includes this.
namespace troupe {

/// What the caller can do about it. `doing` says what we were at.
error to_error(const rocksdb::Status& status, std::string_view doing);

/// Every option that matters, spelled out.
struct rocks_settings {
  rocksdb::DBOptions db;
  std::array<rocksdb::ColumnFamilyOptions, column_count> columns;
  std::shared_ptr<rocksdb::Cache> cache;
};
rocks_settings make_settings(const database_options& options,
                             rocksdb::Env* env);

struct database_access {
  /// Opens on another environment, which must outlive the database.
  static result<std::shared_ptr<database>>
  open(const std::filesystem::path& directory, const database_options& options,
       rocksdb::Env* env);
};

} // namespace troupe
