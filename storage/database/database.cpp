#include "storage/database/database_impl.hpp"
#include "storage/database/key_codec.hpp"

#include <rocksdb/convenience.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

namespace troupe {

namespace {

rocksdb::Slice slice(std::string_view s) {
  return {s.data(), s.size()};
}

std::string_view view(const rocksdb::Slice& s) {
  return {s.data(), s.size()};
}

rocksdb::ReadOptions reading() {
  rocksdb::ReadOptions r;
  r.verify_checksums = true;
  return r;
}

} // namespace

// -- names --------------------------------------------------------------------

std::string_view to_string(column c) {
  switch (c) {
  case column::meta:
    return "meta";
  case column::tools:
    return "tools";
  case column::configs:
    return "configs";
  case column::variables:
    return "variables";
  case column::agent_variables:
    return "agent_variables";
  case column::keys:
    return "keys";
  case column::sandboxes:
    return "sandboxes";
  case column::runs:
    return "runs";
  case column::run_index:
    return "run_index";
  case column::idempotency:
    return "idempotency";
  case column::audit:
    return "audit";
  case column::living_sandboxes:
    return "living_sandboxes";
  }
  return "unknown";
}

void batch::put(column where, std::string key, std::string value) {
  steps_.push_back({kind::put, where, std::move(key), std::move(value)});
}

void batch::erase(column where, std::string key) {
  steps_.push_back({kind::erase, where, std::move(key), {}});
}

void batch::erase_prefix(column where, std::string prefix) {
  steps_.push_back({kind::erase_prefix, where, std::move(prefix), {}});
}

// -- reading ------------------------------------------------------------------

result<std::optional<std::string>> database::get(column where,
                                                 std::string_view key) const {
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  if (!impl_->handle(where))
    return std::optional<std::string>{};
  std::string value;
  auto status
    = impl_->db->Get(reading(), impl_->handle(where), slice(key), &value);
  if (status.IsNotFound())
    return std::optional<std::string>{};
  if (!status.ok())
    return to_error(status, "read " + std::string{to_string(where)});
  return std::optional{std::move(value)};
}

result<void> database::scan(column where, std::string_view prefix,
                            const visitor& visit, std::string_view from) const {
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  if (!impl_->handle(where))
    return {};
  auto end = key_codec::prefix_end(prefix);
  auto bound = slice(end);
  auto how = reading();
  if (!end.empty())
    how.iterate_upper_bound = &bound;
  std::unique_ptr<rocksdb::Iterator> i{
    impl_->db->NewIterator(how, impl_->handle(where))};
  for (i->Seek(slice(std::max(prefix, from))); i->Valid(); i->Next()) {
    auto more = visit(view(i->key()), view(i->value()));
    if (!more)
      return more.error();
    if (!*more)
      return {};
  }
  if (!i->status().ok())
    return to_error(i->status(), "read " + std::string{to_string(where)});
  return {};
}

result<void> database::scan_back(column where, std::string_view prefix,
                                 const visitor& visit) const {
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  if (!impl_->handle(where))
    return {};
  auto end = key_codec::prefix_end(prefix);
  auto bound = slice(end);
  auto lowest = slice(prefix);
  auto how = reading();
  if (!end.empty())
    how.iterate_upper_bound = &bound;
  how.iterate_lower_bound = &lowest;
  std::unique_ptr<rocksdb::Iterator> i{
    impl_->db->NewIterator(how, impl_->handle(where))};
  for (i->SeekToLast(); i->Valid(); i->Prev()) {
    auto more = visit(view(i->key()), view(i->value()));
    if (!more)
      return more.error();
    if (!*more)
      return {};
  }
  if (!i->status().ok())
    return to_error(i->status(), "read " + std::string{to_string(where)});
  return {};
}

// -- writing ------------------------------------------------------------------

result<void> database::write(const batch& changes, durability how) {
  if (changes.empty())
    return {};
  if (auto bad = write_failure())
    return std::move(*bad).within("the store is read-only at the moment");
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  rocksdb::WriteBatch all;
  rocksdb::Status status;
  for (const auto& step : changes.steps()) {
    auto* handle = impl_->handle(step.where);
    switch (step.what) {
    case batch::kind::put:
      status = all.Put(handle, step.key, step.value);
      break;
    case batch::kind::erase:
      status = all.Delete(handle, step.key);
      break;
    case batch::kind::erase_prefix:
      status
        = all.DeleteRange(handle, step.key, key_codec::prefix_end(step.key));
      break;
    }
    if (!status.ok())
      return to_error(status, "prepare a write");
  }
  rocksdb::WriteOptions options;
  options.sync = how == durability::synced;
  status = impl_->db->Write(options, &all);
  if (status.ok())
    return {};
  // A failed sync is final: trying it again would succeed without the bytes
  // being on disk. So every failure stops writing until recover() has looked.
  auto failed = to_error(status, "write to the store");
  impl_->remember(failed);
  if (failed.code == ec::unavailable)
    failed.code = ec::timeout; // the bytes may be there or not
  return failed;
}

result<void> database::sync() {
  if (auto bad = write_failure())
    return std::move(*bad).within("the store is read-only at the moment");
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  const auto status = impl_->db->SyncWAL();
  if (status.ok())
    return {};
  auto failed = to_error(status, "sync the store"); // as final as in `write`
  impl_->remember(failed);
  return failed;
}

std::optional<error> database::write_failure() const {
  std::lock_guard guard{impl_->trouble_mutex};
  return impl_->trouble;
}

std::uint64_t database::generation() const {
  std::lock_guard guard{impl_->trouble_mutex};
  return impl_->generation;
}

result<void> database::purge(column where, std::string_view prefix) {
  batch erase;
  erase.erase_prefix(where, std::string{prefix});
  if (auto erased = write(erase); !erased)
    return erased;
  return compact(where, prefix);
}

result<void> database::compact(column where, std::string_view prefix) {
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  if (auto flushed = impl_->flush(); !flushed)
    return flushed;
  rocksdb::CompactRangeOptions how;
  how.bottommost_level_compaction
    = rocksdb::BottommostLevelCompaction::kForceOptimized;
  auto end = key_codec::prefix_end(prefix);
  auto first = slice(prefix);
  auto last = slice(end);
  auto status = impl_->db->CompactRange(how, impl_->handle(where),
                                        prefix.empty() ? nullptr : &first,
                                        end.empty() ? nullptr : &last);
  // Enabling deletions deletes, in this thread, what is obsolete by now.
  if (status.ok())
    status = impl_->db->DisableFileDeletions();
  if (status.ok())
    status = impl_->db->EnableFileDeletions(true);
  if (!status.ok())
    return to_error(status, "compact " + std::string{to_string(where)});
  return {};
}

// -- looking after ------------------------------------------------------------

result<void> database::verify() const {
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  auto status = impl_->db->VerifyChecksum(reading());
  if (!status.ok())
    return to_error(status, "verify the store in " + impl_->directory.string());
  return {};
}

result<void>
database::checkpoint(const std::filesystem::path& directory) const {
  std::shared_lock guard{impl_->mutex};
  if (!impl_->is_open())
    return impl_->closed();
  rocksdb::Checkpoint* made = nullptr;
  auto status = rocksdb::Checkpoint::Create(impl_->db.get(), &made);
  std::unique_ptr<rocksdb::Checkpoint> owner{made};
  if (status.ok())
    status = made->CreateCheckpoint(directory.string());
  if (!status.ok())
    return to_error(status, "copy the store to " + directory.string());
  return {};
}

std::optional<database::stats> database::measure() const {
  stats f;
  std::shared_lock guard{impl_->mutex, std::try_to_lock};
  if (!guard || !impl_->is_open())
    return std::nullopt;
  auto sum = [this](const std::string& property) {
    std::uint64_t n = 0;
    return impl_->db->GetAggregatedIntProperty(property, &n) ? n : 0;
  };
  f.table_bytes = sum(rocksdb::DB::Properties::kTotalSstFilesSize);
  f.memtable_bytes = sum(rocksdb::DB::Properties::kCurSizeAllMemTables);
  f.estimated_keys = sum(rocksdb::DB::Properties::kEstimateNumKeys);
  f.cache_bytes = impl_->settings.cache->GetUsage();
  return f;
}

const std::filesystem::path& database::directory() const {
  return impl_->directory;
}

} // namespace troupe
