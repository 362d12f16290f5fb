#pragma once

#include "runtime/engine/engine.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What an idempotency key stands for.
struct key_claim {
  organization_id organization;
  std::string key;
  std::string digest; // of the request: the key is good for this one only
  run_id run;
};

/// What a claim finds.
struct claim_outcome {
  enum class kind : std::uint8_t { mine, running, ended };
  kind what = kind::mine;
  run_id run;                               // the run that has it
  std::shared_ptr<const run_result> result; // ended with a result
  std::shared_ptr<const error> failure;     // ended without one
};

/// One line of the books.
struct journal_entry {
  std::optional<run_record> run;    // as it is now; replaces what was there
  bool fresh = false;               // nothing of the run was written before
  std::string_view audit;           // a JSON object's text; "": none
  organization_id organization;     // whose audit it is
  std::optional<key_claim> settle;  // ends a claim with `run`'s outcome
  std::optional<key_claim> release; // takes a claim back: it never ran
};

/// The record of runs, keys and events. Blocks; only the ledger uses it, one
/// call at a time.
class journal {
public:
  virtual ~journal() = default;
  /// In order. It outlives this process when it returns, a power cut only when
  /// `sync` has returned as well. What is in the entries may be taken out.
  /// After an error they may be written again; an audit line that is kept
  /// already has been taken out.
  virtual result<void> write(std::span<journal_entry> entries) = 0;
  /// What was written is on the disk when it returns.
  virtual result<void> sync() = 0;
  /// Takes the key for `begun`, or returns its owner; good against a power cut
  /// when `sync` has returned. `conflict`: the key was used for another
  /// request.
  virtual result<claim_outcome> claim(const key_claim& wanted,
                                      const run_record& begun)
    = 0;
  virtual result<std::optional<run_record>>
  find_run(const organization_id& organization, const run_id& id) = 0;
  /// The newest first, after the run `after` ("": from the start).
  virtual result<page<run_record>>
  list_runs(const organization_id& organization, const std::string& after,
            std::size_t limit)
    = 0;
  virtual result<page<audit_entry>>
  list_audit(const organization_id& organization, std::uint64_t after,
             std::size_t limit)
    = 0;
  /// At start: runs that did not end are marked `lost`; how many they were.
  virtual result<std::size_t> mark_lost() = 0;
  /// Now and then: forgets what has expired.
  virtual result<void> sweep() = 0;
  /// Why nothing can be written; nothing if that is not known to be so. Does
  /// not block, for any thread.
  virtual std::optional<error> write_failure() const { return {}; }
};

} // namespace troupe
