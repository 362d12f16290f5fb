#include "runtime/local/isolation/pass.hpp"
#include "runtime/local/isolation/seccomp.hpp"

#include <boost/test/unit_test.hpp>

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

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

/// Only what filter_builder emits.
std::uint32_t verdict(const program& p, const seccomp_data& about) {
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < p.size(); ++at) {
    const auto& i = p[at];
    const auto jump = [&](bool yes) { at += yes ? i.jt : i.jf; };
    switch (i.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      std::memcpy(&a, reinterpret_cast<const char*>(&about) + i.k, sizeof a);
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
  for (auto network : {network_calls::deny, network_calls::notify})
    for (bool sockets : {false, true}) {
      const auto ordinary = build_filter({network, sockets, false});
      auto in_world = build_filter({network, sockets, true});
      BOOST_REQUIRE(issue_pass(in_world));
      for (int number = 0; number < 600; ++number)
        for (auto first : firsts)
          for (auto rest : {std::uint64_t{0}, ~std::uint64_t{0}}) {
            // The kernel refuses these to who has no rights.
            if (number == SYS_clone
                && (first == CLONE_NEWNS || first == CLONE_NEWUTS
                    || first == CLONE_NEWPID))
              continue;
            const auto about = call(number, first, rest);
            BOOST_REQUIRE_MESSAGE(verdict(in_world, about)
                                    == verdict(ordinary, about),
                                  "call " << number << ", " << first);
          }
    }
}

/// What the filter compares the sixth argument with.
std::uint64_t pass_in(const std::vector<sock_filter>& stamped,
                      const std::vector<sock_filter>& blank) {
  std::uint64_t pass = 0;
  for (std::size_t i = 0; i < blank.size(); ++i)
    if (blank[i].k == static_cast<std::uint32_t>(blank_pass))
      pass |= stamped[i].k;
    else if (blank[i].k == static_cast<std::uint32_t>(blank_pass >> 32))
      pass |= std::uint64_t{stamped[i].k} << 32;
  return pass;
}

BOOST_AUTO_TEST_CASE(leave_a_slot_what_it_takes_to_make_a_world) {
  const auto blank = build_filter({network_calls::deny, true, true});
  auto below = blank;
  BOOST_REQUIRE(issue_pass(below));
  const auto pass = pass_in(below, blank);
  BOOST_TEST(pass != 0u);
  BOOST_TEST(pass != blank_pass);
  for (int number : {SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_move_mount,
                     SYS_open_tree, SYS_umount2}) {
    auto about = call(number);
    for (auto wrong : {std::uint64_t{0}, blank_pass, pass ^ 1,
                       pass ^ (std::uint64_t{1} << 63), pass << 32, pass >> 32,
                       (pass >> 32) * 0x1'0000'0001u,
                       (pass & 0xffff'ffff) * 0x1'0000'0001u}) {
      about.args[5] = wrong;
      BOOST_TEST(verdict(below, about) != SECCOMP_RET_ALLOW);
    }
    about.args[5] = pass;
    BOOST_TEST(verdict(below, about) == SECCOMP_RET_ALLOW);
  }
  for (auto both : {CLONE_NEWNS | CLONE_NEWUSER, CLONE_NEWPID | CLONE_NEWNET})
    BOOST_TEST(verdict(below, call(SYS_clone, static_cast<std::uint64_t>(both)))
               != SECCOMP_RET_ALLOW);
  // Nothing else that only a machine's owner needs.
  for (int number : {SYS_seccomp, SYS_mount, SYS_setns, SYS_unshare,
                     SYS_pivot_root, SYS_bpf, SYS_ptrace, SYS_keyctl})
    BOOST_TEST(verdict(below, call(number)) != SECCOMP_RET_ALLOW);
}

/// How often a word lies in the memory of this process; told what its inverse
/// is, so that the search does not find itself.
int times_in_memory(std::uint64_t inverse) {
  int found = 0;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char readable = 0;
    constexpr unsigned long largest = 256ul << 20; // more is a reserve
    if (std::sscanf(line.c_str(), "%lx-%lx %c", &begin, &end, &readable) != 3
        || readable != 'r' || end - begin > largest
        || line.find("[v") != line.npos)
      continue;
    for (auto at = begin; at + sizeof inverse <= end; at += 4) {
      std::uint32_t halves[2];
      std::memcpy(halves, reinterpret_cast<const void*>(at), sizeof halves);
      found += ~halves[0] == static_cast<std::uint32_t>(inverse)
          && ~halves[1] == static_cast<std::uint32_t>(inverse >> 32)
        ? 1
        : 0;
    }
  }
  return found;
}

#ifndef __SANITIZE_ADDRESS__ // whose memory is not read like that
BOOST_AUTO_TEST_CASE(leave_no_pass_in_the_memory_of_a_forked_process) {
  const auto blank = build_filter({network_calls::deny, true, true});
  auto inverted = blank;
  BOOST_REQUIRE(issue_pass(inverted));
  for (auto& instruction : inverted)
    instruction.k = ~instruction.k;
  const auto inverse = pass_in(inverted, blank);
  forget(inverted);
  const auto child = ::fork();
  if (child == 0)
    ::_exit(times_in_memory(inverse));
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  // Here it is, so that a child which has none has been searched well.
  BOOST_TEST(times_in_memory(inverse) >= 1);
}
#endif

BOOST_AUTO_TEST_CASE(kill_whoever_speaks_another_abi) {
  constexpr int x32 = 0x4000'0000;
  auto foreign = call(SYS_getpid);
  foreign.arch = AUDIT_ARCH_I386;
  const auto p = build_filter({});
  BOOST_TEST(verdict(p, foreign) == SECCOMP_RET_KILL_PROCESS);
  BOOST_TEST(verdict(p, call(x32)) == SECCOMP_RET_KILL_PROCESS);
}

BOOST_AUTO_TEST_SUITE_END()
