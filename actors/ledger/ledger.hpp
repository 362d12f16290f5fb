#pragma once

#include "actors/context/engine_context.hpp"
#include "actors/state/fair_queue.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace troupe {

/// What the ledger works with beside its journal.
struct ledger_services {
  ledger_services() = default;
  ledger_services(const context_ptr& engine);

  run_services_ptr services; // the queue, metrics, whether it fails
  ledger_rules rules;
  std::function<void(std::string_view)> report; // for operators
  std::function<void(std::string_view)> warn;
};

/// Writes the records of runs and the audit log, and decides on idempotency
/// keys. Entries reach it through `engine_context::to_ledger`, a bounded queue
/// that dispatchers and the actor engine fill; a message only says that there
/// is something in it. One write takes all entries that arrived during the last
/// one. Detached (a thread of its own), because its journal, the store, blocks.
struct ledger_state : ledger_services {
  static constexpr auto name = "ledger";

  ledger_actor::pointer self = nullptr;
  std::shared_ptr<troupe::journal> journal;
  bool flush_armed = false;           // a quiet flush is on its way
  bool sync_armed = false;            // and a sync of what was written
  bool claims_armed = false;          // and a look at the claims
  bool failing = false;               // operators have been told
  std::vector<journal_entry> entries; // empty between two writes

  /// A run that claims its key, and the dispatcher to notify.
  struct claimant {
    active_run_ptr run;
    dispatcher_actor home;
  };
  fair_queue<claimant> claims;

  void flush(bool now);
  void write();
  void claim(const active_run_ptr& run);
  void claim_some();
  void sweep();
  caf::result<run_status_message> find(const run_reference& which);
  void sync();

private:
  using lines = std::span<ledger_queue::waiting>;
  /// Lines in one write, claims with one sync: some 0.2 ms, then others get
  /// their turn. On few cores a longer one keeps a dispatcher, and all of its
  /// runs, from going on.
  static constexpr std::size_t batch_entries = 64;

  bool write_taken();
  std::size_t write_all(lines all);
  std::size_t write_each(lines all, lines some, std::size_t left);
  result<void> write(lines some);
  void drop_entries(lines some);
  void answer(lines written, lines left);
  void report_failure(const result<void>& written, std::size_t left);
  std::optional<key_claim_result> decide(const active_run_ptr& run);
  void release_claim(const active_run& run);
};

ledger_actor::behavior_type
ledger(ledger_actor::stateful_pointer<ledger_state> self,
       ledger_services services, std::shared_ptr<troupe::journal> journal);

/// The claim to its key that a run has, or wants; without the digest.
key_claim claim_of(const active_run& run);

/// A request as the store seals it, secrets included.
std::shared_ptr<const secret> stored_form_of(const run_request& request);

/// What makes two requests the same for an idempotency key: everything that
/// decides what is run, and nothing that differs between two tries.
std::string request_digest(const run_request& request);

} // namespace troupe
