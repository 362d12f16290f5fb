#pragma once

#include "storage/database/database.hpp"
#include "storage/database/directory_lock.hpp"
#include "storage/database/rocksdb_options.hpp"

#include <rocksdb/db.h>

#include <mutex>
#include <set>
#include <shared_mutex>

/// INTERNAL to database*.cpp: the open store.
namespace troupe {

struct database::impl {
  std::filesystem::path directory;
  database_options options;
  rocksdb::Env* env = nullptr;
  directory_lock lock;

  // Shared by all users of `db`, exclusive for recover(), which may replace it.
  mutable std::shared_mutex mutex;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> columns;
  rocks_settings settings;

  mutable std::mutex trouble_mutex;
  std::optional<error> trouble;
  std::chrono::steady_clock::time_point next_heal;
  std::uint64_t generation = 1;

  /// Null: a column that an older version did not have, while reading only.
  rocksdb::ColumnFamilyHandle* handle(column c) const {
    return columns[static_cast<std::size_t>(c)];
  }
  bool is_open() const { return db != nullptr; }
  error closed() const {
    return {ec::unavailable,
            "the store in " + directory.string()
              + " could not be opened again after an error of its disk",
            {},
            {}};
  }

  std::string current_file() const { return (directory / "CURRENT").string(); }
  /// `invalid_request` when there is one that we do not know.
  result<std::set<std::string>> present_columns() const;
  result<void> start(bool read_only);
  void stop();
  error refusal_to_open(const rocksdb::Status& status) const;
  result<void> probe() const;
  result<void> flush() const;
  void remember(error e);
};

} // namespace troupe
