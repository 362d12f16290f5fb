#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/isolation/step.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::isolation {

/// Where on this host groups can be made, below the caller's own: a directory
/// per hierarchy, "" where there is none that we may write to.
struct cgroup_site {
  std::string memory;          // v1
  std::string pids;            // v1
  std::string cpuacct;         // v1, only needed without `unified`
  std::string cpu;             // v1, only for groups with a quota
  std::string freezer;         // v1, the same
  std::string unified;         // v2: atomic kill, "empty" and CPU time
  bool unified_memory = false; // v2 has the controller, too
  bool unified_pids = false;
  bool unified_cpu = false;

  bool bounds_memory() const { return !memory.empty() || unified_memory; }
  bool bounds_pids() const { return !pids.empty() || unified_pids; }
  bool counts_cpu() const { return !cpuacct.empty() || !unified.empty(); }
  /// Every directory that is not "".
  std::vector<std::string> directories() const;
};

/// Finds the site and makes a directory `name` in each hierarchy. Directories
/// that cannot be made or written to are left out.
cgroup_site make_cgroup_site(const std::string& name);

/// Kills what is in a directory of any hierarchy and in those below, removes
/// them all. False: something is still there.
bool remove_cgroup_tree(const std::string& directory);

struct group_limits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
  /// Out of memory, all of it dies; else the kernel chooses one of them.
  bool dies_as_one = true;
  std::uint32_t cpus = 0; // at a time; 0: as many as there are
};

struct group_usage {
  std::optional<std::uint64_t> cpu_us;
  std::optional<std::uint64_t> peak_memory_bytes;
  std::uint64_t oom_kills = 0;
  std::uint64_t refused_forks = 0;
};

/// The files of a group that a slot of a warm interpreter keeps: it has no
/// cgroupfs of its own. Each may be absent.
struct group_files {
  std::vector<unique_fd> procs; // to join by writing "0"
  unique_fd peak;               // memory.max_usage_in_bytes, memory.peak
  unique_fd events;             // memory.oom_control, memory.events
  unique_fd forks;              // pids.events
  unique_fd cpu;                // cpu.stat, or cpuacct.usage
};

/// The groups of one run, one per hierarchy. Used again for the next run once
/// they are empty: removing a memory group leaves a zombie behind.
class run_group {
public:
  run_group(const cgroup_site& site, const std::string& name);
  ~run_group();
  run_group(const run_group&) = delete;
  run_group& operator=(const run_group&) = delete;

  /// Whether every directory was made.
  bool good() const { return good_; }
  /// Writes the bounds and remembers the counters to subtract.
  outcome begin(const group_limits& limits);
  /// v1: moves the process there. v2: it was born there, or is moved.
  outcome join(pid_t process, bool born_in_unified);
  /// The v2 directory for CLONE_INTO_CGROUP, or -1.
  int cgroup_fd() const { return unified_fd_.get(); }

  group_files open_files() const;

  std::optional<std::uint64_t> cpu_us() const; // since `begin`
  group_usage usage() const;                   // since `begin`
  /// In use now; 0: this host does not say.
  std::uint64_t memory_bytes() const;
  /// Everything in it stands still, or goes on. An errno: EAGAIN while not all
  /// of it does, ENOTSUP where this host has no way.
  int freeze(bool still);
  /// SIGKILL to everything in it, atomically where the host can.
  void kill() const;
  /// Then it must not be used again: Linux 6.14 to 6.18 and their like kill
  /// whatever is cloned into a group that was ever killed as a whole.
  bool was_killed() const { return was_killed_; }
  bool empty() const;
  /// How many processes are in it.
  std::size_t count() const;

private:
  group_usage absolute() const;
  bool bound_cpus(std::uint32_t cpus);
  int freeze_v1(bool still);

  std::string memory_;
  std::string pids_;
  std::string cpuacct_;
  std::string cpu_; // made with the first quota
  std::string cpu_place_;
  std::string unified_;
  std::string freezer_place_; // v1: made when it is needed for the first time
  bool unified_memory_ = false;
  bool unified_pids_ = false;
  bool unified_cpu_ = false;
  bool has_quota_ = false;
  bool good_ = true;
  mutable bool was_killed_ = false;
  unique_fd unified_fd_;
  group_usage base_;
};

} // namespace troupe::isolation
