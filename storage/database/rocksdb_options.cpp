#include "storage/database/rocksdb_options.hpp"

#include "storage/database/rocksdb_logger.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

namespace troupe {

namespace {

constexpr std::size_t block_bytes = 4u << 10; // a few records each
constexpr double filter_bits_per_key = 10;    // about 1 % false hits
constexpr int background_jobs = 2;            // flush and compact
constexpr std::size_t manifest_bytes = 4u << 20;

/// A write that was stopped because a flush in the background found no space
/// says so only in words.
bool is_full(const rocksdb::Status& status) {
  return status.IsNoSpace()
    || (status.IsIncomplete()
        && status.ToString().find("No space left") != std::string::npos);
}

} // namespace

error to_error(const rocksdb::Status& status, std::string_view doing) {
  auto text = std::string{doing} + ": " + status.ToString();
  if (is_full(status))
    return {ec::no_space,
            std::string{doing}
              + ": the disk is full; nothing can be stored until space on it "
                "is freed",
            {},
            {}};
  if (status.IsCorruption())
    return {
      ec::internal, text + "; the store is damaged: restore a backup", {}, {}};
  if (status.IsIOError() || status.IsBusy() || status.IsShutdownInProgress()
      || status.IsTryAgain() || status.IsIncomplete())
    return {ec::unavailable, std::move(text), {}, {}};
  if (status.IsTimedOut())
    return {ec::timeout, std::move(text), {}, {}};
  return {ec::internal, std::move(text), {}, {}};
}

rocks_settings make_settings(const database_options& options,
                             rocksdb::Env* env) {
  rocks_settings s;
  auto& db = s.db;
  db.env = env;
  db.create_if_missing = !options.read_only;
  db.create_missing_column_families = !options.read_only;

  // -- what is believed ------------------------------------------------------
  // The default, point in time, starts with whatever comes before the first
  // damage and says nothing. Absolute consistency refuses to start after every
  // crash in the middle of a write. This mode takes a torn end, refuses any
  // other damage; write_ahead_log.cpp looks first at what it takes for torn.
  db.wal_recovery_mode = options.accept_damaged_log
    ? rocksdb::WALRecoveryMode::kPointInTimeRecovery
    : rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  db.track_and_verify_wals_in_manifest = !options.accept_damaged_log;
  db.paranoid_checks = true;
  db.flush_verify_memtable_count = true;
  db.verify_sst_unique_id_in_manifest = true;
  // Keys name tenants and variables: they do not belong in log or error texts.
  db.allow_data_in_errors = false;
  // Going on after an error is our decision, in recover(), not a thread's.
  db.max_bgerror_resume_count = 0;

  // -- what is used ----------------------------------------------------------
  // All at once beside a writer, who drops files that are read later.
  db.max_open_files = options.as_secondary ? -1 : options.open_files;
  db.db_write_buffer_size = options.memtable_bytes;
  db.max_total_wal_size = options.wal_bytes;
  db.max_background_jobs = background_jobs;
  db.max_manifest_file_size = manifest_bytes;
  db.info_log = make_rocks_log();
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  s.cache = rocksdb::NewLRUCache(options.cache_bytes);

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = s.cache;
  table.block_size = block_bytes;
  table.cache_index_and_filter_blocks = true; // else outside of the bound
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(filter_bits_per_key));
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  for (std::size_t i = 0; i < column_count; ++i) {
    auto& c = s.columns[i];
    c.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    c.write_buffer_size = options.memtable_bytes / 4;
    c.compression = rocksdb::kNoCompression;
    c.paranoid_file_checks = true; // reads back what it wrote
    auto name = static_cast<column>(i);
    if (options.compress && name == column::audit) // runs are sealed
      c.compression = rocksdb::kLZ4Compression;
  }
  return s;
}

} // namespace troupe
