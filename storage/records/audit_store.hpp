#pragma once

#include "runtime/engine/engine.hpp"
#include "storage/database/database.hpp"
#include "storage/sealing/sealer.hpp"

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace troupe {

struct audit_options {
  /// Per organization; the oldest go in steps, the chain goes on from there.
  std::uint64_t keep_entries = 1'000'000;
  std::size_t entry_bytes = 64u << 10; // one entry's JSON; more is refused
};

/// What happened, in order: entries are added, never changed. Each carries a
/// keyed digest over itself and the one before, so that an attacker that can
/// write the files, but has not the master key, cannot change an entry or put
/// one in, and cannot take one out of the middle. That the end was cut off, or
/// an older state put back as a whole, shows only against a hash noted
/// elsewhere.
class audit_store {
public:
  static result<std::unique_ptr<audit_store>>
  open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
       audit_options options = {});

  result<void> append(const organization_id& organization, json::object what,
                      timestamp at, durability how = durability::synced);
  /// Many at the price of one sync, all or none.
  result<void> append(const organization_id& organization,
                      const std::vector<json::object>& all, timestamp at,
                      durability how = durability::synced);
  /// The same with the texts of the objects, as our own line writer makes them,
  /// and together with `changes`, which they are about: all or none.
  result<void> append_texts(const organization_id& organization,
                            std::span<const std::string_view> all, timestamp at,
                            durability how = durability::synced,
                            batch changes = {});

  /// Entries with a sequence above `after`, in order. `next` is the sequence of
  /// the last one, when there are more. After `newest_audit_entries`: the last
  /// ones.
  result<page<audit_entry>> list(const organization_id& organization,
                                 std::uint64_t after, std::size_t limit) const;

  struct summary {
    std::uint64_t first = 0; // 0: no entry
    std::uint64_t last = 0;
    std::string hash; // of the last: note it elsewhere to prove the past
  };
  /// Walks the chain. The error names the first entry that does not fit.
  result<summary> verify(const organization_id& organization) const;
  /// The same for every organization.
  result<void> verify_all() const;
  /// All organizations that have a record, or had one.
  result<std::vector<organization_id>> organizations() const;

private:
  struct link {
    std::uint64_t sequence = 0;
    std::string hash;
  };
  struct chain {
    link anchor; // the entry before the first that is kept
    link head;   // the last one
  };

  audit_store(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
              audit_options options);
  result<chain> read_chain(const organization_id& organization) const;
  result<void> trim(batch& changes, const organization_id& organization,
                    std::uint64_t last_stored, chain& now);
  std::string hash(const organization_id& organization, const link& before,
                   std::string_view at, std::string_view text) const;

  std::shared_ptr<database> db_;
  std::shared_ptr<sealer> seals_;
  audit_options options_;
  mutable std::mutex mutex_;
  std::map<organization_id, chain> chains_;
  std::uint64_t generation_ = 0;
};

} // namespace troupe
