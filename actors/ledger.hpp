#pragma once

#include "actors/context.hpp"

#include <memory>
#include <span>
#include <vector>

namespace troupe {

/// Writes the books: one batch at a time, as many lines as came meanwhile.
/// Detached: its journal blocks.
struct ledger_state {
  static constexpr auto name = "ledger";

  ledger_actor::pointer self = nullptr;
  context_ptr context;
  std::shared_ptr<journal> books;
  bool flush_armed = false;                 // a quiet flush is on its way
  bool sync_armed = false;                  // and a sync of what was written
  std::vector<ledger_queue::waiting> lines; // slots for the queue's next ones
  std::vector<journal_entry> entries;       // empty between two writes

  void flush(bool now);
  void write();
  result<void> write(std::span<ledger_queue::waiting> some);
  void sync();
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
