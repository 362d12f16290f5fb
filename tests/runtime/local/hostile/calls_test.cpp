#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

// Calls that walk around a filter by their number, and those that end who makes
// them. The table of single calls is in call_rows.cpp.

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(hostile_calls)

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

/// What is refused by its number, by the numbers that others have for it: a
/// child each, and how it ended.
constexpr const char* by_other_numbers = R"(
import ctypes, mmap, os
page = mmap.mmap(-1, 4096, prot=7)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
# push rbx; mov eax, N; xor ebx, ebx; xor ecx, ecx; xor edx, edx; int 0x80; ...
head, tail = bytes.fromhex('53b8'), bytes.fromhex('31db31c931d2cd805bc3')
def i386(number):
    page.seek(0)
    page.write(head + number.to_bytes(4, 'little') + tail)
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()
def x32(number):
    return ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | number), 0, 0)
def native(number):
    return ctypes.CDLL(None).syscall(ctypes.c_long(number), 0, 0)
def end(call, number):
    pid = os.fork()
    if pid == 0:
        call(number)
        os._exit(0)
    return os.waitpid(pid, 0)[1] & 127
def f():
    # ptrace mount setns unshare keyctl add_key bpf perf io_uring_setup
    # io_uring_enter memfd_secret socket socketcall reboot userfaultfd getpid
    old = [26, 21, 346, 310, 288, 286, 357, 336, 425, 426, 447, 359, 102, 88,
           374, 20]
    # The same, and those that only x32 has: rt_sigaction, execve, ptrace.
    new = [101, 165, 308, 272, 250, 248, 321, 298, 425, 426, 447, 41, 169, 323,
           39, 512, 520, 521]
    return [sorted({end(i386, n) for n in old}),
            sorted({end(x32, n) for n in new}),
            sorted({end(native, n) for n in [39, 101, 165, 425, 447]})]
)";

BOOST_AUTO_TEST_CASE(ends_every_forbidden_call_by_another_number) {
  for (const auto level : {isolation_level::standard, isolation_level::strict})
    for (auto* host : {&warm_python(), &cold_host()}) {
      auto run = troupe::test::tool(by_other_numbers);
      run.isolation = level;
      // SIGSYS each; by their own numbers they are answered.
      BOOST_TEST(host->run(run).value_json == "[[31],[31],[0]]");
    }
  if (::geteuid() != 0)
    return;
  // And where nothing holds them, one comes back from what is harmless.
  auto off = troupe::test::tool(
    std::string{by_other_numbers}
    + "def g():\n    return [end(i386, 20), end(native, 39)]\n");
  off.function = "g";
  off.isolation = isolation_level::off;
  BOOST_TEST(cold_host().run(off).value_json == "[0,0]");
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
