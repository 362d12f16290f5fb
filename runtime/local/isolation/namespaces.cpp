#include "runtime/local/isolation/namespaces.hpp"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace troupe::isolation {

namespace {

constexpr int get_tid_address = 40; // PR_GET_TID_ADDRESS

bool write_file(const char* path, const char* text, int size) noexcept {
  int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  auto written = ::write(fd, text, static_cast<std::size_t>(size));
  int error = errno;
  ::close(fd);
  errno = error;
  return written == size;
}

bool write_map(pid_t child, const char* name, unsigned inside,
               unsigned outside) noexcept {
  char path[64];
  char text[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", child, name);
  int size = std::snprintf(text, sizeof text, "%u %u 1\n", inside, outside);
  return write_file(path, text, size);
}

} // namespace

std::uint64_t clone_flags(const layer_set& layers) noexcept {
  std::uint64_t flags = 0;
  if (layers.user)
    flags |= CLONE_NEWUSER;
  if (layers.mounts)
    flags |= CLONE_NEWNS;
  if (layers.pids)
    flags |= CLONE_NEWPID;
  if (layers.network)
    flags |= CLONE_NEWNET;
  if (layers.ipc)
    flags |= CLONE_NEWIPC;
  if (layers.uts)
    flags |= CLONE_NEWUTS;
  return flags;
}

cloned clone_into(std::uint64_t flags, int cgroup) noexcept {
  cloned out;
  clone_args args{};
  args.flags = flags | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uintptr_t>(&out.pidfd);
  args.exit_signal = SIGCHLD;
  if (cgroup >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  // glibc caches the thread id where fork would have renewed it.
  int* tid = nullptr;
  if (::prctl(get_tid_address, &tid, 0, 0, 0) == 0 && tid != nullptr) {
    args.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    args.child_tid = reinterpret_cast<std::uintptr_t>(tid);
  }
  out.pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
  return out;
}

outcome write_identity_map(pid_t child, uid_t host_uid, gid_t host_gid,
                           bool privileged) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/setgroups", child);
  if (!privileged && !write_file(path, "deny", 4))
    return failed(step::identity_map);
  if (!write_map(child, "uid_map", inside_uid, host_uid)
      || !write_map(child, "gid_map", inside_gid, host_gid))
    return failed(step::identity_map);
  return {};
}

outcome die_with_parent() noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
    return failed(step::death_signal);
  return {};
}

outcome own_cgroup_view() noexcept {
  if (::unshare(CLONE_NEWCGROUP) != 0)
    return failed(step::namespaces);
  return {};
}

outcome name_host() noexcept {
  if (::sethostname("sandbox", 7) != 0 || ::setdomainname("", 0) != 0)
    return failed(step::namespaces);
  return {};
}

outcome raise_loopback() noexcept {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq loopback{};
  std::memcpy(loopback.ifr_name, "lo", sizeof "lo");
  loopback.ifr_flags = IFF_UP;
  const bool up = any >= 0 && ::ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
  const auto no = failed(step::namespaces);
  if (any >= 0)
    ::close(any);
  return up ? outcome{} : no;
}

} // namespace troupe::isolation
