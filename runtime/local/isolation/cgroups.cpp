#include "runtime/local/isolation/cgroups.hpp"

#include "runtime/local/isolation/cgroup_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace troupe::isolation {

namespace {

/// Every pid in a group's list, in the caller's pid namespace.
template <class Visit>
void each_process(const std::string& directory, Visit visit) {
  auto text = read_text(directory + "/cgroup.procs");
  if (!text)
    return;
  const char* at = text->data();
  const char* end = at + text->size();
  while (at < end) {
    pid_t pid = 0;
    auto [next, code] = std::from_chars(at, end, pid);
    if (code != std::errc{})
      break;
    visit(pid);
    at = next + 1;
  }
}

bool is_populated(const std::string& directory) {
  bool any = false;
  each_process(directory, [&](pid_t) { any = true; });
  return any;
}

/// v2 kills a whole tree at once. v1 kills who is listed, and whoever they
/// forked meanwhile in the next round.
void kill_directory(const std::string& directory) {
  if (write_text(directory + "/cgroup.kill", "1"))
    return;
  constexpr int rounds = 64;
  for (int i = 0; i < rounds && is_populated(directory); ++i)
    each_process(directory, [](pid_t pid) {
      if (pid > 0) // 0: a process of another pid namespace
        ::kill(pid, SIGKILL);
    });
}

std::uint64_t difference(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

} // namespace

std::vector<std::string> cgroup_site::directories() const {
  std::vector<std::string> list;
  for (const auto& d : {memory, pids, cpuacct, cpu, freezer, unified})
    if (!d.empty())
      list.push_back(d);
  return list;
}

bool remove_cgroup_tree(const std::string& directory) {
  std::error_code code;
  if (!std::filesystem::is_directory(directory, code))
    return true;
  std::vector<std::string> below;
  for (const auto& entry : std::filesystem::directory_iterator(directory, code))
    if (entry.is_directory(code) && !entry.is_symlink(code))
      below.push_back(entry.path());
  for (const auto& d : below)
    remove_cgroup_tree(d);
  kill_directory(directory);
  // Killed processes leave their group only when they have been torn down.
  constexpr int rounds = 200;
  constexpr useconds_t pause = 5'000;
  for (int i = 0; i < rounds; ++i) {
    if (::rmdir(directory.c_str()) == 0 || errno == ENOENT)
      return true;
    if (errno != EBUSY)
      return false;
    ::usleep(pause);
  }
  return false;
}

run_group::run_group(const cgroup_site& site, const std::string& name)
    : cpu_place_{site.cpu.empty() ? "" : site.cpu + "/" + name},
      unified_memory_{site.unified_memory}, unified_pids_{site.unified_pids},
      unified_cpu_{site.unified_cpu} {
  auto make = [&](const std::string& parent, std::string& mine) {
    if (parent.empty())
      return;
    auto path = parent + "/" + name;
    if (::mkdir(path.c_str(), 0755) == 0)
      mine = path;
    else
      good_ = false;
  };
  make(site.memory, memory_);
  make(site.pids, pids_);
  make(site.cpuacct, cpuacct_);
  make(site.unified, unified_);
  if (!site.freezer.empty())
    freezer_place_ = site.freezer + "/" + name;
  if (!unified_.empty())
    unified_fd_.reset(
      ::open(unified_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

run_group::~run_group() {
  for (const auto& d :
       {memory_, pids_, cpuacct_, cpu_, freezer_place_, unified_}) {
    if (d.empty() || ::rmdir(d.c_str()) == 0)
      continue;
    remove_cgroup_tree(d);
  }
}

outcome run_group::begin(const group_limits& limits) {
  auto memory = std::to_string(limits.memory_bytes);
  auto processes = std::to_string(limits.processes);
  if (!memory_.empty()) {
    // The pair must be lowered from one side and raised from the other; and
    // swap accounting may be off, which is as good as no swap.
    auto both = memory_ + "/memory.memsw.limit_in_bytes";
    auto one = memory_ + "/memory.limit_in_bytes";
    bool good = write_text(one, memory);
    write_text(both, memory);
    good = good || write_text(one, memory);
    if (!good)
      return failed(step::cgroup);
    // What the group's last user left in the page cache is not ours.
    write_text(memory_ + "/memory.max_usage_in_bytes", "0");
  } else if (unified_memory_) {
    if (!write_text(unified_ + "/memory.max", memory))
      return failed(step::cgroup);
    write_text(unified_ + "/memory.swap.max", "0");
    write_text(unified_ + "/memory.oom.group", limits.dies_as_one ? "1" : "0");
    write_text(unified_ + "/memory.peak", "0"); // newer kernels reset by it
  }
  const auto& pids = pids_.empty() ? unified_ : pids_;
  if (!pids_.empty() || unified_pids_)
    if (!write_text(pids + "/pids.max", processes))
      return failed(step::cgroup);
  if (!bound_cpus(limits.cpus))
    return failed(step::cgroup);
  base_ = absolute();
  return {};
}

/// Where this host has no such controller there is no quota: fairness between
/// processes is the scheduler's then.
bool run_group::bound_cpus(std::uint32_t cpus) {
  constexpr std::uint64_t period_us = 100'000;
  if (cpus == 0 && !has_quota_)
    return true;
  has_quota_ = cpus > 0;
  const auto quota = std::to_string(cpus * period_us);
  if (unified_cpu_)
    return write_text(unified_ + "/cpu.max",
                      (cpus > 0 ? quota : "max") + " "
                        + std::to_string(period_us));
  if (cpu_place_.empty())
    return true;
  if (cpu_.empty() && ::mkdir(cpu_place_.c_str(), 0755) != 0
      && errno != EEXIST) // mounted together with cpuacct
    return false;
  cpu_ = cpu_place_;
  // More than a group above has is EINVAL; then that one bounds it.
  return write_text(cpu_ + "/cpu.cfs_quota_us", cpus > 0 ? quota : "-1")
    || errno == EINVAL;
}

outcome run_group::join(pid_t process, bool born_in_unified) {
  auto pid = std::to_string(process);
  for (const auto& d :
       {memory_, pids_, cpuacct_, has_quota_ ? cpu_ : std::string{}})
    if (!d.empty() && !write_text(d + "/cgroup.procs", pid))
      return failed(step::cgroup);
  if (!born_in_unified && !unified_.empty()
      && !write_text(unified_ + "/cgroup.procs", pid))
    return failed(step::cgroup);
  return {};
}

group_files run_group::open_files() const {
  const auto open_file = [](const std::string& path, int mode) {
    return unique_fd{::open(path.c_str(), mode | O_CLOEXEC)};
  };
  group_files files;
  for (const auto& d : {memory_, pids_, cpuacct_, unified_})
    if (!d.empty())
      if (auto fd = open_file(d + "/cgroup.procs", O_WRONLY))
        files.procs.push_back(std::move(fd));
  const auto open_pair
    = [&](const std::string& peak, const std::string& events) {
        files.peak = open_file(peak, O_RDWR);
        if (!files.peak) // before Linux 6.12 nobody resets it
          files.peak = open_file(peak, O_RDONLY);
        files.events = open_file(events, O_RDONLY);
      };
  if (!memory_.empty())
    open_pair(memory_ + "/memory.max_usage_in_bytes",
              memory_ + "/memory.oom_control");
  else if (unified_memory_)
    open_pair(unified_ + "/memory.peak", unified_ + "/memory.events");
  const auto& pids = pids_.empty() ? unified_ : pids_;
  if (!pids_.empty() || unified_pids_)
    files.forks = open_file(pids + "/pids.events", O_RDONLY);
  files.cpu = !unified_.empty() ? open_file(unified_ + "/cpu.stat", O_RDONLY)
    : !cpuacct_.empty() ? open_file(cpuacct_ + "/cpuacct.usage", O_RDONLY)
                        : unique_fd{};
  return files;
}

std::optional<std::uint64_t> run_group::cpu_us() const {
  std::optional<std::uint64_t> now;
  if (!unified_.empty())
    now = read_keyed(unified_ + "/cpu.stat", "usage_usec");
  else if (!cpuacct_.empty())
    if (auto ns = read_number(cpuacct_ + "/cpuacct.usage"))
      now = *ns / 1000;
  if (now)
    now = difference(*now, base_.cpu_us.value_or(0));
  return now;
}

group_usage run_group::absolute() const {
  group_usage u;
  if (!unified_.empty())
    u.cpu_us = read_keyed(unified_ + "/cpu.stat", "usage_usec");
  else if (!cpuacct_.empty())
    u.cpu_us = read_number(cpuacct_ + "/cpuacct.usage").value_or(0) / 1000;
  if (!memory_.empty()) {
    u.peak_memory_bytes = read_number(memory_ + "/memory.max_usage_in_bytes");
    u.oom_kills = read_keyed(memory_ + "/memory.oom_control", "oom_kill");
  } else if (unified_memory_) {
    u.peak_memory_bytes = read_number(unified_ + "/memory.peak");
    u.oom_kills = read_keyed(unified_ + "/memory.events", "oom_kill");
  }
  const auto& pids = pids_.empty() ? unified_ : pids_;
  if (!pids_.empty() || unified_pids_)
    u.refused_forks = read_keyed(pids + "/pids.events", "max");
  return u;
}

std::uint64_t run_group::memory_bytes() const {
  const auto used = !memory_.empty()
    ? read_number(memory_ + "/memory.usage_in_bytes")
    : unified_memory_ ? read_number(unified_ + "/memory.current")
                      : std::nullopt;
  return used.value_or(0);
}

group_usage run_group::usage() const {
  auto u = absolute();
  if (u.cpu_us)
    u.cpu_us = difference(*u.cpu_us, base_.cpu_us.value_or(0));
  u.oom_kills = difference(u.oom_kills, base_.oom_kills);
  u.refused_forks = difference(u.refused_forks, base_.refused_forks);
  return u;
}

int run_group::freeze(bool still) {
  if (unified_.empty())
    return freeze_v1(still);
  if (!write_text(unified_ + "/cgroup.freeze", still ? "1" : "0"))
    return ENOTSUP; // before Linux 5.2
  const bool done = (read_keyed(unified_ + "/cgroup.events", "frozen") != 0);
  return done == still ? 0 : EAGAIN;
}

/// To join one more hierarchy at birth costs every run milliseconds: its
/// processes move there when they are to stand still. What is forked meanwhile
/// is moved by the next call.
int run_group::freeze_v1(bool still) {
  const auto& listed = pids_.empty() ? memory_ : pids_;
  if (freezer_place_.empty() || listed.empty())
    return ENOTSUP;
  if (::mkdir(freezer_place_.c_str(), 0755) != 0 && errno != EEXIST)
    return ENOTSUP;
  const auto state = freezer_place_ + "/freezer.state";
  if (!still)
    return write_text(state, "THAWED") ? 0 : EAGAIN;
  write_text(state, "THAWED"); // what is frozen takes no other in
  bool moved = false;
  const auto inside = read_text(freezer_place_ + "/cgroup.procs").value_or("");
  each_process(listed, [&](pid_t pid) {
    const auto line = std::to_string(pid) + "\n";
    if (inside.starts_with(line) || inside.find("\n" + line) != inside.npos)
      return;
    moved = true;
    write_text(freezer_place_ + "/cgroup.procs", std::to_string(pid));
  });
  if (!write_text(state, "FROZEN") || moved)
    return EAGAIN;
  return read_text(state).value_or("") == "FROZEN\n" ? 0 : EAGAIN;
}

void run_group::kill() const {
  was_killed_ = true;
  if (!unified_.empty()) {
    kill_directory(unified_);
    return;
  }
  for (const auto& d : {pids_, memory_, cpuacct_})
    if (!d.empty()) {
      kill_directory(d);
      return;
    }
}

std::size_t run_group::count() const {
  std::size_t all = 0;
  each_process(!unified_.empty() ? unified_
                 : pids_.empty() ? memory_
                                 : pids_,
               [&all](pid_t) { ++all; });
  return all;
}

bool run_group::empty() const {
  return std::ranges::none_of(
    std::initializer_list<std::string>{memory_, pids_, cpuacct_, cpu_,
                                       unified_},
    [](const auto& d) { return !d.empty() && is_populated(d); });
}

} // namespace troupe::isolation
