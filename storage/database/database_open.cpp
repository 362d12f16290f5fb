#include "runtime/base/log.hpp"
#include "runtime/base/private_directory.hpp"
#include "storage/database/database_impl.hpp"
#include "storage/database/durable_files.hpp"
#include "storage/database/manifest.hpp"
#include "storage/database/private_env.hpp"
#include "storage/database/table_check.hpp"
#include "storage/database/write_ahead_log.hpp"

#include <rocksdb/convenience.h>

#include <set>

namespace troupe {

namespace {

// The list of files of a store that was closed in good order.
constexpr const char* list_name = "troupe.closed";
constexpr std::size_t max_list_bytes = 4u << 20;
constexpr std::string_view probe_name = "troupe.probe";
// Beside the memtables, which a new start writes out: log, manifest, options.
constexpr std::size_t probe_bytes = 1u << 20;

// RocksDB's names of files tell a store that lost its CURRENT from an empty
// directory: the first must not become a new, empty store.
result<bool> holds_store(const std::filesystem::path& directory) {
  bool current = false;
  std::filesystem::path other;
  std::error_code failed;
  std::filesystem::directory_iterator i{directory, failed};
  for (; !failed && i != std::filesystem::directory_iterator{};
       i.increment(failed)) {
    auto name = i->path().filename().string();
    current = current || name == "CURRENT";
    if (name.starts_with("MANIFEST-") || name.ends_with(".sst")
        || name == list_name)
      other = i->path();
  }
  if (failed)
    return error{
      ec::unavailable, directory.string() + ": " + failed.message(), {}, {}};
  if (!current && !other.empty())
    return error{ec::internal,
                 (directory / "CURRENT").string() + " is missing beside "
                   + other.filename().string()
                   + "; the store is damaged: restore a backup",
                 {},
                 {}};
  return current;
}

result<void> check_files(const std::filesystem::path& directory,
                         const database_options& options) {
  auto list = directory / list_name;
  auto text = files::read(list, max_list_bytes);
  if (!text && text.error().code != ec::not_found)
    return text.error();
  if (!text) { // it crashed: nothing but the logs' own words to go by
    if (options.accept_damaged_log)
      return {};
    return check_logs(directory);
  }
  auto parsed = parse_manifest(*text);
  if (!parsed)
    return parsed.error().within(list.string());
  auto same = compare_manifest(directory, *parsed);
  if (!same)
    return error{same.error().code,
                 same.error().text
                   + " (compared with when the store was closed in good "
                     "order); the store is damaged: restore a backup",
                 {},
                 {}};
  return {};
}

} // namespace

result<std::set<std::string>> database::impl::present_columns() const {
  std::vector<std::string> present;
  auto status = rocksdb::DB::ListColumnFamilies(settings.db, directory.string(),
                                                &present);
  if (!status.ok())
    return to_error(status, "open the store in " + directory.string());
  std::set<std::string> known{rocksdb::kDefaultColumnFamilyName};
  for (std::size_t i = 0; i < column_count; ++i)
    known.emplace(to_string(static_cast<column>(i)));
  for (const auto& name : present)
    if (!known.contains(name))
      return error{ec::invalid_request,
                   "the store in " + directory.string() + " has a part named '"
                     + name
                     + "' that this version does not know: a newer version "
                       "wrote it; use that one",
                   {},
                   {}};
  return std::set<std::string>(present.begin(), present.end());
}

result<void> database::impl::start(bool read_only) {
  auto how = options;
  how.read_only = read_only;
  settings = make_settings(how, env);
  std::set<std::string> present;
  if (read_only || env->FileExists(current_file()).ok()) {
    auto listed = present_columns();
    if (!listed)
      return listed.error();
    present = std::move(*listed);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  wanted.emplace_back(rocksdb::kDefaultColumnFamilyName,
                      rocksdb::ColumnFamilyOptions{settings.columns[0]});
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < column_count; ++i) {
    std::string name{to_string(static_cast<column>(i))};
    // What an older version did not have stays away while we only look.
    if (read_only && !present.contains(name))
      continue;
    places.push_back(i);
    wanted.emplace_back(std::move(name), settings.columns[i]);
  }
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  auto status = read_only ? rocksdb::DB::OpenForReadOnly(
                  settings.db, directory.string(), wanted, &handles, &opened)
                          : rocksdb::DB::Open(settings.db, directory.string(),
                                              wanted, &handles, &opened);
  if (!status.ok())
    return refusal_to_open(status);
  db.reset(opened);
  db->DestroyColumnFamilyHandle(handles.front()); // the default one is unused
  columns.assign(column_count, nullptr);
  for (std::size_t i = 0; i < places.size(); ++i)
    columns[places[i]] = handles[i + 1];
  return {};
}

error database::impl::refusal_to_open(const rocksdb::Status& status) const {
  auto what = to_error(status, "open the store in " + directory.string());
  if (status.IsCorruption())
    if (auto table = find_damaged_table(directory, env))
      what.text += "; the damaged file is " + *table;
  return what;
}

void database::impl::stop() {
  if (!db)
    return;
  rocksdb::CancelAllBackgroundWork(db.get(), true);
  for (auto* handle : columns)
    if (handle)
      db->DestroyColumnFamilyHandle(handle);
  columns.clear();
  db.reset();
}

// Whether the disk takes bytes again, tried on a file of our own.
result<void> database::impl::probe() const {
  auto file = (directory / probe_name).string();
  std::unique_ptr<rocksdb::WritableFile> out;
  auto status = env->NewWritableFile(file, &out, rocksdb::EnvOptions{});
  std::uint64_t memtables = 0;
  if (is_open())
    db->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables,
                                 &memtables);
  const std::string some(probe_bytes, '\0');
  for (std::uint64_t n = 0; status.ok() && n <= memtables; n += some.size())
    status = out->Append(some);
  if (status.ok())
    status = out->Sync();
  if (out && status.ok())
    status = out->Close();
  out.reset();
  env->DeleteFile(file).PermitUncheckedError();
  if (!status.ok())
    return to_error(status, "write to " + directory.string());
  return {};
}

