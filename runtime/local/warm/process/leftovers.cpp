#include "runtime/local/warm/process/leftovers.hpp"

#include "runtime/local/isolation/mounts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

using word_t = std::uint64_t;

constexpr const char* directory[leftovers::directories] = {"/tmp", "/dev/shm"};

/// Of the last access and change, as utimensat takes them.
bool read_times(const char* of, timespec* to) {
  struct stat about {};
  if (stat(of, &about) != 0)
    return false;
  to[0] = about.st_atim;
  to[1] = about.st_mtim;
  return true;
}

/// Inodes in use on the one tmpfs behind both directories, and what a tool may
/// do to the directories themselves.
word_t* add_files(word_t* to) {
  isolation::scratch_use use;
  *to++ = isolation::measure_scratch("/tmp", use) ? use.used_inodes : 0;
  for (const char* name : directory) {
    struct stat about {};
    stat(name, &about);
    *to++ = about.st_mode;
    *to++ = about.st_nlink;
    *to++ = static_cast<word_t>(listxattr(name, nullptr, 0));
  }
  return to;
}

word_t* add_system_v(word_t* to) {
  struct shm_info shared {};
  struct seminfo semaphores {};
  struct msginfo queues {};
  shmctl(0, SHM_INFO, reinterpret_cast<struct shmid_ds*>(&shared));
  semctl(0, 0, SEM_INFO, &semaphores);
  msgctl(0, MSG_INFO, reinterpret_cast<struct msqid_ds*>(&queues));
  *to++ = static_cast<word_t>(shared.used_ids);
  *to++ = static_cast<word_t>(semaphores.semusz);
  *to++ = static_cast<word_t>(queues.msgpool);
  return to;
}

word_t* add_limits(word_t* to) {
  for (int resource = 0; resource < RLIMIT_NLIMITS; ++resource) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource>(resource), &limit);
    *to++ = limit.rlim_cur;
    *to++ = limit.rlim_max;
  }
  return to;
}

/// What fork hands on, and a process of the same user may set.
word_t* add_inherited(word_t* to) {
  constexpr int one_process = 1; // IOPRIO_WHO_PROCESS
  *to++ = static_cast<word_t>(getpriority(PRIO_PROCESS, 0));
  *to++ = static_cast<word_t>(syscall(SYS_ioprio_get, one_process, 0));
  *to++ = static_cast<word_t>(sched_getscheduler(0));
  cpu_set_t set; // of 1024 processors
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  memcpy(to, &set, sizeof set);
  return to + sizeof set / sizeof *to;
}

} // namespace

int leftovers::read(std::uint64_t* words) const {
  auto* end = add_inherited(words);
  if (within_.limits)
    end = add_limits(end);
  if (within_.files)
    end = add_files(end);
  if (within_.system_v)
    end = add_system_v(end);
  return static_cast<int>(end - words);
}

void leftovers::remember(const reach& within) {
  within_ = within;
  count_ = read(words_);
  for (int i = 0; i < directories; ++i)
    read_times(directory[i], times_[i]);
}

void leftovers::restore_times() const {
  for (int i = 0; within_.files && i < directories; ++i)
    if (timespec now[2]; read_times(directory[i], now)
        && memcmp(now, times_[i], sizeof now) != 0)
      utimensat(AT_FDCWD, directory[i], times_[i], 0);
}

bool leftovers::none() const {
  std::uint64_t now[max_words] = {};
  return read(now) == count_
    && memcmp(now, words_, sizeof *now * static_cast<size_t>(count_)) == 0;
}

} // namespace troupe::zygote
