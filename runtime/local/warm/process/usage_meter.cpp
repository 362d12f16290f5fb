#include "runtime/local/warm/process/usage_meter.hpp"

#include "runtime/local/isolation/mounts.hpp"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

std::uint64_t microseconds(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000
    + static_cast<std::uint64_t>(t.tv_usec);
}

/// The number after `name` in a small control file; the first number of it
/// when `name` is empty.
std::uint64_t read_number(int fd, const char* name) {
  if (fd < 0)
    return 0;
  char text[512];
  const auto got = pread(fd, text, sizeof text - 1, 0);
  text[got > 0 ? got : 0] = 0;
  const auto* found = strstr(text, name);
  return found ? strtoull(found + strlen(name), nullptr, 10) : 0;
}

/// In memory.oom_control of version 1 and in memory.events of version 2.
constexpr const char* kills = "oom_kill ";
/// In pids.events of both.
constexpr const char* refusals = "max ";

} // namespace

void usage_meter::begin_slot() {
  kills_before_ = read_number(events_, kills);
  refusals_before_ = read_number(forks_, refusals);
}

void usage_meter::begin_run() {
  seen_ = packet{};
  // Resets the mark: version 1 for all, version 2 for this descriptor.
  if (peak_ >= 0 && pwrite(peak_, "0", 1, 0) < 0)
    peak_ = -1;
}

void usage_meter::add(const rusage& used) {
  seen_.cpu_microseconds
    += microseconds(used.ru_utime) + microseconds(used.ru_stime);
  // What there is where no group counts: the largest process of the run.
  seen_.peak_bytes = std::max(
    seen_.peak_bytes, static_cast<std::uint64_t>(used.ru_maxrss) * 1024);
}

void usage_meter::ended(int status) {
  seen_.status = status;
}

void usage_meter::scratch_was_full() {
  seen_.flags |= disk_full;
}

void usage_meter::look_at_scratch() {
  constexpr std::uint64_t page = 4096;
  isolation::scratch_use use;
  if (isolation::measure_scratch("/tmp", use)
      && (use.free_bytes < page || use.free_inodes == 0))
    scratch_was_full();
}

packet usage_meter::result() {
  if (peak_ >= 0)
    seen_.peak_bytes = read_number(peak_, "");
  seen_.flags |= clean;
  // Whoever was killed: the run may only have noticed by a child that failed.
  if (const auto now = read_number(events_, kills); now != kills_before_) {
    kills_before_ = now;
    seen_.flags |= memory_exceeded;
  }
  if (const auto now = read_number(forks_, refusals); now != refusals_before_) {
    refusals_before_ = now;
    seen_.flags |= forks_refused;
  }
  return seen_;
}

packet usage_meter::result_so_far(pid_t process) {
  constexpr clockid_t whole_process = 2; // CPUCLOCK_SCHED
  timespec used{};
  clock_gettime((~process << 3) | whole_process, &used);
  auto seen = result();
  seen.cpu_microseconds = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000
    + static_cast<std::uint64_t>(used.tv_nsec) / 1000;
  seen.flags &= ~static_cast<std::uint32_t>(clean);
  return seen;
}

} // namespace troupe::zygote
