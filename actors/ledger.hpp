#pragma once

#include "actors/context.hpp"

#include <memory>

namespace troupe {

/// Writes the books: one batch at a time, as many lines as came meanwhile.
/// Detached: its journal blocks.
struct ledger_state {
  static constexpr auto name = "ledger";

  ledger_actor::pointer self = nullptr;
  context_ptr context;
  std::shared_ptr<journal> books;
  bool armed = false;                       // a quiet flush is on its way
  std::vector<ledger_queue::waiting> lines; // both empty between two writes,
  std::vector<journal_entry> entries;       // kept for their memory

  void flush(bool now);
  void write();
  void claim(const live_run_ptr& run);
  caf::result<run_note> find(const run_reference& which);
};

ledger_actor::behavior_type
ledger(ledger_actor::stateful_pointer<ledger_state> self, context_ptr context,
       std::shared_ptr<journal> books);

/// What makes two requests the same for an idempotency key: everything that
/// decides what is run, and nothing that differs between two tries.
std::string request_digest(const run_request& request);

} // namespace troupe
