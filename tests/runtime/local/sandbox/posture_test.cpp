#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(posture_in_a_sandbox)

namespace {

std::string limit(const char* resource, const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(resource))
      return line;
  return {};
}

} // namespace

BOOST_AUTO_TEST_CASE(of_a_command_is_that_of_a_run) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = host.shell(*box, "cat /proc/self/status");
  BOOST_TEST(seen.code() == 0);
  for (const char* line :
       {"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000",
        "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
        "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2",
        "Uid:\t1000\t1000\t1000\t1000", "Gid:\t1000\t1000\t1000\t1000",
        "SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"})
    BOOST_TEST(seen.out.find(line) != std::string::npos, line);
  auto open = host.shell(*box, "ls /proc/self/fd");
  BOOST_TEST(open.out == "0\n1\n2\n3\n"); // and the one of ls
  auto limits = host.shell(*box, "cat /proc/self/limits").out;
  BOOST_TEST(limit("Max open files", limits).find("1024") != std::string::npos);
  BOOST_TEST(limit("Max core file size", limits).find(" 0 ")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_all_that_is_ours_inside_is_without_rights) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  living box{host};
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(*box, "echo on; exec sleep 1000", *seen));
  BOOST_REQUIRE(seen->wait_for_output("on"));
  BOOST_REQUIRE(host.read(*box, "/etc/passwd")); // a hand stays for a while
  int filtered = 0;
  const auto all = processes_below(backend.backend().warden_pid());
  BOOST_TEST(all.size() == 4u); // keeper, hand, the command and its parent
  for (int pid : all) {
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
      BOOST_TEST(status_line(pid, set) == "0000000000000000", set);
    BOOST_TEST(status_line(pid, "NoNewPrivs") == "1");
    BOOST_TEST(status_line(pid, "Groups").find_first_of("0123456789")
               == std::string::npos);
    if (::geteuid() == 0)
      BOOST_TEST(std::stoul(status_line(pid, "Uid")) >= 65'536u);
    filtered += status_line(pid, "Seccomp") == "2";
  }
  BOOST_TEST(filtered == 2); // what runs a tenant's byte, and the hand
}

BOOST_AUTO_TEST_CASE(lies_in_namespaces_of_its_own) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  living other{host};
  for (const char* name :
       {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    const auto path = std::string{"/proc/self/ns/"} + name;
    char text[64] = {};
    BOOST_REQUIRE(::readlink(path.c_str(), text, sizeof text - 1) > 0);
    auto one = host.shell(*box, "readlink " + path).out;
    auto two = host.shell(*other, "readlink " + path).out;
    BOOST_TEST(one != std::string{text} + "\n", name);
    BOOST_TEST(one != two, name);
  }
}

BOOST_AUTO_TEST_CASE(sees_only_its_own_processes_and_none_of_ours) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  // The keeper, the command's parent: undumpable, so they are not even shown.
  auto seen = host.shell(*box, "cd /proc; echo [0-9]*; echo $$");
  std::istringstream words{seen.out};
  std::string shown, self;
  std::getline(words, shown);
  std::getline(words, self);
  BOOST_TEST(shown == self);
  BOOST_TEST(host.shell(*box, "kill -9 1; kill -STOP 1; echo on").out
             == "on\n");
  BOOST_TEST(host.shell(*box, "cat /proc/1/environ").code() != 0);
  BOOST_TEST(host.shell(*box, "echo on").out == "on\n");
}

