#pragma once

#include "runtime/local/egress/accounts.hpp"
#include "runtime/local/egress/broker.hpp"
#include "runtime/local/isolation/probe/probe.hpp"
#include "runtime/local/launch/launcher.hpp"
#include "runtime/local/warden/instance.hpp"
#include "runtime/local/warden/warden_process.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace troupe {

/// What a warden is told, and how long it may take. As in `local_options`.
struct warden_options {
  std::string state_dir;
  std::uint32_t first_uid = 0;
  std::uint32_t uid_count = 0;
  std::chrono::milliseconds kill_grace{5'000};
  std::chrono::milliseconds answers{30'000};
  std::vector<std::string> pretend_absent;
  network::broker_options network;
};

/// The launcher of last resort: each run is a fresh, isolated exec by the
/// warden. It owns the warden process: when that dies, a new one cleans up, and
/// then the runs of the old one are reported as lost.
class cold_launcher final : public launcher,
                            public network::broker_host,
                            public std::enable_shared_from_this<cold_launcher> {
public:
  cold_launcher(boost::asio::any_io_executor strand, warden_options options,
                const warden::instance& instance);

  /// Starts the first warden. `ready` is called once with what the host
  /// offers, or with why there is no warden.
  void open(std::function<void(result<isolation::probe_report>)> ready);

  bool accepts(const launch& what) const override;
  void start(launch what, carrier_events events) override;
  void kill(const run_id& id) override;
  void stop() override;

  // -- for slots of warm interpreters ----------------------------------------
  /// A lease, an interpreter: `answer` is called once, with descriptors when
  /// there are any, or with an `ended` of ticket 0 when the warden died.
  using answer = std::function<void(warden::message, std::vector<unique_fd>)>;
  /// 0: there is no warden now. Fills in the ticket.
  std::uint64_t ask(warden::message m, std::vector<unique_fd> descriptors,
                    answer then);
  /// An interpreter, a broker.
  void kill_child(std::uint64_t number);
  /// Of what a sandbox has written: nothing is made from it any more.
  void drop_layer(std::uint64_t number);
  /// `gone` is called when nothing is left of that slot.
  void release(std::uint64_t ticket, std::function<void()> gone = {});
  isolation_report report_for(isolation_level level) const;
  /// Its internet calls are decided by a broker.
  bool brokers(const prepared_run& run) const;
  const network::broker_options& broker_options() const {
    return options_.network;
  }
  std::uint64_t start_broker(network::broker_descriptors with) override;
  void kill_broker(std::uint64_t number) override { kill_child(number); }
  result<std::shared_ptr<network::shared<network::account>>>
  account_of(const organization_id& organization) override;
  /// What people should know about its network, "": nothing.
  std::string network_note(const prepared_run& run) const;

  /// Asks the warden to clean up and leave; `done` when it has.
  void close(std::function<void()> done);

  /// "": ready. Else what is missing.
  std::string trouble() const { return trouble_; }
  const isolation::probe_report& probe() const { return probe_; }
  /// Its process, for tests and for operators; -1 when there is none.
  int warden_pid() const;

private:
  struct flight {
    run_id id;
    isolation_level level = isolation_level::standard;
    carrier_events events;
    std::vector<std::string> notes;
    organization_id organization;
    network_policy network;
    std::shared_ptr<network::broker> broker;             // once it has started
    std::unique_ptr<boost::asio::steady_timer> deadline; // of STARTED, of ENDED
    bool started = false;
    bool kill_sent = false;
  };
  using flights = std::map<std::uint64_t, flight>;
  using clock = std::chrono::steady_clock;
  struct question {
    answer then;
    clock::time_point by; // a warden that has not answered by then hangs
    bool keeps = false;   // of a sandbox: its end is told when nothing is left
  };
  struct farewell {
    std::function<void()> gone;
    clock::time_point by;
  };

  void spawn();
  void hear(warden::message m, std::vector<unique_fd> descriptors);
  void say_ready(const isolation::probe_report& report);
  void mark_started(std::uint64_t ticket, std::vector<unique_fd> listener);
  void finish(const warden::end_notice& notice);
  void on_warden_exit();
  void replace_warden();
  bool gave_up() const;
  void report_lost();
  void watch_answers();
  void look_for_answers();
  void notify_released(std::uint64_t ticket);
  void refuse(const launch& what, carrier_events& events, std::string why);
  /// What waits for the next warden: begun when it is there, refused when
  /// there will be none.
  void settle_pending();
  void send_kill(std::uint64_t ticket, flight& f);
  void expect(std::uint64_t ticket, flight& f, std::chrono::milliseconds within,
              bool then_replace);

  boost::asio::any_io_executor strand_;
  warden_options options_;
  std::string instance_directory_;
  std::shared_ptr<warden_process> warden_;
  isolation::probe_report probe_;
  std::function<void(result<isolation::probe_report>)> ready_;
  std::string trouble_ = "the warden is starting";
  flights flights_;
  std::vector<std::pair<launch, carrier_events>>
    pending_;    // max_running at most
  flights lost_; // of the last warden, told when its successor has swept
  std::unordered_map<run_id, std::uint64_t> tickets_; // by run id
  network::accounts accounts_;
  std::map<std::uint64_t, question> asked_;
  std::vector<answer> lost_sandboxes_;             // as `lost_`
  std::multimap<std::uint64_t, farewell> leaving_; // by ticket
  std::uint64_t next_ticket_ = 1;
  std::uint32_t deaths_in_a_row_ = 0;
  boost::asio::steady_timer restart_;
  boost::asio::steady_timer hello_deadline_;
  boost::asio::steady_timer answer_watch_;
  bool watches_answers_ = false;
  std::function<void()> closed_;
  bool closing_ = false;
};

} // namespace troupe
