#include "runtime/local/isolation/seccomp.hpp"

#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/seccomp_builder.hpp"
#include "runtime/local/isolation/socket_options.hpp"
#include "runtime/local/isolation/syscall_table.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace troupe::isolation {

namespace {

constexpr auto ask = SECCOMP_RET_USER_NOTIF;
// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, newer than some headers.
constexpr unsigned long wait_killable = 1ul << 5;

/// From SIOCGIFNAME on, the private calls of drivers and wireless ones.
constexpr std::uint32_t first_interface_call = 0x8910;
constexpr std::uint32_t last_interface_call = 0x8bff;

/// FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR.
constexpr std::uint32_t set_flags = 0x40086602;
constexpr std::uint32_t set_attributes_call = 0x401c5820;

/// O_CREAT and the bit of O_TMPFILE that is not O_DIRECTORY.
constexpr std::uint32_t made_by_open = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

/// No file of ours gets a set-user or set-group bit: a directory that outlives
/// the run must not hold a program that lends rights to whoever finds it.
void check_modes(seccomp_builder& f) {
  constexpr std::uint32_t set_bits = S_ISUID | S_ISGID;
  auto checked = [](unsigned mode) {
    return std::vector<sock_filter>{load_low(mode),
                                    skip_unless_any_bit(set_bits),
                                    ret(deny_with(EPERM)), ret(allow)};
  };
  f.set(SYS_fchmod, checked(1));
  f.set(SYS_fchmodat, checked(2));
  f.set(call_fchmodat2, checked(2));
  f.set(SYS_mkdirat, checked(2));
  f.set(SYS_mknodat, checked(2));
  auto checked_open = [](unsigned flags) {
    // The mode counts only where a file is made; else it may be anything.
    return std::vector<sock_filter>{
      load_low(flags),
      {BPF_JMP | BPF_JSET | BPF_K, 1, 0, made_by_open},
      ret(allow),
      load_low(flags + 1),
      skip_unless_any_bit(set_bits),
      ret(deny_with(EPERM)),
      ret(allow)};
  };
  f.set(SYS_openat, checked_open(2));
#if defined(__x86_64__)
  f.set(SYS_open, checked_open(1));
  f.set(SYS_chmod, checked(1));
  f.set(SYS_mkdir, checked(1));
  f.set(SYS_mknod, checked(1));
  f.set(SYS_creat, checked(1));
#endif
}

constexpr std::uint32_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP
  | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// Threads and processes, but none with any of these.
std::vector<sock_filter> clone_without(std::uint32_t namespaces) {
  return {load_low(0), skip_unless_any_bit(namespaces), ret(deny_with(EPERM)),
          skip_unless_any_bit(CLONE_THREAD), ret(allow),
          // The network broker counts on this: with one thread, nobody else
          // changes a table of descriptors.
          skip_unless_any_bit(CLONE_FILES), ret(deny_with(EPERM)), ret(allow)};
}

/// What `contain_run` calls and an ordinary run may not.
constexpr std::initializer_list<long> mount_calls{
  SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount};

/// Of namespaces only those that a world consists of, which the kernel makes
/// for nobody without rights over the slot's own.
void allow_run_namespaces(seccomp_builder& f) {
  constexpr std::uint32_t others
    = new_namespaces & ~static_cast<std::uint32_t>(run_namespace_flags);
  f.set(SYS_clone, clone_without(others));
  f.set(allow, mount_calls);
  f.set(allow, {SYS_umount2, SYS_seccomp});
}

/// Typing into a terminal that is not ours, changing its line discipline; and
/// asking a socket about the interfaces of its network, which is the host's for
/// those that the broker made.
void check_ioctl(seccomp_builder& f) {
  f.set(SYS_ioctl,
        {load_low(1),
         skip_unless_equal(TIOCSTI),
         ret(deny_with(EPERM)),
         skip_unless_equal(TIOCLINUX),
         ret(deny_with(EPERM)),
         skip_unless_equal(TIOCSETD),
         ret(deny_with(EPERM)),
         skip_unless_equal(TIOCCONS),
         ret(deny_with(EPERM)),
         // Of a directory they would stay for the next run.
         skip_unless_equal(set_flags),
         ret(deny_with(EPERM)),
         skip_unless_equal(set_attributes_call),
         ret(deny_with(EPERM)),
         {BPF_JMP | BPF_JGE | BPF_K, 0, 2, first_interface_call},
         {BPF_JMP | BPF_JGT | BPF_K, 1, 0, last_interface_call},
         ret(deny_with(EPERM)),
         ret(allow)});
}

/// Being told of what others do with files that everybody sees: what inotify
/// would have been refused for.
void check_fcntl(seccomp_builder& f) {
  f.set(SYS_fcntl,
        {load_low(1), skip_unless_equal(F_NOTIFY), ret(deny_with(EPERM)),
         skip_unless_equal(F_SETLEASE), ret(deny_with(EPERM)), ret(allow)});
}

/// Editors and servers of developers live by it.
void allow_watching(seccomp_builder& f) {
  f.set(allow,
        {SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch});
#if defined(__x86_64__)
  f.set(allow, {SYS_inotify_init});
#endif
}

/// Huge pages that the host has set aside for somebody are not charged to the
/// memory of a run. Those that the kernel makes out of others are.
void check_huge_pages(seccomp_builder& f) {
  const auto without = [](unsigned flags, std::uint32_t bit, int error) {
    return std::vector<sock_filter>{load_low(flags), skip_unless_any_bit(bit),
                                    ret(deny_with(error)), ret(allow)};
  };
  // As where none are set aside, and where one has no right to them.
  f.set(SYS_mmap, without(3, MAP_HUGETLB, ENOMEM));
  f.set(SYS_memfd_create, without(1, MFD_HUGETLB, EPERM));
  f.set(SYS_shmget, without(2, SHM_HUGETLB, EPERM));
}

void check_prctl(seccomp_builder& f) {
  constexpr std::uint32_t name_memory = 0x53564d41; // PR_SET_VMA
  constexpr std::uint32_t get_auxv = 0x41555856;    // PR_GET_AUXV
  std::vector<sock_filter> body{load_low(0)};
  for (std::uint32_t option : {std::uint32_t{PR_SET_PDEATHSIG},
                               std::uint32_t{PR_GET_PDEATHSIG},
                               std::uint32_t{PR_GET_DUMPABLE},
                               std::uint32_t{PR_SET_DUMPABLE},
                               std::uint32_t{PR_SET_NAME},
                               std::uint32_t{PR_GET_NAME},
                               std::uint32_t{PR_GET_SECCOMP},
                               std::uint32_t{PR_CAPBSET_READ},
                               std::uint32_t{PR_GET_SECUREBITS},
                               std::uint32_t{PR_GET_KEEPCAPS},
                               std::uint32_t{PR_SET_TIMERSLACK},
                               std::uint32_t{PR_GET_TIMERSLACK},
                               std::uint32_t{PR_SET_CHILD_SUBREAPER},
                               std::uint32_t{PR_GET_CHILD_SUBREAPER},
                               std::uint32_t{PR_SET_NO_NEW_PRIVS},
                               std::uint32_t{PR_GET_NO_NEW_PRIVS},
                               std::uint32_t{PR_GET_TID_ADDRESS},
                               std::uint32_t{PR_SET_THP_DISABLE},
                               std::uint32_t{PR_GET_THP_DISABLE},
                               std::uint32_t{PR_CAP_AMBIENT},
                               name_memory,
                               get_auxv}) {
    body.push_back(skip_unless_equal(option));
    body.push_back(ret(allow));
  }
  body.push_back(ret(deny_with(EPERM)));
  f.set(SYS_prctl, std::move(body));
}

/// Only one's own limits, and only the plain personality.
void check_self_only(seccomp_builder& f) {
  f.set(SYS_prlimit64,
        {load_low(0), skip_unless_equal(0), ret(allow), ret(deny_with(EPERM))});
  // Its first process serves other runs after it.
  f.set(SYS_sched_setattr,
        {load_low(0), skip_unless_equal(0), ret(allow), ret(deny_with(EPERM))});
  f.set(SYS_personality,
        {load_low(0), skip_unless_equal(0), ret(allow),
         skip_unless_equal(0xffff'ffff), ret(allow), ret(deny_with(EPERM))});
}

/// TCP and UDP, and no protocol that the kernel would have to load a module
/// for, or that takes rights.
std::vector<sock_filter> own_sockets(std::uint32_t local) {
  constexpr std::uint32_t type_bits = 0xf; // SOCK_TYPE_MASK
  return {load_low(0),
          skip_unless_equal(AF_UNIX),
          ret(local),
          {BPF_JMP | BPF_JEQ | BPF_K, 2, 0, AF_INET},
          {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_INET6},
          ret(deny_with(EAFNOSUPPORT)),
          load_low(2),
          {BPF_JMP | BPF_JEQ | BPF_K, 3, 0, 0},
          {BPF_JMP | BPF_JEQ | BPF_K, 2, 0, IPPROTO_TCP},
          {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, IPPROTO_UDP},
          ret(deny_with(EPROTONOSUPPORT)),
          load_low(1),
          {BPF_ALU | BPF_AND | BPF_K, 0, 0, type_bits},
          skip_unless_equal(SOCK_STREAM),
          ret(allow),
          skip_unless_equal(SOCK_DGRAM),
          ret(allow),
          ret(deny_with(ESOCKTNOSUPPORT))};
}

void check_sockets(seccomp_builder& f, const filter_options& options) {
  auto local = options.unix_sockets ? allow : deny_with(EACCES);
  const bool own = options.network == network_calls::own
    || options.network == network_calls::leave;
  const bool asks = options.network == network_calls::notify
    || options.network == network_calls::leave;
  auto internet = asks ? ask : deny_with(EACCES);
  f.set(SYS_socket,
        {load_low(0), skip_unless_equal(AF_UNIX), ret(local),
         skip_unless_equal(AF_INET), ret(internet), skip_unless_equal(AF_INET6),
         ret(internet), ret(deny_with(EAFNOSUPPORT))});
  if (own)
    f.set(SYS_socket, own_sockets(local));
  f.set(SYS_socketpair,
        {load_low(0), skip_unless_equal(AF_UNIX), ret(allow),
         ret(deny_with(EAFNOSUPPORT))});
  // Nothing lingers without a network.
  f.set(SYS_setsockopt, set_option_rules(asks ? ask : allow));
  f.set(SYS_getsockopt, get_option_rules());
  if (!asks)
    return;
  f.set(ask, {SYS_connect, SYS_bind, SYS_listen, SYS_sendmsg, SYS_sendmmsg});
  // sendto without an address is send: on a connected socket, decided before.
  f.set(SYS_sendto,
        {load_low(4), skip_unless_any_bit(0xffff'ffff), ret(ask), load_high(4),
         skip_unless_any_bit(0xffff'ffff), ret(ask), ret(allow)});
}

} // namespace

std::vector<sock_filter> build_filter(const filter_options& options) {
  seccomp_builder f{deny_with(ENOSYS)};
  allow_ordinary_calls(f);
  allow_process_calls(f);
  refuse_privileged_calls(f);
  check_modes(f);
  f.set(SYS_clone, clone_without(new_namespaces));
  check_ioctl(f);
  check_fcntl(f);
  check_huge_pages(f);
  check_prctl(f);
  check_self_only(f);
  check_sockets(f, options);
  if (options.makes_namespaces)
    allow_run_namespaces(f);
  if (options.own_files)
    allow_watching(f);
  return f.build();
}

std::vector<sock_filter> build_run_filter() {
  seccomp_builder f{allow};
  f.set(SYS_clone, clone_without(new_namespaces));
  f.set(deny_with(ENOSYS), mount_calls);
  f.set(deny_with(EPERM), {SYS_umount2, SYS_seccomp});
  return f.build();
}

outcome install_filter(const std::vector<sock_filter>& filter, bool notify,
                       int* listener) noexcept {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.size());
  program.filter = const_cast<sock_filter*>(filter.data());
  // A listener excludes TSYNC; the caller has one thread, so both are whole.
  unsigned long flags
    = notify ? SECCOMP_FILTER_FLAG_NEW_LISTENER : SECCOMP_FILTER_FLAG_TSYNC;
  // A signal must not break off a call that the broker is carrying out: it
  // would begin again and send twice. (Before Linux 5.19 it may.)
  auto patient = notify ? flags | wait_killable : flags;
  auto code
    = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, patient, &program);
  if (code < 0 && errno == EINVAL && patient != flags)
    code = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (code < 0 || (!notify && code > 0))
    return failed(step::seccomp);
  if (notify && listener != nullptr)
    *listener = static_cast<int>(code);
  return {};
}

} // namespace troupe::isolation