BOOST_AUTO_TEST_CASE(is_told_its_limits_where_proc_would_tell_of_the_host) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.memory_bytes = 256u << 20;
  living box{host, std::move(wanted)};
  if (host.shell(*box, "test -e /proc/meminfo").code() != 0) {
    BOOST_TEST_MESSAGE("skipped: this host grants no whole /proc");
    return;
  }
  BOOST_TEST(host.shell(*box, "grep MemTotal /proc/meminfo").out
             == "MemTotal: 262144 kB\n");
  BOOST_TEST(host.shell(*box, "grep -c ^cpu0 /proc/stat").out == "1\n");
  // Of all others that are no number, those that may be known have a name.
  auto told = host.shell(
    *box,
    "cd /proc; for f in *; do case $f in [0-9]*|self|thread-self|mounts|net|"
    "cpuinfo|filesystems|loadavg|sys|uptime|version|devices|meminfo|stat) "
    "continue;; esac; if [ -d $f ]; then ls -A $f; else cat $f; fi; done");
  BOOST_TEST(told.out == "");
  BOOST_TEST(told.err == "");
  for (const char* line :
       {"echo x > /proc/sys/kernel/core_pattern", "echo 0 > /proc/uptime",
        "echo 1 > /proc/meminfo", "umount /proc/meminfo", "ls /proc/1"})
    BOOST_TEST(host.shell(*box, line).code() != 0, line);
  for (const char* program : {"free", "top", "ps"})
    if (host.shell(*box, std::string{"command -v "} + program).code() == 0) {
      const auto line = program + std::string{program[0] == 't' ? " -bn1" : ""};
      auto seen = host.shell(*box, line);
      BOOST_TEST(seen.code() == 0, line << ": " << seen.err);
    }
}

BOOST_AUTO_TEST_CASE(cannot_make_what_takes_rights) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  for (const char* line :
       {"unshare -U true", "unshare -m true", "mount -t tmpfs t /tmp",
        "chroot / true", "mknod /tmp/d c 1 3", "hostname other", "umount /usr",
        "touch /usr/bin/x", "rm /usr/bin/env",
        "echo x > /proc/sys/kernel/hostname", "ls /sys/kernel"})
    BOOST_TEST(host.shell(*box, line).code() != 0, line);
}

BOOST_AUTO_TEST_CASE(
  sees_a_tree_without_anything_of_the_host_but_its_programs) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto root = host.shell(*box, "ls -A /").out;
  for (const char* name : {"root", "boot", "mnt", "var", "run", "work", "sys"})
    BOOST_TEST(("\n" + root).find(std::string{"\n"} + name + "\n")
                 == std::string::npos,
               root);
  auto etc = host.shell(*box, "ls -A /etc").out;
  BOOST_TEST(etc.find("shadow") == std::string::npos);
  BOOST_TEST(host.shell(*box, "test -e /etc/ssh").code() != 0);
  BOOST_TEST(host.shell(*box, "python3 -c 'import ssl, json; print(1)'").out
             == "1\n");
}

BOOST_AUTO_TEST_CASE(shares_no_file_with_another_sandbox) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  living other{host};
  // A lock on the same program is two locks.
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(
    *box, "exec 9</usr/bin/env; flock -x 9; echo locked; sleep 1000", *seen));
  BOOST_REQUIRE(seen->wait_for_output("locked"));
  BOOST_TEST(host.shell(*box, "flock -n -x /usr/bin/env true").code() != 0);
  BOOST_TEST(host.shell(*other, "flock -n -x /usr/bin/env true").code() == 0);
  // And what one does with it, the other is not told.
  const char* watch = R"(
import ctypes, os, select, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0o4000)
assert fd >= 0, ctypes.get_errno()
assert libc.inotify_add_watch(fd, b'/usr/bin/env', 0xfff) >= 0
print('watching', flush=True)
sys.stdin.readline()
print('events', bool(select.select([fd], [], [], 0)[0]), flush=True)
subprocess.run(['/usr/bin/env', 'true'])
print('own', bool(select.select([fd], [], [], 0)[0]), flush=True)
)";
  BOOST_REQUIRE(host.write(*box, "/home/user/watch.py", watch));
  auto watcher = std::make_shared<process_watch>();
  auto begun = host.start(*box, "python3 watch.py", *watcher, true);
  BOOST_REQUIRE(begun);
  BOOST_REQUIRE_MESSAGE(watcher->wait_for_output("watching"),
                        watcher->output());
  host.shell(*other, "/usr/bin/env true; cat /usr/bin/env | wc -c");
  auto go = [&]() -> boost::asio::awaitable<result<void>> {
    co_return (*begun)->write("\n");
  };
  BOOST_REQUIRE(host.call(go()));
  BOOST_REQUIRE(watcher->wait());
  BOOST_TEST(watcher->output() == "watching\nevents False\nown True\n");
}

BOOST_AUTO_TEST_SUITE_END()
