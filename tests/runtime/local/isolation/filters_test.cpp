#include "runtime/local/isolation/seccomp.hpp"

#include <boost/test/unit_test.hpp>

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstring>

// The filters as programs, carried out here as the kernel would: what they say
// about every call, without making it.

using namespace troupe::isolation;

namespace {

using program = std::vector<sock_filter>;

#if defined(__x86_64__)
constexpr std::uint32_t native = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t native = AUDIT_ARCH_AARCH64;
#endif

seccomp_data call(int number, std::uint64_t first = 0, std::uint64_t rest = 0) {
  seccomp_data d{};
  d.nr = number;
  d.arch = native;
  for (auto& argument : d.args)
    argument = rest;
  d.args[0] = first;
  return d;
}

/// Only what seccomp_builder emits.
std::uint32_t verdict(const program& p, const seccomp_data& about) {
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < p.size(); ++at) {
    const auto& i = p[at];
    const auto jump = [&](bool yes) { at += yes ? i.jt : i.jf; };
    switch (i.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      std::memcpy(&a, reinterpret_cast<const char*>(&about) + i.k, sizeof a);
      break;
    case BPF_ALU | BPF_AND | BPF_K:
      a &= i.k;
      break;
    case BPF_JMP | BPF_JEQ | BPF_K:
      jump(a == i.k);
      break;
    case BPF_JMP | BPF_JGE | BPF_K:
      jump(a >= i.k);
      break;
    case BPF_JMP | BPF_JGT | BPF_K:
      jump(a > i.k);
      break;
    case BPF_JMP | BPF_JSET | BPF_K:
      jump((a & i.k) != 0);
      break;
    case BPF_JMP | BPF_JA:
      at += i.k;
      break;
    case BPF_RET | BPF_K:
      return i.k;
    default:
      BOOST_FAIL("an instruction that nobody emits: " << i.code);
    }
  }
  BOOST_FAIL("the program has no end");
  return 0;
}

/// Of several filters the strictest counts.
std::uint32_t stricter(std::uint32_t a, std::uint32_t b) {
  const auto rank = [](std::uint32_t v) {
    return static_cast<std::int32_t>(v & SECCOMP_RET_ACTION_FULL);
  };
  return rank(b) < rank(a) ? b : a;
}

} // namespace

BOOST_AUTO_TEST_SUITE(filters)

BOOST_AUTO_TEST_CASE(in_a_world_are_those_of_any_other_run) {
  constexpr std::uint64_t firsts[] = {0,
                                      ~0ull,
                                      CLONE_NEWNS,
                                      CLONE_NEWCGROUP,
                                      CLONE_NEWUTS,
                                      CLONE_NEWIPC,
                                      CLONE_NEWUSER,
                                      CLONE_NEWPID,
                                      CLONE_NEWNET,
                                      CLONE_THREAD,
                                      CLONE_FILES,
                                      CLONE_VM,
                                      1};
  const auto on_top = build_run_filter();
  for (auto network : {network_calls::deny, network_calls::notify})
    for (bool sockets : {false, true}) {
      const auto ordinary = build_filter({network, sockets, false});
      const auto below = build_filter({network, sockets, true});
      for (int number = 0; number < 600; ++number)
        for (auto first : firsts)
          for (auto rest : {std::uint64_t{0}, ~std::uint64_t{0}}) {
            const auto about = call(number, first, rest);
            const auto both
              = stricter(verdict(below, about), verdict(on_top, about));
            BOOST_REQUIRE_MESSAGE(both == verdict(ordinary, about),
                                  "call " << number << ", " << first);
          }
    }
}

BOOST_AUTO_TEST_CASE(ask_about_what_leads_out_of_a_network_and_no_more) {
  const auto closed = build_filter({network_calls::own});
  const auto leaving = build_filter({network_calls::leave});
  for (auto family : {AF_INET, AF_INET6})
    for (auto type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) {
      auto about = call(SYS_socket, static_cast<std::uint64_t>(family));
      about.args[1] = static_cast<std::uint64_t>(type | SOCK_CLOEXEC);
      BOOST_TEST((verdict(leaving, about) == SECCOMP_RET_ALLOW)
                 == (type != SOCK_RAW));
      BOOST_TEST(verdict(leaving, about) == verdict(closed, about));
    }
  for (int number : {SYS_connect, SYS_bind, SYS_listen, SYS_sendmsg,
                     SYS_sendmmsg, SYS_sendto}) {
    const auto about = call(number, 3, 1);
    BOOST_TEST(verdict(leaving, about) == SECCOMP_RET_USER_NOTIF);
    BOOST_TEST(verdict(closed, about) == SECCOMP_RET_ALLOW);
  }
  BOOST_TEST(verdict(leaving, call(SYS_sendto, 3)) == SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(leave_a_slot_what_it_takes_to_make_a_world) {
  const auto below = build_filter({network_calls::deny, true, true});
  const auto ordinary = build_filter({network_calls::deny, true, false});
  for (int number : {SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_move_mount,
                     SYS_open_tree, SYS_umount2, SYS_seccomp}) {
    BOOST_TEST(verdict(below, call(number)) == SECCOMP_RET_ALLOW);
    BOOST_TEST(verdict(ordinary, call(number)) != SECCOMP_RET_ALLOW);
  }
  for (auto other : {CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWCGROUP,
                     CLONE_NEWNS | CLONE_NEWUSER, CLONE_NEWPID | CLONE_NEWNET})
    BOOST_TEST(
      verdict(below, call(SYS_clone, static_cast<std::uint64_t>(other)))
      != SECCOMP_RET_ALLOW);
  // Nothing else that only a machine's owner needs.
  for (int number : {SYS_mount, SYS_setns, SYS_unshare, SYS_pivot_root, SYS_bpf,
                     SYS_ptrace, SYS_keyctl, SYS_mount_setattr, SYS_fspick})
    BOOST_TEST(verdict(below, call(number)) != SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(kill_whoever_speaks_another_abi) {
  constexpr int x32 = 0x4000'0000;
  auto foreign = call(SYS_getpid);
  foreign.arch = AUDIT_ARCH_I386;
  for (const auto& p : {build_filter({}), build_run_filter()}) {
    BOOST_TEST(verdict(p, foreign) == SECCOMP_RET_KILL_PROCESS);
    BOOST_TEST(verdict(p, call(x32)) == SECCOMP_RET_KILL_PROCESS);
  }
}

BOOST_AUTO_TEST_SUITE_END()
