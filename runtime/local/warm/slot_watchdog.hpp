#pragma once

#include "runtime/local/warm/warm_run.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <vector>

namespace troupe::zygote {

/// What a watchdog looks at, and whom it tells.
class watched_slots {
public:
  using time_point = warm_run::clock::time_point;

  virtual std::vector<warm_run_ptr> running() const = 0;
  virtual std::vector<slot_ptr> slots() const = 0;
  /// Nothing runs and nothing is on its way: there is nothing to look at.
  virtual bool is_quiet() const = 0;

  virtual void on_cpu_exceeded(const warm_run& run) = 0;
  /// It was told to end, and has not in time.
  virtual void on_kill_ignored(const warm_run& run) = 0;
  /// Its run was answered early, and is still not gone.
  virtual void on_still_there(const slot_ptr& s) = 0;
  /// It takes its interpreter too long to make it; tells of others at once.
  virtual void on_not_made(const slot_ptr& s) = 0;

protected:
  ~watched_slots() = default;
};

/// Looks from outside of slots, because a tool may see to it that the inside is
/// late or wrong: at the CPU time of all processes in one together, at whether
/// an order to end was obeyed, and whether slots come at all.
class slot_watchdog : public std::enable_shared_from_this<slot_watchdog> {
public:
  slot_watchdog(boost::asio::any_io_executor strand,
                std::chrono::milliseconds kill_grace,
                std::chrono::milliseconds make_within)
      : kill_grace_{kill_grace}, make_within_{make_within}, timer_{strand} {}

  /// From here on, as long as there is something to look at.
  void begin(std::weak_ptr<watched_slots> what);

private:
  void look(watched_slots& at);
  static void look_at_cpu(watched_slots& at, warm_run& run,
                          warm_run::clock::time_point now);

  std::chrono::milliseconds kill_grace_;
  std::chrono::milliseconds make_within_;
  boost::asio::steady_timer timer_;
  bool is_set_ = false;
};

} // namespace troupe::zygote
