#pragma once

#include "runtime/base/snapshot.hpp"
#include "runtime/engine/catalog.hpp"
#include "runtime/model/bounds.hpp"
#include "storage/records/record_kinds.hpp"
#include "storage/sealing/sealer.hpp"

#include <functional>
#include <memory>
#include <mutex>

namespace troupe {

/// How much an organization may keep. Beyond it a change is `exhausted`.
struct catalog_limits {
  std::size_t tools = 10'000;
  std::size_t tool_bytes = 4u << 20; // one stored tool, source and schemas
  std::size_t config_bytes = 1u << 20;
  std::size_t variables_per_config = 1'000;
  std::size_t variables_per_agent = 1'000;
  std::size_t agents = 100'000; // with variables
  std::size_t keys = 1'000;
  std::size_t name_bytes = bounds::name_bytes; // tools, keys, agents' ids
  std::size_t description_bytes = bounds::variable_description_bytes;
};

struct catalog_options {
  catalog_limits limits;
  config_defaults defaults; // for `default_config`
};

/// On whose behalf a change is made.
struct author {
  organization_id organization;
  user_id user;
};

/// The kinds of records that the catalog is made of.
struct catalog_tables {
  explicit catalog_tables(const std::shared_ptr<database>& db)
      : tools{db}, configs{db}, variables{db}, agent_variables{db}, keys{db} {}

  tool_store tools;
  config_store configs;
  variable_store variables;
  agent_variable_store agent_variables;
  key_store keys;
};

/// All configuration (tools, sandbox configs, variables, API keys): in memory
/// as an immutable catalog, on disk as records of storage/records. The config
/// actor is its only writer, through storage/adapters; readers take the current
/// catalog without a lock on it. A change is one synced batch and then a new
/// catalog, or nothing at all (change_*.cpp, one file per kind of record).
/// Thread-safe: changes are serialized by one lock, which also keeps names
/// unique.
class catalog_store {
public:
  /// Reads everything. A record that does not read is an error, never left out.
  static result<std::unique_ptr<catalog_store>>
  open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
       catalog_options options = {});

  /// A change that changes nothing writes nothing and answers what is there.
  /// Things of other organizations are `not_found`, as unknown ones.
  /// `commit` writes the change, with what belongs to it; by default alone.
  using committer = std::function<result<void>(const batch& changes)>;
  result<change_reply> apply(const author& who, const catalog_change& what,
                             timestamp now, const committer& commit = {});

  catalog_ptr current() const { return current_.load(); }
  /// The same for those that read it again and again: the only place where the
  /// catalog is published.
  const snapshot<catalog>& newest() const { return current_; }

  // -- keys and tenants ------------------------------------------------------

  /// A new data key for the organization; every value is sealed anew, in small
  /// batches, then the old key is erased. Killed at any point, the next start
  /// finishes it.
  result<void> rotate_data_key(const organization_id& organization,
                               const progress_sink& tell = {});
  /// Goes on with what `rotate_data_key` left.
  result<void> resume_rotations(const progress_sink& tell = {});
  /// What else is sealed with data keys: called after the values, before the
  /// old key is erased. Set it before anything rotates.
  using resealer = std::function<result<void>(const organization_id&)>;
  void before_retiring(resealer others) {
    before_retiring_ = std::move(others);
  }
  /// How many values are sealed with another than the newest key.
  std::size_t stale_values(const organization_id& organization) const;

  /// Everything that belongs to the organization in the catalog, its keys, and
  /// what was sealed with these: runs and idempotent answers.
  result<void> erase_organization(const organization_id& organization);

  /// Opens every value; the error names the first that does not.
  result<void> verify() const;

private:
  catalog_store(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
                catalog_options options);
  result<void> reload();
  /// Makes the store write again after a failure, and reads it anew if what
  /// became of the last write was not known.
  result<void> ready();
  result<std::size_t> reseal_some(const organization_id& organization);
  result<void> finish_rotation(const organization_id& organization,
                               const progress_sink& tell);

  std::shared_ptr<database> db_;
  std::shared_ptr<sealer> seals_;
  catalog_tables tables_;
  catalog_options options_;
  resealer before_retiring_;

  std::mutex changing_;
  std::uint64_t generation_ = 0; // of the database, when it was read

  snapshot<catalog> current_;
};

} // namespace troupe
