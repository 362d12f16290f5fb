#pragma once

#include "actors/stores.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace troupe {

/// What waits to be written, bounded. A run that begins and ends before the
/// disk gets to it is written once. Thread-safe.
class ledger_queue {
public:
  /// Beyond these there is no `room` for new runs. What already runs may take
  /// as much again for its end; then lines are refused.
  struct bounds {
    std::size_t entries = 65'536;
    std::size_t bytes = 256u << 20;
  };
  enum class outcome { full, quiet, wake, wake_now };

  struct waiting {
    journal_entry entry;
    std::function<void(bool)> kept; // called after the write; may be empty
    std::size_t bytes = 0;
  };

  explicit ledger_queue(const bounds& b) : bounds_{b} {}

  /// `wake`: the ledger sleeps and should look after a little while;
  /// `wake_now`: somebody waits for this one.
  outcome push(journal_entry entry, std::function<void(bool)> kept = {});
  std::vector<waiting> drain();
  bool room() const;
  std::size_t size() const;

private:
  mutable std::mutex mutex_;
  const bounds bounds_;
  std::vector<waiting> entries_;
  std::unordered_map<run_id, std::size_t> latest_; // run -> entry
  std::size_t bytes_ = 0;
  bool awake_ = false; // somebody has been told to look
  bool hurried_ = false;
};

} // namespace troupe
