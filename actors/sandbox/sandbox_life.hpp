#pragma once

#include "actors/state/sandbox_options.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace troupe {

/// The state of one sandbox and its clocks; what is done about them is its
/// actor's. Time is handed in.
class sandbox_life {
public:
  using clock = sandbox_options::clock;
  using ms = std::chrono::milliseconds;

  /// What has become due.
  enum class alarm : std::uint8_t {
    none,
    queue_expired, // nothing was free in time
    stuck,         // its state has lasted too long
    expired,       // its time is over
    retry,         // the deletion is to be tried again
    forget,        // its record has been kept for long enough
  };

  sandbox_life(sandbox_record first, const sandbox_rules& rules,
               clock::time_point now);

  const sandbox_record_ptr& record() const { return record_; }
  sandbox_state state() const { return record_->state; }

  /// False where the table of transitions does not have it.
  bool enter(sandbox_state next, clock::time_point now);
  /// The same, with the reason why it ends; the first reason stays.
  bool enter(sandbox_state next, sandbox_end why, clock::time_point now,
             std::shared_ptr<const error> failure = {});
  /// Ends so long from now.
  void renew(ms timeout, clock::time_point now);
  /// The deletion failed: another try is due after a while.
  void failed_to_delete(std::shared_ptr<const error> failure,
                        clock::time_point now);
  /// It is being tried again.
  void retries() { due_ = clock::time_point::max(); }

  alarm look(clock::time_point now) const;
  clock::time_point due() const { return due_; }

private:
  template <class Change>
  void change(Change how) {
    auto next = std::make_shared<sandbox_record>(*record_);
    how(*next);
    record_ = std::move(next);
  }

  const sandbox_rules rules_;
  sandbox_record_ptr record_;
  clock::time_point due_;
  ms pause_{0};
};

} // namespace troupe
