#pragma once

#include "runtime/local/warden/cold_run.hpp"
#include "runtime/local/warden/instance.hpp"
#include "runtime/local/warden/plan_builder.hpp"
#include "runtime/local/warden/protocol.hpp"
#include "runtime/local/warden/slot_leases.hpp"

#include <deque>
#include <map>
#include <string>

namespace troupe {
struct packet;
}

namespace troupe::warden {

// What an event of the warden's loop is about: a ticket and one of these.
inline constexpr std::uint64_t engine_key = 0;
inline constexpr std::uint64_t sync_kind = 1;
inline constexpr std::uint64_t exit_kind = 2;
inline constexpr std::uint64_t child_kind = 3;
inline constexpr std::uint64_t kind_bits = 2;

/// Which engine a warden belongs to; passed as command-line arguments.
struct warden_settings {
  int socket = -1; // to the engine
  std::string state_dir;
  std::string directory; // of the engine's instance
  std::uint32_t first_uid = 0;
  std::uint32_t uid_count = 0;
  std::vector<std::string> without; // layers to treat as absent, for tests
};

std::vector<std::string> to_arguments(const warden_settings& settings);
/// False: these are not the arguments of a warden.
bool parse_arguments(int argc, char** argv, warden_settings& out);

/// The process that forks, mounts, makes control groups and kills, since the
/// engine has threads and must not fork. One thread, one epoll loop; its only
/// peer is the engine, on a socketpair (protocol.hpp). It starts cold runs,
/// warm interpreters and network brokers, leases slots to the warm launcher,
/// and cleans up after dead instances. The engine's end is
/// launch/warden_supervision.cpp, which replaces a warden that dies.
class warden {
public:
  explicit warden(warden_settings settings);

  /// Serves until the engine says stop or is gone. The exit code.
  int run();

private:
  using slots = std::map<std::uint64_t, cold_run>;

  bool open();
  bool watch(int fd, std::uint64_t key);
  void hear_engine();
  void obey(packet& from_engine);
  void start(const start_order& order, run_descriptors fds);
  /// What a run or a slot gets, and how it is contained. None: it is refused.
  using build_fn = isolation::plan (plan_builder::*)(const start_order&) const;
  std::optional<isolation::plan> admit(const start_order& order, build_fn build,
                                       std::string_view what,
                                       run_resources& resources);
  /// A sandbox that lives until it is killed or its engine closes `control`.
  void keep(const start_order& order, unique_fd control);
  /// False: it is about something else.
  bool serve_sandbox(const message& m);
  /// What it has in memory may outlive it.
  void lend(const message& m);
  /// It stands still, or goes on. Never waits: the engine asks again.
  void freeze(const message& m);
  /// What a quiet one has written becomes a layer, and it ends.
  void cut(const message& m);
  /// What it is to be made from, as its user sees it. Empty: refused.
  bool gather_layers(const start_order& order, const run_resources& resources,
                     isolation::plan& plan, std::vector<unique_fd>& keep);
  void add_layer(std::uint64_t name, unique_fd mount, end_notice& notice);
  /// Clones pid 1, watches it and lets it go. `plan` must outlive the call.
  void begin(const start_order& order, run_resources resources,
             const isolation::plan& plan, const run_descriptors& fds);
  void refuse(const start_order& order, isolation::outcome why,
              std::string detail);
  /// Writable directories of a run with a uid of its own: their owner is it.
  bool map_mounts(isolation::plan& plan, const run_resources& resources,
                  std::vector<unique_fd>& keep);
  bool gather(const start_order& order, run_resources& out);
  void grant(const start_order& order);
  void kill(std::uint64_t ticket);
  void hatch_interpreter(const message& m, const std::vector<unique_fd>& given);
  void start_broker(std::uint64_t ticket, std::vector<unique_fd> given);
  /// From now on it is killed and reaped by its ticket.
  void keep_child(std::uint64_t ticket, unique_fd pidfd);
  void reap_child(std::uint64_t ticket);
  void give_back(run_resources resources);
  void hear_run(std::uint64_t ticket);
  void end(std::uint64_t ticket);
  /// Sends ENDED for every run of which nothing is left.
  void bury();
  void check_clocks();
  int wait_time() const;
  void say(message m, std::vector<unique_fd> descriptors = {});
  void flush();
  void clean_up();

  warden_settings settings_;
  unique_fd socket_;
  unique_fd epoll_;
  uid_block uid_lock_;
  uid_pool uids_;
  group_pool groups_;
  plan_builder plans_;
  std::string template_; // of sandboxes, once the first was asked for
  std::map<std::uint64_t, unique_fd> layers_; // detached mounts
  slots running_;
  std::map<std::uint64_t, cold_run> dying_; // pid 1 reaped, group not empty
  slot_leases leases_;
  std::map<std::uint64_t, unique_fd> children_; // interpreters, brokers: pidfds
  struct outgoing {
    std::string bytes;
    std::vector<unique_fd> descriptors;
  };
  std::deque<outgoing> unsent_; // as many as runs, at most
  bool stopping_ = false;
};

} // namespace troupe::warden
