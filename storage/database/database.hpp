#pragma once

#include "runtime/base/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The column families. Their names (to_string) are stored and never change;
/// their numbers are not.
enum class column : std::uint8_t {
  meta, // format version, wrapped keys, counters
  tools,
  configs,
  variables,
  agent_variables,
  keys,
  sandboxes, // leases on those of providers
  runs,
  run_index, // runs by time, so that lists need not read the runs
  idempotency,
  audit,
  living_sandboxes,
};
inline constexpr std::size_t column_count = 12;
std::string_view to_string(column c);

struct database_options {
  std::size_t memtable_bytes = 32u << 20; // of all columns together
  std::size_t cache_bytes = 32u << 20;    // of blocks, indexes and filters
  std::size_t wal_bytes = 64u << 20; // then memtables are flushed: bounds the
                                     // time of a start after a crash
  int open_files = 256;              // of RocksDB
  bool compress = true;              // audit only; the rest is small or sealed
  bool read_only = false;            // for checks: nothing is changed
  /// With `read_only`: while another process writes. What is read is what was
  /// there when it was opened.
  bool as_secondary = false;
  /// Repair, on purpose: takes what the write-ahead log has up to its first
  /// damage and drops the rest. Otherwise a damaged log is refused.
  bool accept_damaged_log = false;
  /// After a failed write: how long to wait between attempts to go on.
  std::chrono::milliseconds heal_every{1'000};
};

/// Changes that happen together or not at all.
class batch {
public:
  enum class kind : std::uint8_t { put, erase, erase_prefix };
  struct step {
    kind what;
    column where;
    std::string key;
    std::string value;
  };

  void put(column where, std::string key, std::string value);
  void erase(column where, std::string key);
  void erase_prefix(column where, std::string prefix);

  bool empty() const { return steps_.empty(); }
  const std::vector<step>& steps() const { return steps_; }

private:
  std::vector<step> steps_;
};

/// What a write has outlived when it is answered.
enum class durability : std::uint8_t {
  synced,   // power loss
  buffered, // the end of this process, but not power loss
};

/// The one owner of RocksDB. Thread-safe. One process at a time: a second one
/// gets `conflict` with the pid of the first.
class database {
public:
  static result<std::shared_ptr<database>>
  open(const std::filesystem::path& directory,
       const database_options& options = {});
  /// Flushes, then leaves a list of what lies in the directory, so that the
  /// next start sees whether a file was changed.
  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  // -- reading ---------------------------------------------------------------

  result<std::optional<std::string>> get(column where,
                                         std::string_view key) const;

  /// Called in order of keys; false ends the scan, an error fails it. It must
  /// neither call the database nor wait for a lock: a scan holds one.
  using visitor
    = std::function<result<bool>(std::string_view key, std::string_view value)>;
  /// All keys that begin with `prefix`, from `from` on.
  result<void> scan(column where, std::string_view prefix, const visitor& visit,
                    std::string_view from = {}) const;
  /// The same from the last key down.
  result<void> scan_back(column where, std::string_view prefix,
                         const visitor& visit) const;

  // -- writing ---------------------------------------------------------------

  /// All of it or nothing. `no_space`: the disk is full, nothing was kept.
  /// `timeout`: writing failed half way; whether it was kept shows after heal.
  result<void> write(const batch& changes, durability how = durability::synced);

  /// Makes what was written `buffered` outlive a power cut too.
  result<void> sync();

  /// After a failed write the store only reads. This makes it write again if
  /// the cause is gone, by opening it anew; does nothing when all is well.
  /// A holder of a copy of the store's content checks `generation()`
  /// afterwards and reads again if it has grown.
  result<void> recover();
  std::uint64_t generation() const;
  /// Why the store only reads; nothing when it writes.
  std::optional<error> write_failure() const;

  /// Erases every key under `prefix`, and then its traces in older files:
  /// returns when no file of the store holds them.
  result<void> purge(column where, std::string_view prefix);

  /// Writes a column anew, so that what was overwritten or erased before is in
  /// no file of the store any more.
  result<void> compact(column where, std::string_view prefix = {});
  /// Opens it anew, so that RocksDB's list of its files, which names the keys
  /// that each begins and ends with, is written anew as well.
  result<void> reopen();

  // -- looking after ---------------------------------------------------------

  /// Reads every block and compares checksums.
  result<void> verify() const;
  /// A consistent copy in a new directory, sharing unchanged files.
  result<void> checkpoint(const std::filesystem::path& directory) const;

  struct stats {
    std::uint64_t table_bytes = 0;
    std::uint64_t memtable_bytes = 0;
    std::uint64_t cache_bytes = 0;
    std::uint64_t estimated_keys = 0;
  };
  /// Nothing while it is being opened anew: this never waits.
  std::optional<stats> measure() const;
  const std::filesystem::path& directory() const;

private:
  friend struct database_access; // storage/database/rocksdb_options.hpp
  struct impl;
  explicit database(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

} // namespace troupe
