#pragma once

#include "storage/catalog/catalog_store.hpp"
#include "storage/maintenance/backup.hpp"
#include "storage/records/audit_store.hpp"
#include "storage/records/idempotency_store.hpp"
#include "storage/records/lease_store.hpp"
#include "storage/records/run_store.hpp"
#include "storage/records/sandbox_record_store.hpp"

#include <filesystem>
#include <memory>

namespace troupe {

struct store_options {
  /// Holds `store/`, RocksDB's files, and `master.key`, unless the key comes
  /// from elsewhere. They lie apart so that a copy of the first is not a copy
  /// of both. Made with mode 0700.
  std::filesystem::path data_directory;
  database_options database;
  master_key_options master; // an empty `file`: as above
  catalog_options catalog;
  run_store_options runs;
  idempotency_options idempotency;
  audit_options audit;
};

/// Everything that lasts, opened together.
struct store {
  std::shared_ptr<database> db;
  std::shared_ptr<sealer> seals;
  std::unique_ptr<catalog_store> catalog;
  std::unique_ptr<run_store> runs;
  std::unique_ptr<idempotency_store> idempotency;
  std::unique_ptr<audit_store> audit;
  std::unique_ptr<lease_store> sandboxes;
  std::shared_ptr<sandbox_record_store> living_sandboxes;
};

/// Looks first, without changing anything: a newer format, a wrong or missing
/// master key, a damaged file end here. Then opens, migrates and reads.
result<store> open_store(const store_options& options);

std::filesystem::path store_directory(const store_options& options);

} // namespace troupe
