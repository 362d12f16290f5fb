#include "storage/maintenance/store.hpp"

#include "runtime/base/private_directory.hpp"
#include "storage/maintenance/migration.hpp"

namespace troupe {

namespace {

// Opening for writing makes new files and may migrate: nothing of that before
// format and key are known to be right.
result<key_source> look_first(const std::filesystem::path& directory,
                              const store_options& options,
                              const master_key_options& master) {
  std::error_code failed;
  if (!std::filesystem::exists(directory, failed)
      || std::filesystem::is_empty(directory, failed))
    return key_source::open(master, true);
  auto reading = options.database;
  reading.read_only = true;
  auto db = database::open(directory, reading);
  // A first start that died before RocksDB was through with its own.
  if (!db && db.error().code == ec::not_found)
    return key_source::open(master, true);
  if (!db)
    return db.error();
  if (auto format = read_format(**db); !format)
    return format.error();
  auto record = read_master_record(**db);
  if (!record)
    return record.error();
  auto source = key_source::open(master, record->current.empty());
  if (!source)
    return source.error();
  if (auto checked = check_master_keys(**db, *source); !checked)
    return checked.error();
  return source;
}

} // namespace

std::filesystem::path store_directory(const store_options& options) {
  return options.data_directory / "store";
}

result<store> open_store(const store_options& options) {
  if (auto made = make_data_directory(options.data_directory); !made)
    return made.error();
  auto master = options.master;
  if (master.file.empty())
    master.file = options.data_directory / "master.key";
  auto directory = store_directory(options);
  auto source = look_first(directory, options, master);
  if (!source)
    return source.error();
  store s;
  auto db = database::open(directory, options.database);
  if (!db)
    return db.error();
  s.db = *db;
  auto format = read_format(*s.db); // before the sealer writes its own
  if (!format)
    return format.error();
  auto seals = sealer::open(s.db, std::move(*source));
  if (!seals)
    return seals.error();
  s.seals = *seals;
  if (auto migrated = migrate(*s.db, *s.seals, *format); !migrated)
    return migrated.error();
  auto catalog = catalog_store::open(s.db, s.seals, options.catalog);
  if (!catalog)
    return catalog.error();
  s.catalog = std::move(*catalog);
  auto runs = run_store::open(s.db, s.seals, options.runs);
  if (!runs)
    return runs.error();
  s.runs = std::move(*runs);
  auto idempotency
    = idempotency_store::open(s.db, s.seals, options.idempotency);
  if (!idempotency)
    return idempotency.error();
  s.idempotency = std::move(*idempotency);
  s.living_sandboxes = std::make_shared<sandbox_record_store>(s.db, s.seals);
  s.catalog->before_retiring(
    [runs = s.runs.get(), answers = s.idempotency.get(),
     sandboxes = s.living_sandboxes.get()](const auto& whose) {
      auto done = runs->reseal(whose);
      if (done)
        done = answers->reseal(whose);
      return done ? sandboxes->reseal(whose) : done;
    });
  if (auto resumed = s.catalog->resume_rotations(); !resumed)
    return resumed.error();
  auto audit = audit_store::open(s.db, s.seals, options.audit);
  if (!audit)
    return audit.error();
  s.audit = std::move(*audit);
  auto sandboxes = lease_store::open(s.db);
  if (!sandboxes)
    return sandboxes.error();
  s.sandboxes = std::move(*sandboxes);
  return s;
}

} // namespace troupe
