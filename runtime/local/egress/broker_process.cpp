// What a broker may do, and what it holds: the right to look into its tools,
// sockets of the host, and four descriptors.
#include "runtime/local/egress/broker_process.hpp"

#include "runtime/local/egress/broker_service.hpp"
#include "runtime/local/isolation/credentials.hpp"
#include "runtime/local/isolation/descriptors.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/seccomp.hpp"
#include "runtime/local/isolation/signals.hpp"
#include "runtime/local/isolation/syscall_table.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace troupe::network {

namespace {

// Two for each call that waits, two for each lookup, and its own.
constexpr rlim_t most_descriptors = 1'024;

/// The first number that is free: 0 to 2 are /dev/null.
constexpr int first_given = 3;

/// Above all numbers that `first_given` and its like get.
constexpr int out_of_the_way = 64;

/// Everything but these four, in this order, is closed.
bool keep_only(broker_descriptors& with) {
  std::array<unique_fd*, 4> mine{&with.control, &with.page, &with.account,
                                 &with.listener};
  for (auto* fd : mine) {
    const int high = ::fcntl(fd->get(), F_DUPFD_CLOEXEC, out_of_the_way);
    if (high < 0)
      return false;
    fd->reset(high);
  }
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < first_given; ++i)
    if (::dup2(null, i) != i)
      return false;
  int next = first_given;
  for (auto* fd : mine) {
    if (::dup3(fd->get(), next, O_CLOEXEC) != next)
      return false;
    fd->release(); // closed with the others
    fd->reset(next++);
  }
  return isolation::close_from(static_cast<unsigned>(next)).ok();
}

/// Looking into a process of another user takes a capability, and writing to
/// its memory by a file of its own, which holds on to that process and no
/// other, one more; below an ordinary user, who owns the tool's user namespace,
/// none.
bool keep_few_rights() {
  constexpr unsigned rights = 1u << CAP_SYS_PTRACE | 1u << CAP_DAC_OVERRIDE;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> has{};
  if (::syscall(SYS_capget, &header, has.data()) != 0)
    return false;
  std::array<__user_cap_data_struct, 2> keep{};
  keep[0].permitted = keep[0].effective = has[0].permitted & rights;
  if ((has[0].effective & (1u << CAP_SETPCAP)) != 0
      && !isolation::drop_bounding_set().ok())
    return false;
  return ::syscall(SYS_capset, &header, keep.data()) == 0
    && isolation::no_new_privileges().ok();
}

/// Whatever a tool makes of it: no other program, no other process, no signal
/// to one, nothing that is a machine's owner's.
bool refuse_other_calls() {
  isolation::seccomp_builder f{SECCOMP_RET_ALLOW};
  isolation::refuse_privileged_calls(f);
  f.set(SECCOMP_RET_ALLOW, {SYS_process_vm_readv, SYS_pidfd_getfd});
  f.set(isolation::deny_with(EPERM),
        {SYS_execve, SYS_execveat, SYS_clone, SYS_clone3, SYS_kill, SYS_tkill,
         SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
         SYS_pidfd_send_signal});
#if defined(__x86_64__)
  f.set(isolation::deny_with(EPERM), {SYS_fork, SYS_vfork});
#endif
  return isolation::install_filter(f.build(), false, nullptr).ok();
}

bool bound_resources() {
  const rlimit none{0, 0};
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
    return false;
  files.rlim_max = std::min(files.rlim_max, most_descriptors);
  files.rlim_cur = files.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &files) == 0
    && ::setrlimit(RLIMIT_CORE, &none) == 0
    && ::setrlimit(RLIMIT_FSIZE, &none) == 0;
}

[[noreturn]] void live(broker_descriptors with, pid_t parent) {
  ::prctl(PR_SET_NAME, "troupe-broker", 0, 0, 0);
  isolation::default_signals();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN); // the terminal's: the engine ends us
  const bool fine = isolation::die_with_parent().ok() && ::getppid() == parent
    && keep_only(with) && bound_resources() && keep_few_rights()
    && isolation::become_undumpable().ok()
    && isolation::die_with_parent().ok() // rights have changed
    && refuse_other_calls();
  if (!fine)
    ::_exit(1);
  // Never destroyed: `_exit` is the end of it.
  auto* service = new broker_service{std::move(with)};
  if (service->open())
    service->run();
  ::_exit(0);
}

} // namespace

broker_process fork_broker(broker_descriptors with) {
  const auto parent = ::getpid();
  broker_process made;
  made.pid = ::fork();
  if (made.pid == 0)
    live(std::move(with), parent);
  if (made.pid > 0)
    made.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, made.pid, 0)));
  return made;
}

} // namespace troupe::network