result<void> database::impl::flush() const {
  rocksdb::FlushOptions how;
  how.wait = true;
  auto status = db->Flush(how, columns);
  if (!status.ok())
    return to_error(status, "flush the store in " + directory.string());
  return {};
}

void database::impl::remember(error e) {
  std::lock_guard guard{trouble_mutex};
  e.retry_after = options.heal_every;
  if (!trouble) {
    next_heal = std::chrono::steady_clock::now() + options.heal_every;
    log::warning("the store cannot be written",
                 {{"reason", e.text}, {"directory", directory.string()}});
  }
  trouble = std::move(e);
}

// -- open and close -----------------------------------------------------------

result<std::shared_ptr<database>>
database::open(const std::filesystem::path& directory,
               const database_options& options) {
  return database_access::open(directory, options, private_env());
}

result<std::shared_ptr<database>>
database_access::open(const std::filesystem::path& directory,
                      const database_options& options, rocksdb::Env* env) {
  if (!options.read_only) {
    if (auto made = make_private_directory(directory); !made)
      return made.error();
    files::close_to_others(directory); // what an older version left
  }
  auto lock = options.read_only && options.as_secondary
    ? result<directory_lock>{directory_lock{}}
    : directory_lock::take(directory, options.read_only);
  if (!lock)
    return lock.error();
  auto exists = holds_store(directory);
  if (!exists)
    return exists.error();
  if (!*exists && options.read_only)
    return error{ec::not_found, "no store in " + directory.string(), {}, {}};
  auto state = std::make_unique<database::impl>();
  state->directory = directory;
  state->options = options;
  state->env = env;
  state->lock = std::move(*lock);
  state->settings = make_settings(options, env);
  if (*exists) {
    if (auto checked = check_files(directory, options); !checked)
      return checked.error();
    if (auto known = state->present_columns(); !known)
      return known.error();
  }
  auto list = directory / list_name;
  std::error_code failed;
  if (!options.read_only && std::filesystem::exists(list, failed))
    if (auto gone = files::remove(list); !gone)
      return gone.error();
  if (auto started = state->start(options.read_only); !started)
    return started.error();
  return std::shared_ptr<database>{new database{std::move(state)}};
}

database::database(std::unique_ptr<impl> state) : impl_{std::move(state)} {}

database::~database() {
  if (!impl_->is_open())
    return;
  bool tidy = !impl_->options.read_only && !write_failure() && impl_->flush();
  impl_->stop();
  if (!tidy)
    return;
  // Without the list the next start only does without this one check.
  if (auto list = take_manifest(impl_->directory, hashing::small_files))
    static_cast<void>(
      files::replace(impl_->directory / list_name, to_text(*list)));
}

// -- healing ------------------------------------------------------------------

result<void> database::recover() {
  if (!write_failure())
    return {};
  std::unique_lock guard{impl_->mutex};
  {
    std::lock_guard inner{impl_->trouble_mutex};
    if (!impl_->trouble) // somebody else did it while we waited
      return {};
    auto now = std::chrono::steady_clock::now();
    if (now < impl_->next_heal)
      return impl_->trouble->within("the store is read-only at the moment");
    impl_->next_heal = now + impl_->options.heal_every;
  }
  if (auto writable = impl_->probe(); !writable) {
    impl_->remember(writable.error());
    return writable.error().within("the store is read-only at the moment");
  }
  // RocksDB's Resume() would go on with the same log: after a failed sync it
  // refuses for good, and after a full disk with nothing to flush the next
  // write aborts the process (7.8.3). A new start reads the log again and puts
  // what it finds into synced tables: then we know what was kept.
  impl_->stop();
  if (auto started = impl_->start(false); !started) {
    impl_->remember(started.error());
    static_cast<void>(impl_->start(true)); // so that reads go on
    return started.error().within("the store is read-only at the moment");
  }
  std::lock_guard inner{impl_->trouble_mutex};
  impl_->trouble.reset();
  ++impl_->generation;
  log::info("the store can be written again");
  return {};
}

result<void> database::reopen() {
  std::unique_lock guard{impl_->mutex};
  if (auto flushed = impl_->flush(); !flushed)
    return flushed;
  impl_->stop();
  if (auto started = impl_->start(false); !started)
    return started;
  std::lock_guard inner{impl_->trouble_mutex};
  ++impl_->generation;
  return {};
}

} // namespace troupe
