// What of a run outlives it where its slot serves the next one.
#include "tests/runtime/local/warm/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/file.h>

namespace troupe::test {

BOOST_FIXTURE_TEST_SUITE(slot_traces, ready_fixture)

BOOST_AUTO_TEST_CASE(shows_the_next_run_no_trace_of_a_run) {
  const auto s = run("import ctypes, os, time\n"
                     "def f():\n"
                     "  libc = ctypes.CDLL(None)\n"
                     "  sent = sum(libc.sigqueue(1, 40, 1) == 0\n"
                     "             for _ in range(2000))\n"
                     "  for path in ('/tmp', '/dev/shm'):\n"
                     "    os.utime(path, ns=(987654321, 123456789))\n"
                     "  return sent > 0\n",
                     "f");
  BOOST_TEST(s.value() == "true");
  BOOST_TEST(run("import os\n"
                 "def f():\n"
                 "  status = dict(line.split(':', 1)\n"
                 "                for line in open('/proc/self/status'))\n"
                 "  return [status['SigQ'].split('/')[0].strip(),\n"
                 "          [os.stat(path).st_mtime_ns == 123456789\n"
                 "           for path in ('/tmp', '/dev/shm')]]\n",
                 "f")
               .value()
             == R"(["0",[false,false]])");
  BOOST_TEST(makers->prepared == 1u);
}

BOOST_AUTO_TEST_CASE(keeps_a_run_from_what_outlives_it) {
  const auto s
    = run("import ctypes, errno, fcntl, os, socket\n"
          "libc = ctypes.CDLL(None, use_errno=True)\n"
          "def why(function):\n"
          "  try: return str(function())\n"
          "  except OSError as no: return errno.errorcode[no.errno]\n"
          "def call(*arguments):\n"
          "  libc.syscall(*arguments)\n"
          "  return errno.errorcode[ctypes.get_errno()]\n"
          "def f():\n"
          "  a, b = socket.socketpair()\n"
          "  fd = os.open('/tmp', os.O_RDONLY)\n"
          "  return [why(lambda: os.utime('/dev/null')),\n"
          "          why(lambda: fcntl.ioctl(fd, 0x40086602, bytes(8))),\n"
          "          why(lambda: fcntl.ioctl(fd, 0x401c5820, bytes(28))),\n"
          "          why(lambda: a.setsockopt(41, 32, bytes(32))),\n"
          "          why(lambda: a.getsockopt(1, 77, 4)),\n"
          "          call(314, 1, bytes(48), 0),\n"
          "          why(lambda: open('/dev/null', 'w').write('x'))]\n",
          "f");
  BOOST_TEST(s.value()
             == R"(["EROFS","EPERM","EPERM","EPERM","EPERM","EPERM","1"])");
}

BOOST_AUTO_TEST_CASE(lets_no_lock_of_a_run_outlive_it) {
  const auto s = run("import fcntl\n"
                     "def f():\n"
                     "  fcntl.flock(0, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
                     "  try: fcntl.lockf(0, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
                     "  except OSError: return 'read only'\n",
                     "f");
  BOOST_TEST(s.value() == "\"read only\"");
  const unique_fd ours{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  BOOST_TEST(::flock(ours.get(), LOCK_EX | LOCK_NB) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
