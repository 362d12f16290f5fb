#pragma once

#include "runtime/local/launch/launcher.hpp"
#include "runtime/local/warm/slot_pool.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::zygote {

/// A run that a warm launcher has accepted.
struct warm_run {
  using clock = std::chrono::steady_clock;

  launch what;
  carrier_events events;
  clock::time_point begun = clock::now();
  slot_ptr on; // absent while it waits for a slot
  bool was_preforked = false;
  bool kill_asked = false;

  // -- what is watched from outside of the slot (slot_watchdog.hpp)
  clock::time_point kill_by = clock::time_point::max(); // the group dies then
  clock::time_point look_at{}; // at the group's CPU clock
  std::optional<std::uint64_t> cpu_before;
  bool cpu_exceeded = false;

  const std::string& key() const { return what.slot_key; }
  std::uint64_t cpu_seconds() const;
  std::chrono::microseconds age() const;
};
using warm_run_ptr = std::shared_ptr<warm_run>;

/// What its slot says about the end of a run.
process_exit read_exit(const warm_run& run, const packet& in, slot& s);
/// The same of a run whose slot died with it, and could say nothing.
process_exit exit_with_slot(const warm_run& run, slot& s);
/// And of one that never had a process.
process_exit unstarted_exit(const warm_run& run, std::string why);

/// Runs that wait for a slot, by key and in order.
class waiting_runs {
public:
  void add(const warm_run_ptr& run);
  /// The first with this key, which no longer waits; null if there is none.
  warm_run_ptr take(const std::string& key);
  /// Any, to be rid of all; null when none waits.
  warm_run_ptr take_any();
  void remove(const warm_run_ptr& run);
  std::size_t size() const { return count_; }

  std::size_t count(const std::string& key) const;
  /// The first with this key; null if there is none.
  warm_run_ptr first(const std::string& key) const;
  std::vector<std::string> keys() const;

private:
  std::unordered_map<std::string, std::deque<warm_run_ptr>>
    lists_; // none empty
  std::size_t count_ = 0;
};

} // namespace troupe::zygote
