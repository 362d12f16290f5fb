// A strict run's own world (runtime/local/warm/process/run_namespaces.cpp).
#include "tests/runtime/local/warm/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

namespace troupe::test {

namespace {

struct strict_fixture : ready_fixture {
  /// Of `f` in `source`.
  seen run_strict(std::string source) {
    auto made = make_run(std::move(source), "f", "{}");
    made.isolation = isolation_level::strict;
    return finish(begin(std::move(made)));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(strict_world, strict_fixture)

BOOST_AUTO_TEST_CASE(is_of_every_run_its_own) {
  std::set<std::string> namespaces;
  for (int i = 0; i < 3; ++i)
    namespaces.insert(run_strict("import os\n"
                                 "def f():\n"
                                 "  return [os.readlink('/proc/self/ns/' + n)"
                                 " for n in ('pid', 'mnt', 'uts')]\n")
                        .value());
  BOOST_TEST(namespaces.size() == 3u);
  // In one slot, or in two that take turns.
  BOOST_TEST(carrier->counts().replaced == 0u);
  BOOST_TEST(makers->prepared <= 2u);
}

/// The ipc namespace is the slot's, which has none of them or goes.
BOOST_AUTO_TEST_CASE(shows_nothing_that_another_left_in_memory) {
  const auto get = [&](const std::string& line) {
    return run_strict("import ctypes\ndef f():\n  return "
                      "ctypes.CDLL(None).shmget("
                      + line + ") >= 0\n")
      .value();
  };
  BOOST_TEST(get("77, 4096, 0o1666") == "true");
  BOOST_TEST(carrier->counts().replaced == 1u);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(get("77, 1, 0") == "false");
}

BOOST_AUTO_TEST_CASE(ends_with_everybody_in_it) {
  // Whoever were left would hold the run's output open, which is read to its
  // end.
  for (const char* rest : {"time.sleep(1000)", "os.setsid(); time.sleep(1000)",
                           "signal.pthread_sigmask(0, range(1, 65));"
                           " time.sleep(1000)"}) {
    const auto s = run_strict("import os, signal, time\n"
                              "def f():\n"
                              "  for _ in range(5):\n"
                              "    if os.fork() == 0:\n"
                              "      "
                              + std::string{rest}
                              + "\n"
                                "  os.kill(1, 9)\n" // in vain
                                "  print('said', flush=True)\n"
                                "  return 'left'\n");
    BOOST_TEST(s.value() == "\"left\"");
    BOOST_TEST(s.out == "said\n");
    BOOST_TEST(s.ending.wait_status == 0);
  }
  BOOST_TEST(carrier->counts().replaced == 0u);
}

BOOST_AUTO_TEST_CASE(is_left_without_a_trace_in_what_the_next_run_used) {
  const auto busy = run_strict("import time\n"
                               "def f():\n"
                               "  while time.process_time() < 0.4: pass\n");
  BOOST_TEST(busy.ending.cpu.count() >= 390'000);
  for (int i = 0; i < 10; ++i) {
    const auto idle = run_strict("def f():\n  return 1\n");
    BOOST_TEST(idle.value() == "1");
    BOOST_TEST(idle.ending.cpu.count() > 0);
    BOOST_TEST(idle.ending.cpu.count() < 200'000);
  }
}

BOOST_AUTO_TEST_CASE(counts_what_orphans_used) {
  const auto s = run_strict("import os, time\n"
                            "def f():\n"
                            "  r, w = os.pipe()\n"
                            "  if os.fork() == 0:\n"
                            "    if os.fork() == 0:\n"
                            "      while time.process_time() < 0.3: pass\n"
                            "      os._exit(0)\n"
                            "    os._exit(0)\n"
                            "  os.close(w)\n"
                            "  os.read(r, 1)\n" // until both are dead
                            "  return 1\n");
  BOOST_TEST(s.value() == "1");
  BOOST_TEST(s.ending.cpu.count() >= 290'000);
}

BOOST_AUTO_TEST_CASE(tells_how_its_run_ended) {
  BOOST_TEST(
    run_strict("import os\ndef f():\n  os._exit(7)\n").ending.wait_status
    == 7 << 8);
  BOOST_TEST(run_strict("import os\ndef f():\n  os.kill(os.getpid(), 9)\n")
               .ending.wait_status
             == 9);
  BOOST_TEST(run_strict("def f():\n"
                        "  with open('/tmp/all', 'wb') as file:\n"
                        "    try:\n"
                        "      while True: file.write(bytes(1 << 20))\n"
                        "    except OSError as no: return no.errno\n")
               .ending.disk_full);
  BOOST_TEST(
    run_strict("import os\ndef f():\n  return os.listdir('/tmp')\n").value()
    == "[]");
  BOOST_TEST(carrier->counts().replaced == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
