#include "runtime/local/warm/process/run_process.hpp"

#include "runtime/local/launch/sandbox_abi.hpp"
#include "runtime/local/warm/process/prefault.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

bool tells_slot = false;

void bound_cpu(std::uint64_t seconds) {
  if (seconds == 0)
    return;
  rlimit now{};
  getrlimit(RLIMIT_CPU, &now);
  // SIGXCPU says what it was; SIGKILL is for who ignores it.
  rlimit limit{seconds, seconds + 1};
  if (now.rlim_max < limit.rlim_max)
    limit.rlim_max = now.rlim_max;
  if (limit.rlim_max < limit.rlim_cur)
    limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
}

/// What the kernel gave the interpreter at its start, and programs take for
/// their own.
void renew_start_random() {
  constexpr size_t size = 16;
  if (auto* bytes = reinterpret_cast<void*>(getauxval(AT_RANDOM));
      bytes && getrandom(bytes, size, 0) != size)
    _exit(could_not_start);
}

} // namespace

void begin_run_process() {
  // In a pid namespace the slot's session is the run's alone, as it is for a
  // cold start; elsewhere a signal to it would reach the slot.
  if (getppid() != 1)
    setsid();
  // As after exec: the run may look at itself in /proc. Its slot may not be
  // looked at, and has a memory of its own by now.
  prctl(PR_SET_DUMPABLE, 1);
  // Not the slot's: a lock that is taken by it would stay for the next run.
  close(STDIN_FILENO);
  if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
    _exit(could_not_start);
  renew_start_random();
}

void place_descriptors(const descriptors& with) {
  if (with.count != abi::fd_count - 1)
    _exit(could_not_start);
  // What was received is above 3, since the slot keeps 0 to 3 taken.
  for (int i = 0; i < with.count; ++i) {
    // What a tool starts has no say in the answer.
    const int flags = i + 1 == abi::channel_fd ? O_CLOEXEC : 0;
    if (dup3(with.fd[i], i + 1, flags) < 0)
      _exit(could_not_start);
  }
}

void apply_order(const packet& order) {
  bound_cpu(order.cpu_seconds);
  if ((order.flags & report_early) != 0)
    tells_slot = getppid() == 1; // elsewhere nobody waits to hear it
}

void leave(int status) {
  end_rehearsal();
  // Waiting leaves the processor to the slot, which ends us at once. If it has
  // not heard, we end by ourselves.
  constexpr timespec patience{0, 20'000'000};
  if (tells_slot && status == 0
      && sigqueue(1, leaving_signal, sigval{leaving_value}) == 0)
    nanosleep(&patience, nullptr);
  _exit(status);
}

} // namespace troupe::zygote
