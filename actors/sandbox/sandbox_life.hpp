#pragma once

#include "actors/sandbox/sandbox_activity.hpp"
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
    expiring,      // its time is over soon
    expired,       // its time is over
    idle,          // nothing has used it for so long
    paused_too_long,
    retry,  // the deletion is to be tried again
    forget, // its record has been kept for long enough
  };

  sandbox_life(sandbox_record first, const sandbox_rules& rules,
               clock::time_point now);

  /// It was there before the engine was: its clocks go on as the record has
  /// them, and end it no later than they may.
  void go_on_from(clock::time_point now);

  const sandbox_record_ptr& record() const { return record_; }
  sandbox_state state() const { return record_->state; }

  /// False where the table of transitions does not have it.
  bool enter(sandbox_state next, clock::time_point now);
  /// The same, with the reason why it ends; the first reason stays.
  bool enter(sandbox_state next, sandbox_end why, clock::time_point now,
             std::shared_ptr<const error> failure = {});
  /// Ends so long from now.
  void renew(ms timeout, clock::time_point now);
  /// What of a change concerns itself and its clocks, but the timeout.
  void apply(const sandbox_change& what);
  /// That its time is over soon has been told.
  void told_expiring() { told_expiring_ = true; }
  /// Shared with what uses the sandbox.
  const std::shared_ptr<sandbox_activity>& activity() const {
    return activity_;
  }
  /// The deletion failed: another try is due after a while.
  void failed_to_delete(std::shared_ptr<const error> failure,
                        clock::time_point now);
  /// It is being tried again.
  void retries() { due_ = clock::time_point::max(); }

  alarm look(clock::time_point now) const;
  clock::time_point due() const;
  clock::time_point timeout_end() const { return ends_; }
  ms left(clock::time_point now) const {
    return std::chrono::ceil<ms>(ends_ - now);
  }

private:
  template <class Change>
  void change(Change how) {
    auto next = std::make_shared<sandbox_record>(*record_);
    how(*next);
    record_ = std::move(next);
  }

  void set_due(sandbox_state next, sandbox_state before, clock::time_point now);
  void begin_timeout(clock::duration left, clock::time_point now);
  bool is_idle(clock::time_point now) const;
  clock::time_point notice_at() const { return ends_ - rules_.notice; }

  const sandbox_rules rules_;
  sandbox_record_ptr record_;
  const std::shared_ptr<sandbox_activity> activity_
    = std::make_shared<sandbox_activity>();
  clock::time_point due_;    // of all states but running
  clock::time_point ends_{}; // of its timeout, while it runs
  clock::duration left_{0};  // of its timeout, while it stands still
  bool told_expiring_ = false;
  ms pause_{0};
};

} // namespace troupe
