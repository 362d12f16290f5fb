#pragma once

#include "runtime/local/warm/interpreter_command.hpp"
#include "runtime/local/warm/profile_learner.hpp"
#include "runtime/local/warm/slot_counts.hpp"
#include "runtime/local/warm/slot_pool.hpp"
#include "runtime/local/warm/zygote_process.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::zygote {

using zygote_ptr = std::shared_ptr<zygote_process>;

/// The interpreters that slots are cloned from, one at a time: starts one,
/// later and later after each failure, replaces it when it is old, has hung or
/// has died, and ends an old one with its last slot. Knows nothing of runs. On
/// one strand.
class zygote_lifecycle : public std::enable_shared_from_this<zygote_lifecycle> {
public:
  struct events {
    std::function<void()> ready; // slots can be made, by a new one
    std::function<void(const std::string& why)> lost; // there is none for now
    std::function<void(slot_ptr)> slot_born;
    std::function<void(slot_ptr, error)> slot_failed;
    /// No further runs in this slot: its interpreter is old.
    std::function<void(slot_ptr)> slot_retired;
  };

  zygote_lifecycle(boost::asio::any_io_executor strand,
                   const zygote_options& options, interpreter_paths paths,
                   std::shared_ptr<slot_provisioner> provisioner);

  void listen(events on);
  /// Starts the first one; at once only the first time.
  void open();
  void stop();

  bool is_ready() const { return current_ != nullptr; }
  /// There is none, and not because the first has yet to start.
  bool has_failed() const { return !current_ && restarts_ > 0; }
  void add_to(slot_counts& counts) const;

  /// Has the slot cloned; it reports itself, unless `slot_failed` is told.
  result<void> make(const slot_ptr& s);
  /// A run began in it.
  void count_run(const slot& s);
  bool is_retired(const slot& s) const;
  /// The slot is gone.
  void release(const slot& s);
  /// This one did not come: its interpreter makes no slots any more, though it
  /// is alive.
  void give_up(const slot& late);

private:
  void start();
  void start_later();
  void on_ready(const zygote_ptr& z);
  void on_end(const zygote_ptr& z, std::string why);
  void check_age();
  void retire(const zygote_ptr& z);
  void close_if_empty(const zygote_ptr& z);
  std::vector<slot_ptr> slots_of(const zygote_ptr& z) const;

  struct child {
    slot_ptr s;
    zygote_ptr of;
  };

  boost::asio::any_io_executor strand_;
  const zygote_options options_;
  const interpreter_paths paths_;
  std::shared_ptr<slot_provisioner> provisioner_;
  events on_;
  profile_learner learner_;
  zygote_ptr current_;
  zygote_ptr starting_;
  std::vector<zygote_ptr> retiring_;
  std::unordered_map<std::uint64_t, child> slots_; // by ticket
  std::chrono::milliseconds delay_{0};
  boost::asio::steady_timer timer_;
  std::uint64_t runs_ = 0;
  std::uint64_t restarts_ = 0;
  std::string trouble_ = "the interpreter is starting";
  bool opened_ = false;
  bool stopped_ = false;
};

} // namespace troupe::zygote
