#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <map>
#include <sstream>

// Every call that no tool needs and some attack does, from inside of a run.
// Where it is harmless the same call is made without isolation as well: a test
// that only sees refusals may be refused for another reason.

using namespace troupe;
using namespace troupe::test;

namespace {

struct hostile_call {
  const char* name;
  const char* call;    // Python, in terms of `call` below
  const char* inside;  // what it must say
  const char* outside; // "": not tried, it would hurt
};

constexpr const char* prelude = R"(
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def word(x):
    return ctypes.c_long(x) if isinstance(x, int) else x
def say(r):
    return 'OK' if r >= 0 else errno.errorcode[ctypes.get_errno()]
def call(number, *arguments):
    return say(libc.syscall(ctypes.c_long(number), *map(word, arguments)))
def attempt(f):
    try:
        f()
        return 'OK'
    except OSError as e:
        return errno.errorcode[e.errno]
    except ValueError:
        return 'ValueError'
def family(number, kind=socket.SOCK_STREAM):
    return attempt(lambda: socket.socket(number, kind).close())
def fresh():
    return ctypes.create_string_buffer(4096)
buffer = fresh()
)";

constexpr std::array calls{
  // Other processes
  hostile_call{"ptrace", "call(101, 0, 0, 0, 0)", "EPERM", "OK"},
  hostile_call{"process_vm_readv", "call(310, 1, 0, 0, 0, 0, 0)", "EPERM",
               "OK"},
  hostile_call{"process_vm_writev", "call(311, 1, 0, 0, 0, 0, 0)", "EPERM",
               "OK"},
  hostile_call{"pidfd_getfd", "call(438, 0, 0, 0)", "EPERM", "EBADF"},
  hostile_call{"kcmp", "call(312, os.getpid(), os.getpid(), 1, 0, 0)", "EPERM",
               "OK"},
  hostile_call{"prlimit_of_pid_1", "call(302, 1, 7, 0, buffer)", "EPERM", "OK"},
  hostile_call{"process_madvise", "call(440, 0, 0, 0, 0, 0)", "EPERM", "EBADF"},
  // Namespaces and mounts
  hostile_call{"unshare_mounts", "call(272, 0x20000)", "EPERM", ""},
  hostile_call{"clone_user", "call(56, 0x10000011, 0, 0, 0, 0)", "EPERM", ""},
  hostile_call{"clone_net_high_bits",
               "call(56, 0x7700000040000011, 0, 0, 0, 0)", "EPERM", ""},
  hostile_call{"clone3", "call(435, 0, 0)", "ENOSYS", "EINVAL"},
  hostile_call{"setns", "call(308, 0, 0)", "EPERM", "EINVAL"},
  hostile_call{"mount", "call(165, b'x', b'/tmp', b'tmpfs', 0, 0)", "EPERM",
               ""},
  hostile_call{"remount_usr", "call(165, 0, b'/usr', 0, 0x1020, 0)", "EPERM",
               ""},
  hostile_call{"umount_usr", "call(166, b'/usr', 2)", "EPERM", ""},
  hostile_call{"pivot_root", "call(155, b'/tmp', b'/tmp')", "EPERM", ""},
  hostile_call{"chroot", "call(161, b'/tmp')", "EPERM", ""},
  hostile_call{"open_tree", "call(428, -100, b'/', 1)", "ENOSYS", ""},
  hostile_call{"move_mount", "call(429, -1, b'', -1, b'', 0)", "ENOSYS", ""},
  hostile_call{"fsopen", "call(430, b'tmpfs', 0)", "ENOSYS", "OK"},
  hostile_call{"mount_setattr", "call(442, -100, b'/', 0, 0, 0)", "ENOSYS", ""},
  hostile_call{"open_by_handle_at", "call(304, -100, buffer, 0)", "EPERM", ""},
  hostile_call{"name_to_handle_at",
               "call(303, -100, b'/usr', buffer, buffer, 0)", "EPERM", ""},
  hostile_call{"openat2", "call(437, -100, b'/', fresh(), 24)", "ENOSYS", "OK"},
  // Kernel surface
  hostile_call{"bpf", "call(321, 0, buffer, 48)", "EPERM", ""},
  hostile_call{"perf_event_open", "call(298, buffer, 0, -1, -1, 0)", "EPERM",
               ""},
  hostile_call{"userfaultfd", "call(323, 1)", "EPERM", "OK"},
  hostile_call{"io_uring_setup", "call(425, 1, fresh())", "ENOSYS", "OK"},
  hostile_call{"io_uring_enter", "call(426, 0, 0, 0, 0, 0, 0)", "ENOSYS", ""},
  hostile_call{"io_setup", "call(206, 1, buffer)", "ENOSYS", ""},
  hostile_call{"memfd_secret", "call(447, 0)", "ENOSYS", ""},
  hostile_call{"keyctl", "call(250, 0, -3, 0)", "EPERM", "OK"},
  hostile_call{"add_key", "call(248, b'user', b'a', b'b', 1, -2)", "EPERM", ""},
  hostile_call{"request_key", "call(249, b'user', b'a', 0, 0)", "EPERM", ""},
  hostile_call{"fanotify_init", "call(300, 0, 0)", "EPERM", ""},
  hostile_call{"inotify_init", "call(294, 0)", "ENOSYS", "OK"},
  hostile_call{"modify_ldt", "call(154, 0, buffer, 16)", "EPERM", "OK"},
  hostile_call{"iopl", "call(172, 3)", "EPERM", ""},
  hostile_call{"ioperm", "call(173, 0, 1, 1)", "EPERM", ""},
  hostile_call{"seccomp", "call(317, 1, 0, 0)", "EPERM", ""},
  hostile_call{"personality", "call(135, 0x0040000)", "EPERM", "OK"},
  hostile_call{"personality_asked", "call(135, 0xffffffff)", "OK", "OK"},
  hostile_call{"vmsplice", "call(278, 1, 0, 0, 0)", "EPERM", ""},
  hostile_call{"future_call", "call(511)", "ENOSYS", "ENOSYS"},
  // The machine
  hostile_call{"reboot", "call(169, 0, 0, 0, 0)", "EPERM", ""},
  hostile_call{"kexec_load", "call(246, 0, 0, 0, 0)", "EPERM", ""},
  hostile_call{"init_module", "call(175, 0, 0, 0)", "EPERM", ""},
  hostile_call{"finit_module", "call(313, 0, 0, 0)", "EPERM", ""},
  hostile_call{"swapon", "call(167, b'/tmp/x', 0)", "EPERM", ""},
  hostile_call{"acct", "call(163, 0)", "EPERM", ""},
  hostile_call{"settimeofday", "call(164, 0, 0)", "EPERM", ""},
  hostile_call{"clock_settime", "call(227, 0, buffer)", "EPERM", ""},
  hostile_call{"adjtimex", "call(159, buffer)", "EPERM", ""},
  hostile_call{"syslog", "call(103, 3, buffer, 100)", "EPERM", "OK"},
  hostile_call{"sethostname", "call(170, b'x', 1)", "EPERM", ""},
  hostile_call{"sync", "call(162)", "EPERM", ""},
  hostile_call{"quotactl", "call(179, 0, 0, 0, 0)", "EPERM", ""},
  hostile_call{"vhangup", "call(153)", "EPERM", ""},
  // Who one is
  hostile_call{"setuid_0", "attempt(lambda: os.setuid(0))", "EINVAL", "OK"},
  hostile_call{"setgid_0", "attempt(lambda: os.setgid(0))", "EINVAL", "OK"},
  hostile_call{"setgroups", "attempt(lambda: os.setgroups([1000]))", "EPERM",
               ""},
  hostile_call{"securebits", "call(157, 28, 0, 0, 0, 0)", "EPERM", ""},
  hostile_call{"prctl_set_mm", "call(157, 35, 1, 0, 0, 0)", "EPERM", ""},
  hostile_call{"prctl_seccomp", "call(157, 22, 1, 0, 0, 0)", "EPERM", ""},
  hostile_call{"prctl_name", "call(157, 15, b'x', 0, 0, 0)", "OK", "OK"},
  hostile_call{"more_files",
               "attempt(lambda: __import__('resource').setrlimit(7, "
               "(4096, 4096)))",
               "ValueError", ""},
  hostile_call{"realtime",
               "attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, "
               "os.sched_param(1)))",
               "EPERM", ""},
  hostile_call{"nicer", "attempt(lambda: os.setpriority(0, 0, -5))", "EACCES",
               ""},
  // Bits that lend rights
  hostile_call{"set_uid_bit",
               "attempt(lambda: (open('/tmp/s', 'w').close(), "
               "os.chmod('/tmp/s', 0o4755)))",
               "EPERM", ""},
  hostile_call{"set_gid_directory",
               "attempt(lambda: os.mkdir('/tmp/g', 0o2755))", "EPERM", ""},
  hostile_call{"set_uid_at_birth",
               "attempt(lambda: os.open('/tmp/b', os.O_CREAT, 0o4755))",
               "EPERM", ""},
  hostile_call{"plain_bits",
               "attempt(lambda: (open('/tmp/p', 'w').close(), "
               "os.chmod('/tmp/p', 0o755)))",
               "OK", ""},
  // Terminals, with the upper half of the argument set as well
  hostile_call{"tiocsti", "call(16, 0, 0x5412, b'x')", "EPERM", "ENOTTY"},
  hostile_call{"tiocsti_high", "call(16, 0, 0x700005412, b'x')", "EPERM",
               "ENOTTY"},
  hostile_call{"tioclinux", "call(16, 0, 0x541c, b'x')", "EPERM", "ENOTTY"},
  hostile_call{"tiocsetd", "call(16, 0, 0x5423, buffer)", "EPERM", "ENOTTY"},
  // Sockets
  hostile_call{"inet", "family(socket.AF_INET)", "EACCES", "OK"},
  hostile_call{"inet_datagram", "family(socket.AF_INET, socket.SOCK_DGRAM)",
               "EACCES", "OK"},
  hostile_call{"inet6", "family(socket.AF_INET6)", "EACCES", ""},
  hostile_call{"inet_raw", "family(socket.AF_INET, socket.SOCK_RAW)", "EACCES",
               ""},
  hostile_call{"vsock", "family(40)", "EAFNOSUPPORT", ""},
  hostile_call{"netlink", "family(16, socket.SOCK_RAW)", "EAFNOSUPPORT", "OK"},
  hostile_call{"packet", "family(17, socket.SOCK_RAW)", "EAFNOSUPPORT", ""},
  hostile_call{"alg", "family(38, 5)", "EAFNOSUPPORT", ""},
  hostile_call{"bluetooth", "family(31, 3)", "EAFNOSUPPORT", ""},
  hostile_call{"xdp", "family(44, 3)", "EAFNOSUPPORT", ""},
  hostile_call{"key", "family(15, 3)", "EAFNOSUPPORT", ""},
  hostile_call{"high_half_of_family", "call(41, 0x100000002, 1, 0)", "EACCES",
               ""},
  hostile_call{"unix_pair", "attempt(lambda: socket.socketpair())", "OK", "OK"},
  hostile_call{"unix_abstract",
               "attempt(lambda: socket.socket(socket.AF_UNIX)"
               ".connect('\\0no-such-name'))",
               "ECONNREFUSED", "ECONNREFUSED"},
  // Last: outside it changes who the caller is.
  hostile_call{"unshare_user", "call(272, 0x10000000)", "EPERM", "OK"},
};

