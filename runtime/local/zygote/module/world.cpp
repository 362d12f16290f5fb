// Two processes of one memory also share what libc keeps per thread: errno, and
// little else that matters here. Until the run is forked, the slot goes back to
// where it waits, and does nothing else. From then on the first process calls
// nothing that can fail.
#include "runtime/local/zygote/module/world.hpp"

#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/isolation/mounts.hpp"
#include "runtime/local/isolation/namespaces.hpp"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
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

} // namespace

int world::be_first(void* arg) {
  auto& s = *static_cast<shared*>(arg);
  s.done = isolation::contain_world(*s.plan);
  if (!s.done.ok())
    return 1;
  const auto child = s.in->fork();
  if (child == 0)
    __builtin_longjmp(s.back, 1);
  if (child < 0) {
    s.done = isolation::failed(isolation::step::spawn);
    return 1;
  }
  // The run's own pipes among them, and none is needed here.
  syscall(SYS_close_range, 0U, ~0U, 0U);
  s.run = child;
  __atomic_store_n(&s.state, forked, __ATOMIC_RELEASE);
  syscall(SYS_futex, &s.state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  // Orphans are ours as well; whoever is left dies with us.
  int status = 0;
  while (syscall(SYS_wait4, -1, &status, __WALL, nullptr) != child) {
  }
  isolation::scratch_use use;
  s.scratch_full = isolation::measure_scratch("/tmp", use) && is_full(use);
  s.status = status;
  s.has_ended = true;
  _exit(0);
}

void world::settle() {
  while (__atomic_load_n(&shared_.state, __ATOMIC_ACQUIRE) == at_work)
    syscall(SYS_futex, &shared_.state, FUTEX_WAIT, at_work, nullptr, nullptr,
            0);
}

pid_t world::make(guest& in) {
  shared_.plan = &plan_;
  shared_.in = &in;
  shared_.done = {};
  shared_.run = 0;
  shared_.has_ended = shared_.scratch_full = false;
  shared_.state = at_work;
  const auto first
    = clone(be_first, stack + sizeof stack,
            CLONE_VM | CLONE_CHILD_CLEARTID | isolation::world_flags | SIGCHLD,
            &shared_, nullptr, nullptr, &shared_.state);
  if (first < 0) {
    shared_.done = isolation::failed(isolation::step::namespaces);
    shared_.state = gone;
  }
  return first;
}

int world::end_of_run(int status) const {
  return shared_.has_ended ? shared_.status : status;
}

} // namespace troupe::zygote
