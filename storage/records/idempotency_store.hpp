#pragma once

#include "runtime/model/ids.hpp"
#include "runtime/model/sandbox_config.hpp"
#include "storage/database/database.hpp"
#include "storage/sealing/sealer.hpp"

#include <array>
#include <chrono>
#include <mutex>

namespace troupe {

struct idempotency_options {
  std::chrono::hours keep{24};         // a key, from its claim and from its end
  std::size_t key_bytes = 255;         // the longest key
  std::size_t answer_bytes = 1u << 20; // larger ones are found by their run
  std::size_t keep_keys = 100'000;     // per organization
};

/// What a request with a key finds.
struct idempotency_claim {
  enum class kind : std::uint8_t {
    mine,    // the first request: run it, then call `finish` or `release`
    running, // `run` is under way
    ended,   // `run` has ended with `answer`
  };
  kind what = kind::mine;
  run_id run;
  std::string answer; // "" also when it was too large: read the run
};

/// Idempotency keys: of many equal requests one runs, the others get its
/// answer. Of a key only a keyed digest is stored, and answers are sealed.
/// Thread-safe.
class idempotency_store {
public:
  /// The row of a key as it was before it was sealed, in its present form.
  static result<void> seal_old_row(sealer& seals, batch& changes,
                                   std::string_view key,
                                   std::string_view value);

  static result<std::unique_ptr<idempotency_store>>
  open(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
       idempotency_options options = {});

  /// Takes the key for `run`, or returns its owner. `conflict`: the key was
  /// used for another request. Of the request only a keyed digest is kept.
  result<idempotency_claim> claim(const organization_id& organization,
                                  std::string_view key,
                                  std::string_view request, const run_id& run,
                                  timestamp now,
                                  durability how = durability::synced);
  /// Keeps the answer. `not_found` when the key is not `run`'s.
  result<void> finish(const organization_id& organization, std::string_view key,
                      const run_id& run, std::string_view answer,
                      timestamp now);
  /// Gives the key back: the run never began.
  result<void> release(const organization_id& organization,
                       std::string_view key, const run_id& run);
  /// Seals anew what an older version of the organization's key seals.
  result<void> reseal(const organization_id& organization);
  /// What is left of an organization that was erased.
  result<void> erase_organization(const organization_id& organization);
  /// Erases what has expired, of all organizations. Looks at `most` keys, the
  /// next time at the next ones. Returns how many it erased.
  result<std::size_t> sweep(timestamp now, std::size_t most = 10'000);

private:
  struct entry;

  idempotency_store(std::shared_ptr<database> db, std::shared_ptr<sealer> seals,
                    idempotency_options options);
  result<void> count_all();
  void count_less(std::string_view organization);
  result<std::optional<entry>> read(const std::string& place) const;
  result<entry> read_mine(const std::string& place, const run_id& run) const;
  result<std::string> seal(const std::string& place, const run_id& run,
                           std::string_view answer);

  std::shared_ptr<database> db_;
  std::shared_ptr<sealer> seals_;
  idempotency_options options_;
  std::mutex mutex_; // makes a claim one step
  std::map<std::string, std::size_t, std::less<>> count_; // by organization
  std::uint64_t generation_ = 0;
  std::string sweep_from_; // the key to look at next; "": the first
};

} // namespace troupe