std::map<std::string, std::string> try_all(isolation_level level, bool inside) {
  std::string code = prelude;
  for (const auto& c : calls)
    if (inside || *c.outside != '\0')
      code
        += "print('" + std::string{c.name} + "', " + c.call + ", flush=True)\n";
  auto run = python(code);
  run.isolation = level;
  auto r = shared_host().run(run);
  BOOST_TEST(r.stderr_text == "");
  BOOST_TEST(to_string(r.reason) == "exited");
  std::map<std::string, std::string> answers;
  std::istringstream lines{r.stdout_text};
  for (std::string name, answer; lines >> name >> answer;)
    answers[name] = answer;
  return answers;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hostile_calls)

BOOST_AUTO_TEST_CASE(refuses_every_call_that_no_tool_needs) {
  auto answers = try_all(isolation_level::standard, true);
  for (const auto& c : calls)
    BOOST_TEST(answers[c.name] == c.inside,
               c.name << ": " << answers[c.name] << " instead of " << c.inside);
}

BOOST_AUTO_TEST_CASE(would_see_the_same_calls_succeed_without_isolation) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: the outside column is root's");
    return;
  }
  auto answers = try_all(isolation_level::off, false);
  for (const auto& c : calls)
    if (*c.outside != '\0')
      BOOST_TEST(answers[c.name] == c.outside,
                 c.name << ": " << answers[c.name] << " instead of "
                        << c.outside);
}

