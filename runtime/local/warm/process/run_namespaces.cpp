// Two processes of one memory also share what libc keeps per thread: errno, and
// little else that matters here. Until the run is forked, the slot goes back to
// where it waits, and does nothing else. From then on the first process calls
// nothing that can fail.
#include "runtime/local/warm/process/run_namespaces.hpp"

#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/isolation/mounts.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/warm/process/raw_syscall.hpp"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

constexpr uint32_t gone = 0; // which the kernel writes
constexpr uint32_t at_work = 1;
constexpr uint32_t forked = 2;

/// The steps of isolation and one fork; the run's process leaves it at once.
constexpr size_t stack_size = 256 << 10;
alignas(64) char stack[stack_size];

bool is_full(const isolation::scratch_use& use) {
  constexpr uint64_t page = 4096;
  return use.free_bytes < page || use.free_inodes == 0;
}

/// So that it is gone before anybody notices, and its memory counts against
/// nobody else.
bool is_little(const isolation::scratch_use& use) {
  return use.used_bytes <= 256 << 10 && use.used_inodes <= 64;
}

void add(timeval& to, const timeval& more) {
  constexpr suseconds_t second = 1'000'000;
  to.tv_sec += more.tv_sec;
  to.tv_usec += more.tv_usec;
  if (to.tv_usec >= second) {
    to.tv_usec -= second;
    ++to.tv_sec;
  }
}

void add(rusage& to, const rusage& more) {
  add(to.ru_utime, more.ru_utime);
  add(to.ru_stime, more.ru_stime);
  if (more.ru_maxrss > to.ru_maxrss)
    to.ru_maxrss = more.ru_maxrss;
}

} // namespace

int run_namespaces::init_main(void* arg) {
  auto& s = *static_cast<shared*>(arg);
  s.done = isolation::contain_run(*s.plan);
  if (!s.done.ok())
    return 1;
  const auto child = s.in->fork();
  if (child == 0)
    __builtin_longjmp(s.back, 1);
  if (child < 0) {
    s.done = isolation::failed(isolation::step::spawn);
    return 1;
  }
  // The run's own pipes among them, and only one is needed here.
  bare_call(SYS_close_range, 0, s.only_init_left - 1);
  bare_call(SYS_close_range, s.only_init_left + 1, ~0U);
  s.run = child;
  __atomic_store_n(&s.state, forked, __ATOMIC_RELEASE);
  bare_call(SYS_futex, bits(&s.state), FUTEX_WAKE, INT_MAX);
  if (wait_for_run(s)) {
    const uint64_t one = 1;
    bare_call(SYS_write, s.only_init_left, bits(&one), sizeof one);
  }
  _exit(0);
}

/// True if nobody is left. Orphans are ours as well; whoever is left dies with
/// us.
bool run_namespaces::wait_for_run(shared& s) {
  int status = 0;
  rusage used;
  long reaped = 0;
  do {
    reaped = bare_call(SYS_wait4, -1, bits(&status), __WALL, bits(&used));
    if (reaped > 0)
      add(s.used, used);
  } while (reaped != s.run);
  isolation::scratch_use use;
  const bool measured = isolation::measure_scratch("/tmp", use);
  s.scratch_full = measured && is_full(use);
  s.status = status;
  s.has_ended = true;
  do {
    reaped
      = bare_call(SYS_wait4, -1, bits(&status), __WALL | WNOHANG, bits(&used));
    if (reaped > 0)
      add(s.used, used);
  } while (reaped > 0);
  if (reaped != -ECHILD || !measured || !is_little(use))
    return false;
  // Our memory is the slot's: only the time is ours.
  if (bare_call(SYS_getrusage, RUSAGE_SELF, bits(&used)) == 0) {
    used.ru_maxrss = 0;
    add(s.used, used);
  }
  return true;
}

run_namespaces::run_namespaces(const isolation::plan& plan) : plan_{plan} {
  shared_.only_init_left = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void run_namespaces::await_not(uint32_t state) {
  while (__atomic_load_n(&shared_.state, __ATOMIC_ACQUIRE) == state)
    syscall(SYS_futex, &shared_.state, FUTEX_WAIT, state, nullptr, nullptr, 0);
}

void run_namespaces::wait_until_forked() {
  await_not(at_work);
}

bool run_namespaces::has_only_init_left() {
  uint64_t count = 0;
  return read(shared_.only_init_left, &count, sizeof count) == sizeof count;
}

pid_t run_namespaces::make(interpreter& in) {
  await_not(forked); // the last one's first process still has its stack
  has_only_init_left();
  shared_.plan = &plan_;
  shared_.in = &in;
  shared_.done = {};
  shared_.run = 0;
  shared_.used = {};
  shared_.has_ended = shared_.scratch_full = false;
  shared_.state = at_work;
  const auto first = clone(init_main, stack + sizeof stack,
                           CLONE_VM | CLONE_CHILD_CLEARTID
                             | isolation::run_namespace_flags | SIGCHLD,
                           &shared_, nullptr, nullptr, &shared_.state);
  if (first < 0) {
    shared_.done = isolation::failed(isolation::step::namespaces);
    shared_.state = gone;
  }
  return first;
}

int run_namespaces::end_of_run(int status) const {
  return shared_.has_ended ? shared_.status : status;
}

} // namespace troupe::zygote
