#pragma once

#include "runtime/engine/engine.hpp"
#include "storage/database/database.hpp"
#include "storage/sealing/sealer.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace troupe {

struct run_store_options {
  /// Per organization; beyond either, the oldest runs that have ended go.
  std::size_t keep_runs = 10'000;
  std::uint64_t keep_bytes = 1ull << 30;
  /// One record; a larger one loses output first, then its value, and says so.
  std::size_t record_bytes = 1u << 20;
};

/// What is to be written of one run.
struct run_write {
  const run_record* record;
  bool fresh; // nothing of this run was written before: no need to look
};

/// The records of runs, newest first. Each is sealed with its organization's
/// key; open are the ids, when it began, and whether it has ended. Thread-safe.
class run_store {
public:
  static result<std::unique_ptr<run_store>>
  open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
       run_store_options options = {});

  /// Writes one record as it is now. The start of a run can do with
  /// `buffered`: after power loss it is simply not known.
  result<void> put(const run_record& r, durability how = durability::synced);
  /// Many at the price of one sync, all or none, no run twice.
  result<void> put(std::span<const run_write> all, durability how);
  result<void> put(const std::vector<run_record>& all,
                   durability how = durability::synced);

  result<run_record> find(const organization_id& organization,
                          const run_id& id) const;
  result<page<run_record>> list(const organization_id& organization,
                                std::string_view after,
                                std::size_t limit) const;

  /// Every run that has not ended, of all organizations: after a start these
  /// are the ones whose carrier died, to be put again as `lost`. One that does
  /// not open is left out, with a warning: it must not keep an engine from
  /// starting.
  result<std::vector<run_record>> unfinished() const;

  std::size_t count(const organization_id& organization) const;
  result<void> erase_organization(const organization_id& organization);

  /// Seals anew whatever an older version of the organization's key seals; puts
  /// go on meanwhile.
  result<void> reseal(const organization_id& organization);

private:
  struct totals {
    std::size_t runs = 0;
    std::uint64_t bytes = 0;
  };

  run_store(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
            run_store_options options);
  result<void> count_all();
  result<void> add(batch& changes, const run_write& one,
                   std::map<organization_id, totals>& now);
  result<std::uint64_t> stored_bytes(const run_record& r) const;
  result<void> trim(batch& changes, const organization_id& organization,
                    totals& now);

  std::shared_ptr<database> db_;
  std::shared_ptr<sealer> seals_;
  run_store_options options_;
  mutable std::mutex mutex_;
  std::map<organization_id, totals> totals_;
  std::uint64_t generation_ = 0;
};

/// The index row of a stored run, for the migration that makes the index.
void put_run_index(batch& changes, const run_record& r, std::size_t bytes);

/// Where the record of a run belongs; it opens nowhere else.
sealed_place place_of_run(const organization_id& organization,
                          std::string_view id);

/// What is sealed, both ways.
std::string encode_run(const run_record& r);
result<run_record> decode_run(std::string_view bytes);

} // namespace troupe
