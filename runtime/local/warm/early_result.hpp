#pragma once

#include "runtime/local/warm/prefork.hpp"

namespace troupe::zygote {

/// Runs that are answered before they are gone.
///
/// Buys: a caller need not wait until the kernel has taken the process of its
/// run apart, which is pages and page tables: a third of the latency of a light
/// tool. The slot kills the run's process when that says that it leaves, and
/// sees that it was the only one there ever was
/// (runtime/local/warm/process/sole_process.hpp): from then on no instruction
/// of the tool is executed, and the answer is out. The slot serves no other run
/// before the process is gone, as ever.
class early_results {
public:
  explicit early_results(bool enabled) : enabled_{enabled} {}

  /// For a run that begins in this slot, and is counted in `now`.
  bool is_wanted(const slot& s, const launcher_load& now) const;
  /// It was answered; its slot is free in a moment.
  void begin(slot& s);
  /// And gone, as any other run.
  void end(slot& s);

  std::size_t count() const { return count_; }
  /// Of this key: a run rather waits for one of these than for a new slot.
  std::size_t count(const slot_pool& of, const std::string& key) const;

private:
  bool enabled_;
  std::size_t count_ = 0;
};

} // namespace troupe::zygote
