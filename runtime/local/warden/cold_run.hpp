#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/isolation/cgroups.hpp"
#include "runtime/local/isolation/plan.hpp"
#include "runtime/local/warden/init.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::warden {

using clock = std::chrono::steady_clock;

/// The descriptors of one START, by their use; of one KEEP only `control`.
struct run_descriptors {
  unique_fd launch;
  unique_fd in;
  unique_fd out;
  unique_fd err;
  unique_fd channel;
  unique_fd control;
};

/// Groups that wait for their next run: making and removing a memory group is
/// slow and leaves zombies, so they live as long as the warden.
class group_pool {
public:
  group_pool() = default;
  explicit group_pool(isolation::cgroup_site site) : site_{std::move(site)} {}

  std::unique_ptr<isolation::run_group> take();
  void put(std::unique_ptr<isolation::run_group> group);

private:
  isolation::cgroup_site site_;
  std::vector<std::unique_ptr<isolation::run_group>> idle_;
  std::uint64_t made_ = 0;
};

/// Host uids, the longest unused first.
class uid_pool {
public:
  uid_pool() = default;
  uid_pool(std::uint32_t first, std::uint32_t count);

  std::optional<std::uint32_t> take();
  void put(std::uint32_t uid) { idle_.push_back(uid); }

private:
  std::deque<std::uint32_t> idle_;
};

/// Everything that one run has besides its processes.
struct run_resources {
  std::unique_ptr<isolation::run_group> group;
  std::optional<std::uint32_t> uid; // absent: the caller's own
  std::string work_directory;       // isolation off only: to be removed
  bool leaves_memory = false;       // a layer's, which is charged to the group
};

/// One run as the warden follows it.
class cold_run {
public:
  cold_run(const start_order& order, run_resources resources);

  /// Clones pid 1 and lets it go. `plan` must outlive the call only.
  isolation::outcome begin(const isolation::plan& plan,
                           const run_descriptors& fds);

  int pidfd() const { return pidfd_.get(); }
  int sync() const { return sync_.get(); }

  /// Reads what pid 1 says. True when it said `started` just now.
  bool hear();
  bool sync_is_closed() const { return sync_closed_; }
  /// What a sandbox writes, for those that are made from it; empty: this kernel
  /// has no such thing.
  const unique_fd& written() const { return written_; }
  unique_fd take_written();
  /// Others will use memory that is charged to it, perhaps beyond its end. What
  /// it has in use now.
  std::uint64_t lend_memory();
  bool is_alone() const { return resources_.group->count() == 1; }
  bool made_a_copy() const { return order_.copies != 0 && written_; }
  /// The listener of its filter, for the network broker; empty: it has none.
  unique_fd take_listener() { return std::move(listener_); }
  /// All of it stands still, or goes on: see `run_group::freeze`.
  int freeze(bool still);
  /// SIGKILL to pid 1, and with it to its namespace.
  void kill();
  /// Looks at the clock of the group; kills when it has run out.
  void check_cpu();
  /// When to look next.
  clock::time_point next_check() const { return next_check_; }

  /// Pid 1 is gone: takes its end and everything that can be measured.
  void reap();
  /// Nothing of it is left. Kills again what is.
  bool is_gone();

  end_notice& notice() { return notice_; }
  run_resources take_resources() { return std::move(resources_); }

private:
  isolation::outcome let_go(pid_t child);
  void fetch_listener(int number);

  start_order order_;
  run_resources resources_;
  unique_fd pidfd_;
  unique_fd sync_;
  unique_fd listener_;
  unique_fd written_;
  bool sync_closed_ = false;
  bool contained_ = true; // pid 1 takes everybody along
  bool keeps_ = false;    // a sandbox: lives on its own clock
  bool frozen_ = false;   // or on its way there
  pid_t pid_ = -1;
  clock::time_point began_{};
  clock::time_point next_check_ = clock::time_point::max();
  std::optional<init_report> finished_;
  end_notice notice_;
};

} // namespace troupe::warden
