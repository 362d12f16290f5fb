#include "storage/backup.hpp"

#include "storage/catalog_load.hpp"
#include "storage/files.hpp"
#include "storage/inventory.hpp"
#include "storage/migration.hpp"

namespace troupe {

namespace {

constexpr const char* list_name = "troupe.backup";
constexpr std::size_t max_list_bytes = 16u << 20;

result<inventory> read_list(const std::filesystem::path& directory) {
  auto text = files::read(directory / list_name, max_list_bytes);
  if (!text && text.error().code == ec::not_found)
    return error{ec::not_found,
                 directory.string() + " is no backup: it has no "
                   + std::string{list_name},
                 {},
                 {}};
  if (!text)
    return text.error();
  auto list = parse_inventory(*text);
  if (!list)
    return list.error().within((directory / list_name).string());
  return list;
}

backup_summary count(const inventory& list) {
  backup_summary sum;
  sum.files = list.files.size();
  for (const auto& [name, file] : list.files)
    sum.bytes += file.bytes;
  return sum;
}

result<void> describe(const database& db, backup_summary& sum) {
  auto format = read_format(db);
  if (!format)
    return format.error();
  auto master = read_master_record(db);
  if (!master)
    return master.error();
  sum.format = *format;
  sum.master_key = master->current;
  return {};
}

result<void> verify_files(const std::filesystem::path& directory,
                          const inventory& list) {
  auto compared = compare_inventory(directory, list);
  if (!compared)
    return error{compared.error().code,
                 "the backup is damaged: " + compared.error().text,
                 {},
                 {}};
  return {};
}

} // namespace

result<backup_summary> create_backup(const database& db,
                                     const std::filesystem::path& directory) {
  std::error_code failed;
  if (std::filesystem::exists(directory, failed))
    return error{ec::conflict,
                 directory.string()
                   + " exists; a backup goes to a new directory",
                 {},
                 {}};
  if (auto copied = db.checkpoint(directory); !copied)
    return copied.error();
  auto list = take_inventory(directory, hashing::all_files);
  if (!list)
    return list.error();
  auto sum = count(*list);
  if (auto described = describe(db, sum); !described)
    return described.error();
  // The list comes last: a backup without it never became one.
  if (auto written = files::replace(directory / list_name, to_text(*list));
      !written)
    return written.error();
  return sum;
}

result<backup_summary> verify_backup(const std::filesystem::path& directory) {
  auto list = read_list(directory);
  if (!list)
    return list.error();
  if (auto same = verify_files(directory, *list); !same)
    return same.error();
  database_options options;
  options.read_only = true;
  auto db = database::open(directory, options);
  if (!db)
    return db.error();
  if (auto sound = (*db)->verify(); !sound)
    return sound.error();
  auto sum = count(*list);
  if (auto described = describe(**db, sum); !described)
    return described.error();
  if (auto loaded = load_catalog(**db, catalog_tables{*db}); !loaded)
    return loaded.error();
  return sum;
}

result<backup_summary> restore_backup(const std::filesystem::path& directory,
                                      const std::filesystem::path& store) {
  auto sum = verify_backup(directory);
  if (!sum)
    return sum;
  auto list = read_list(directory);
  if (!list)
    return list.error();
  std::error_code failed;
  if (std::filesystem::exists(store, failed)
      && !std::filesystem::is_empty(store, failed))
    return error{ec::conflict,
                 store.string()
                   + " is not empty; move it away, then restore again",
                 {},
                 {}};
  auto beside = store;
  beside += ".restoring";
  std::filesystem::remove_all(beside, failed);
  std::filesystem::create_directories(beside, failed);
  if (!failed)
    std::filesystem::permissions(beside, std::filesystem::perms::owner_all,
                                 failed);
  if (failed)
    return error{ec::unavailable,
                 "make " + beside.string() + ": " + failed.message(),
                 {},
                 {}};
  for (const auto& [name, file] : list->files)
    if (auto copied = files::copy(directory / name, beside / name); !copied)
      return copied.error();
  if (auto same = verify_files(beside, *list); !same)
    return same.error();
  if (auto synced = files::sync_directory(beside); !synced)
    return synced.error();
  std::filesystem::rename(beside, store, failed); // over an empty one, too
  if (failed)
    return error{ec::unavailable,
                 "rename " + beside.string() + ": " + failed.message(),
                 {},
                 {}};
  if (auto synced = files::sync_directory(store.parent_path()); !synced)
    return synced.error();
  return sum;
}

} // namespace troupe
