#include "storage/maintenance/backup.hpp"

#include "runtime/base/private_directory.hpp"
#include "storage/catalog/catalog_load.hpp"
#include "storage/database/durable_files.hpp"
#include "storage/database/manifest.hpp"
#include "storage/maintenance/migration.hpp"

#include <cerrno>
#include <cstdlib>

namespace troupe {

namespace {

constexpr const char* list_name = "troupe.backup";
constexpr std::size_t max_list_bytes = 16u << 20;

result<manifest> read_list(const std::filesystem::path& directory) {
  auto text = files::read(directory / list_name, max_list_bytes);
  if (!text && text.error().code == ec::not_found)
    return error{ec::not_found,
                 directory.string() + " is not a backup: it has no "
                   + std::string{list_name},
                 {},
                 {}};
  if (!text)
    return text.error();
  auto list = parse_manifest(*text);
  if (!list)
    return list.error().within((directory / list_name).string());
  if (list->files.empty())
    return error{ec::internal,
                 (directory / list_name).string()
                   + " lists no files: this backup cannot be restored; use "
                     "another",
                 {},
                 {}};
  return list;
}

backup_summary count(const manifest& list) {
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
                          const manifest& list) {
  auto compared = compare_manifest(directory, list);
  if (!compared)
    return error{compared.error().code,
                 compared.error().text
                   + ": this backup cannot be restored; use another",
                 {},
                 {}};
  return {};
}

} // namespace

namespace {

/// A directory of our own while it becomes something; goes with all that is
/// left in it.
class draft {
public:
  explicit draft(std::filesystem::path path) : path_{std::move(path)} {}
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;
  ~draft() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

error cannot(std::string_view doing, const std::filesystem::path& place,
             const std::string& why) {
  return {ec::unavailable,
          std::string{doing} + " " + place.string() + ": " + why,
          {},
          {}};
}

/// Beside `directory`, with mode 0700 from the first moment on.
result<std::filesystem::path>
make_beside(const std::filesystem::path& directory) {
  auto name = directory.string() + ".XXXXXX";
  if (::mkdtemp(name.data()) != nullptr)
    return std::filesystem::path{name};
  const int number = errno;
  if (number == ENOENT)
    return error{ec::invalid_request,
                 "make " + directory.string() + ": "
                   + directory.parent_path().string()
                   + " does not exist; make it first",
                 {},
                 {}};
  return files::last_error("make", directory);
}

result<void> move_to(const std::filesystem::path& from,
                     const std::filesystem::path& to) {
  std::error_code failed;
  std::filesystem::rename(from, to, failed); // over an empty one, too
  if (failed)
    return cannot("rename", from, failed.message());
  return files::sync_directory(to.parent_path());
}

/// What a copy holds, read as a start would read it.
result<void> read_whole(const std::filesystem::path& directory,
                        backup_summary& sum) {
  database_options options;
  options.read_only = true;
  auto db = database::open(directory, options);
  if (!db)
    return db.error();
  if (auto sound = (*db)->verify(); !sound)
    return sound.error();
  if (auto described = describe(**db, sum); !described)
    return described.error();
  if (auto loaded = load_catalog(**db, catalog_tables{*db}); !loaded)
    return loaded.error();
  return {};
}

result<void> copy_files(const manifest& list, const std::filesystem::path& from,
                        const std::filesystem::path& to) {
  for (const auto& [name, file] : list.files)
    if (auto copied = files::copy(from / name, to / name); !copied)
      return copied.error();
  if (auto same = verify_files(to, list); !same)
    return same.error();
  return files::sync_directory(to);
}

} // namespace

result<backup_summary> create_backup(const database& db,
                                     const std::filesystem::path& where) {
  const auto directory = where.has_filename() ? where : where.parent_path();
  std::error_code failed;
  if (std::filesystem::exists(
        std::filesystem::symlink_status(directory, failed)))
    return error{ec::conflict,
                 directory.string()
                   + " exists; use a new directory for a backup",
                 {},
                 {}};
  auto beside = make_beside(directory);
  if (!beside)
    return beside.error();
  // Nobody else looks into it, so nobody sees it half made or open: RocksDB
  // makes directories of mode 0755, and its tables are links to the store's.
  const draft ours{std::move(*beside)};
  const auto copy = ours.path() / "store";
  if (auto copied = db.checkpoint(copy); !copied)
    return copied.error();
  if (auto closed = make_private_directory(copy); !closed)
    return closed.error();
  files::close_to_others(copy);
  auto list = take_manifest(copy, hashing::all_files);
  if (!list)
    return list.error();
  auto sum = count(*list);
  if (auto described = describe(db, sum); !described)
    return described.error();
  // The list comes last: a backup without it never became one.
  if (auto written = files::replace(copy / list_name, to_text(*list)); !written)
    return written.error();
  if (auto moved = move_to(copy, directory); !moved)
    return moved.error();
  return sum;
}

result<backup_summary> verify_backup(const std::filesystem::path& directory) {
  auto list = read_list(directory);
  if (!list)
    return list.error();
  if (auto same = verify_files(directory, *list); !same)
    return same.error();
  auto sum = count(*list);
  if (auto read = read_whole(directory, sum); !read)
    return read.error();
  return sum;
}

result<backup_summary> restore_backup(const std::filesystem::path& directory,
                                      const std::filesystem::path& store) {
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
  if (auto same = verify_files(directory, *list); !same)
    return same.error();
  auto path = store;
  path += ".restoring";
  std::filesystem::remove_all(path, failed); // of a try that was killed
  const draft beside{std::move(path)};
  if (auto made = make_private_directory(beside.path()); !made)
    return made.error();
  if (auto copied = copy_files(*list, directory, beside.path()); !copied)
    return copied.error();
  // The copy and not the backup: more may lie there than is listed.
  auto sum = count(*list);
  if (auto read = read_whole(beside.path(), sum); !read)
    return read.error().within("the copy of " + directory.string());
  if (auto moved = move_to(beside.path(), store); !moved)
    return moved.error();
  return sum;
}

} // namespace troupe
