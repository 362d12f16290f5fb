#pragma once

#include "runtime/local/warm/slot_pool.hpp"
#include "runtime/local/warm/warm_launcher.hpp"
#include "runtime/local/warm/zygote_process.hpp"

#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <unordered_map>

namespace troupe::zygote {

/// One accepted run.
struct job {
  launch what;
  carrier_events events;
  std::string key;
  std::chrono::steady_clock::time_point begun;
  slot_ptr on; // absent while it waits for a slot
  bool through_armed = false;
  bool kill_asked = false;

  // -- what the engine watches from outside (slot_watchdog.cpp)
  using time_point = std::chrono::steady_clock::time_point;
  time_point kill_by = time_point::max(); // then the whole group dies
  time_point look_at{};                   // at the group's CPU clock
  std::optional<std::uint64_t> cpu_before;
  bool cpu_exceeded = false;
};
using job_ptr = std::shared_ptr<job>;

/// The state of the warm launcher, on the strand of the local backend; it lives
/// until the last callback has run. Its parts by file: slot_lifecycle.cpp
/// (slots), zygote_lifecycle.cpp (interpreters), prefork.cpp, early_result.cpp,
/// slot_watchdog.cpp (limits), profile_learner.cpp.
class slot_carrier::impl : public std::enable_shared_from_this<impl> {
public:
  impl(boost::asio::any_io_executor strand, zygote_options options, paths where,
       std::shared_ptr<grounds> makers, std::weak_ptr<launcher> otherwise);

  void begin();
  bool takes(const launch& what);
  void start(launch what, carrier_events events);
  void kill(const run_id& id);
  void stop();
  slot_counts counts() const;
  bool has_failed() const { return !current_ && totals_.restarts > 0; }

private:
  void open();
  bool is_for(const launch& what) const;
  // -- interpreters (zygote_lifecycle.cpp)
  // --------------------------------------
  enum class purpose : std::uint8_t { serve, learn };
  std::vector<std::string> command(purpose what) const;
  std::string seen_from_home(const std::string& path) const;
  void hatch();
  void respawn_later();
  void on_interpreter_ready(const std::shared_ptr<zygote_process>& z);
  void on_zygote_end(const std::shared_ptr<zygote_process>& z, std::string why);
  void renew_if_old();
  void retire(const std::shared_ptr<zygote_process>& z);
  void give_up(std::shared_ptr<zygote_process> z);
  void fail_waiting(const std::string& why);
  void close_if_empty(const std::shared_ptr<zygote_process>& z);

  // -- what it writes to (profile_learner.cpp)
  // ----------------------------------------
  bool has_profile() const;
  void learn_if_due();
  void on_learned();

  // -- slots (slot_lifecycle.cpp)
  // -----------------------------------------------
  void make_for_waiting();
  bool make_slot(const job& wanted);
  void make_spares(const job& like);
  bool has_room() const;
  void no_longer_making(const std::string& key);
  void on_ground(std::string key, result<ground> on);
  void on_slot_whole(const slot_ptr& s);
  void on_slot_failed(const slot_ptr& s, const error& why);
  void on_packet(slot& s, const packet& in);
  void on_slot_end(slot& s);
  void free_slot(const slot_ptr& s, bool is_clean);
  void destroy(const slot_ptr& s, std::function<void()> gone = {});
  void evict_idle();
  void fork_ahead(const job& like); // in a file of its own
  void arm_soon();
  void arm_now();

  // -- the answer before the end (early_result.cpp)
  // ------------------------------
  bool wants_early_word(const slot& s) const;
  void on_early_result(slot& s, const packet& in);
  void no_longer_over(slot& s);
  std::size_t over(const std::string& key) const;
  void watch_over(job::time_point now);

  // -- from outside (slot_watchdog.cpp)
  // -----------------------------------------
  void watch_soon();
  void watch();
  void watch_cpu(job& j, job::time_point now);
  void watch_makers(job::time_point now);

  // -- runs (warm_launcher.cpp) -----------------------------------------------
  void begin(const job_ptr& j, const slot_ptr& s);
  process_exit read_ending(const packet& in, const job& j, slot& s);
  void on_exited(slot& s, const packet& in);
  void end(const job_ptr& j, process_exit ending);
  void fail(const job_ptr& j, std::string why);
  job_ptr next_waiting(const std::string& key);

  boost::asio::any_io_executor strand_;
  zygote_options options_;
  paths where_;
  std::shared_ptr<grounds> provisioner_;
  std::weak_ptr<launcher> otherwise_;

  slot_pool pool_;
  std::unordered_map<std::uint64_t, std::shared_ptr<zygote_process>> home_;
  std::unordered_map<std::string, std::size_t> starting_; // by key
  std::size_t making_count_ = 0;

  std::unordered_map<run_id, job_ptr> jobs_;
  std::unordered_map<std::uint64_t, job_ptr> running_; // by ticket
  std::unordered_map<std::string, std::deque<job_ptr>> waiting_;
  std::size_t waiting_count_ = 0;
  std::size_t over_count_ = 0; // slots whose run is answered already

  std::shared_ptr<zygote_process> current_;
  std::shared_ptr<zygote_process> hatching_;
  std::vector<std::shared_ptr<zygote_process>> retiring_;
  std::optional<unique_fd> learning_; // our end; empty: it was tried
  std::chrono::milliseconds delay_{0};
  boost::asio::steady_timer hatch_timer_;
  boost::asio::steady_timer arm_timer_;
  boost::asio::steady_timer evict_timer_;
  boost::asio::steady_timer watch_timer_;
  std::chrono::steady_clock::time_point last_rest_{}; // of a slot
  bool evicting_ = false;
  bool watching_ = false;
  bool stopped_ = false;
  bool opened_ = false;
  slot_counts totals_;
};

/// Where it is, or will be, written down which blocks lie together.
std::string profile_path(const slot_carrier::paths& where,
                         const std::vector<std::string>& preload);

} // namespace troupe::zygote
