#pragma once

#include "actors/state/active_run.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace troupe {

/// What becomes of the idempotency key of a run with its end.
enum class key_disposition : std::uint8_t { none, settle, release };

/// Of a run that has one and has ended: what certainly never ran may be tried
/// again with the same key.
key_disposition fate_of_key(const active_run& run);

/// Something for the books. A run is described when it is written, as it is
/// then: what happens to it meanwhile costs nothing more.
struct ledger_entry {
  active_run_ptr run;           // null: a change of the configuration
  std::string audit;            // a JSON object's text; "": none
  organization_id organization; // whose audit it is, when there is no run
  key_disposition key = key_disposition::none;
  std::shared_ptr<const run_request> request; // null: it is not kept
};

/// What waits to be written, bounded. A run that begins and ends before the
/// disk gets to it is written once. Thread-safe.
class ledger_queue {
public:
  /// Beyond these there is no `room` for new runs. What already runs may take
  /// as much again for its end; then lines are refused.
  struct bounds {
    std::size_t entries = 65'536;
    std::size_t bytes = 256u << 20;
    std::size_t hurry_at = 256; // entries: more would be a long write
  };
  enum class outcome { full, quiet, wake, wake_now };

  struct waiting {
    ledger_entry line;
    std::function<void(bool)> kept; // called after the write; may be empty
    std::size_t bytes = 0;
  };

  explicit ledger_queue(const bounds& b) : bounds_{b} {}

  /// `wake`: the ledger sleeps and should look after a little while;
  /// `wake_now`: a caller waits for this one, or it is one of many.
  outcome push(ledger_entry&& line, std::function<void(bool)> kept = {});

  // -- the ledger's: one at a time ------------------------------------------
  /// Everything that waits. It stays here until `settle`, so that a ledger that
  /// dies leaves it to the next one: while there is a rest, that is what comes.
  std::span<waiting> take();
  /// The first `left` of what was taken are still to be written. What is in the
  /// others is freed by the threads that push, which are those that made it:
  /// freeing it elsewhere would make them and the ledger wait for each other in
  /// the heap, at every line.
  void settle(std::size_t left = 0) { taken_count_ = left; }
  bool has_rest() const { return taken_count_ > 0; }
  /// Who waits for a line that was not taken yet: while there is a rest that
  /// cannot be written, they are told so instead of waiting.
  std::vector<std::function<void(bool)>> take_waiters();

  bool room() const { return room_.load(std::memory_order_relaxed); }
  std::size_t size() const;

private:
  void add(waiting& one);
  void look_for_room();

  mutable std::mutex mutex_;
  const bounds bounds_;
  std::vector<waiting> lines_; // slots: the first `count_` wait
  std::size_t count_ = 0;
  std::uint64_t round_ = 1; // of draining: tells which lines still wait
  std::size_t bytes_ = 0;
  std::vector<waiting> taken_; // slots too, without the lock
  std::size_t taken_count_ = 0;
  std::atomic<bool> room_{true}; // asked for every run, changed seldom
  bool awake_ = false;           // the ledger has been told to look
  bool hurried_ = false;
};

} // namespace troupe
