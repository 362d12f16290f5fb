#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

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