BOOST_AUTO_TEST_CASE(ends_a_program_that_calls_by_another_architecture) {
  // mov eax, 20 (getpid of i386); int 0x80; ret
  auto r = shared_host().run(python(R"(
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('b814000000cd80c3'))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
print(ctypes.CFUNCTYPE(ctypes.c_long)(address)(), flush=True)
)"));
  BOOST_TEST(to_string(r.reason) == "syscall_blocked");
  BOOST_TEST(r.stdout_text == "");
}

BOOST_AUTO_TEST_CASE(ends_a_program_that_calls_by_x32) {
  auto r = shared_host().run(python("import ctypes\n"
                                    "ctypes.CDLL(None).syscall("
                                    "ctypes.c_long(0x40000000 | 39))\n"));
  BOOST_TEST(to_string(r.reason) == "syscall_blocked");
}

BOOST_AUTO_TEST_CASE(keeps_pid_1_alive_whoever_wants_it_dead) {
  auto r = shared_host().run(python("import os\n"
                                    "for s in (9, 19, 15, 11):\n"
                                    "  os.kill(1, s)\n"
                                    "try: os.kill(-1, 15)\n"
                                    "except ProcessLookupError: pass\n"
                                    "print(os.getpid(), os.getppid())\n"));
  BOOST_TEST(r.stdout_text == "2 1\n", r.stderr_text);
}

BOOST_AUTO_TEST_SUITE_END()
