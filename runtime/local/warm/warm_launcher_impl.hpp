#pragma once

#include "runtime/local/warm/early_result.hpp"
#include "runtime/local/warm/prefork.hpp"
#include "runtime/local/warm/slot_maker.hpp"
#include "runtime/local/warm/slot_watchdog.hpp"
#include "runtime/local/warm/warm_launcher.hpp"
#include "runtime/local/warm/warm_run.hpp"
#include "runtime/local/warm/zygote_lifecycle.hpp"

namespace troupe::zygote {

/// Brings runs and slots together, on the strand; the parts that know one thing
/// each (interpreters, slots being made, watchdog, prefork, early results)
/// report to it.
class warm_launcher::impl final : public watched_slots,
                                  public std::enable_shared_from_this<impl> {
public:
  impl(boost::asio::any_io_executor strand, zygote_options options, paths where,
       std::shared_ptr<slot_provisioner> makers,
       std::weak_ptr<launcher> otherwise);

  void begin();
  bool accepts(const launch& what);
  void start(launch what, carrier_events events);
  void kill(const run_id& id);
  void stop();
  slot_counts counts() const;
  bool has_failed() const { return zygotes_->has_failed(); }

private:
  // -- runs (warm_launcher.cpp)
  void begin(const warm_run_ptr& run, const slot_ptr& s);
  void on_exited(slot& s, const packet& in);
  void on_early_result(slot& s, const packet& in);
  void end(const warm_run_ptr& run, process_exit ending);
  void fail(const warm_run_ptr& run, std::string why);
  warm_run_ptr take_running(const slot& s);

  // -- slots (warm_launcher_slots.cpp)
  void make_for_waiting();
  bool make_slot(const launch& like);
  void make_spares(const warm_run& like);
  bool has_room() const;
  void on_ordered(const slot_ptr& s);
  void on_not_coming(const std::string& key, const std::string& why);
  void on_slot_failed(const slot_ptr& s, const error& why);
  void on_slot_whole(const slot_ptr& s);
  void on_packet(slot& s, const packet& in);
  void on_slot_end(slot& s);
  void free_slot(const slot_ptr& s, bool is_clean);
  void destroy(const slot_ptr& s, std::function<void()> gone = {});
  void evict_idle();

  // -- from the watchdog
  std::vector<warm_run_ptr> running() const override;
  std::vector<slot_ptr> slots() const override { return pool_.all(); }
  bool is_quiet() const override;
  void on_cpu_exceeded(const warm_run& run) override;
  void on_kill_ignored(const warm_run& run) override;
  void on_still_there(const slot_ptr& s) override;
  void on_not_made(const slot_ptr& s) override;
  void watch() { watchdog_->begin(weak_from_this()); }

  launcher_load load() const {
    return {running_.size(), waiting_.size(), maker_->count()};
  }

  boost::asio::any_io_executor strand_;
  const zygote_options options_;
  const paths where_;
  std::shared_ptr<slot_provisioner> provisioner_;
  std::weak_ptr<launcher> otherwise_;

  slot_pool pool_;
  std::shared_ptr<zygote_lifecycle> zygotes_;
  std::shared_ptr<slot_maker> maker_;
  std::shared_ptr<slot_watchdog> watchdog_;
  std::shared_ptr<prefork> prefork_;
  early_results early_;
  boost::asio::steady_timer evict_timer_;
  bool evicting_ = false;

  std::unordered_map<run_id, warm_run_ptr> runs_;
  std::unordered_map<std::uint64_t, warm_run_ptr> running_; // by ticket
  waiting_runs waiting_;
  bool stopped_ = false;
  slot_counts totals_;
};

} // namespace troupe::zygote
