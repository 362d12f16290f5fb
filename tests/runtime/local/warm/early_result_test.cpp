#include "tests/runtime/local/warm/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <thread>

namespace troupe::test {

namespace {

zygote::zygote_options with_early_result() {
  auto options = without_armed();
  options.early_result = true;
  return options;
}

struct early_fixture : ready_fixture {
  early_fixture() : ready_fixture{with_early_result()} {
    // Who cannot tell what a run used says nothing early. A slot writes a zero
    // to it before each run, and reads it after.
    if (::write(peak.get(), "0345678\n", 8) != 8)
      throw std::runtime_error{"write"};
    makers->memory_peak = peak.get();
  }

  std::uint64_t early_results() const {
    return carrier->counts().early_results;
  }
  bool is_at_rest() {
    return serve_until([&] { return carrier->counts().idle == 1; });
  }

  unique_fd peak{::memfd_create("peak", MFD_CLOEXEC)};
};

/// Without one nobody is answered early.
bool has_another_processor() {
  return std::thread::hardware_concurrency() > 1;
}

/// Tells the slot that the run leaves, as a run that leaves does.
const std::string forger = "import ctypes, os, signal\n"
                           "def say():\n"
                           "  return ctypes.CDLL(None).sigqueue(\n"
                           "    1, signal.SIGUSR1, ctypes.c_void_p(0x747a7931))"
                           "\n";

} // namespace

BOOST_FIXTURE_TEST_SUITE(early_result, early_fixture)

BOOST_AUTO_TEST_CASE(comes_from_a_run_that_was_alone) {
  if (!has_another_processor())
    return;
  for (int i = 0; i < 5; ++i) {
    const auto s = run("def f(n: int):\n"
                       "  print('said')\n"
                       "  return sum(range(n))\n",
                       "f", R"({"n": 100000})");
    BOOST_TEST(s.value() == "4999950000");
    BOOST_TEST(s.out == "said\n");
    BOOST_TEST(s.ending.wait_status == 0);
    BOOST_TEST(s.ending.cpu.count() > 500);
    BOOST_TEST(s.ending.cpu.count() < 1'000'000);
    BOOST_TEST(s.ending.peak_memory_bytes == 345'678u);
    BOOST_TEST(!s.ending.memory_exceeded);
    BOOST_TEST(is_at_rest());
  }
  BOOST_TEST(early_results() == 5u);
  // The same slot every time, and it came back clean.
  BOOST_TEST(makers->prepared == 1u);
  BOOST_TEST(carrier->counts().replaced == 0u);
}

BOOST_AUTO_TEST_CASE(is_not_waited_for_by_the_next_run) {
  // No slot but the one whose run is over: it serves when it is free, and
  // nobody makes a second one for the sake of a moment.
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  BOOST_TEST(makers->prepared == 1u);
}

BOOST_AUTO_TEST_CASE(does_not_come_where_a_process_was_left) {
  const auto s = run("import os, time\n"
                     "def f():\n"
                     "  pid = os.fork()\n"
                     "  if pid == 0:\n"
                     "    time.sleep(1000)\n"
                     "  return 'left'\n",
                     "f");
  BOOST_TEST(s.value() == "\"left\"");
  BOOST_TEST(s.ending.wait_status == 0);
  BOOST_TEST(early_results() == 0u);
  BOOST_TEST(carrier->counts().running == 0u);
}

BOOST_AUTO_TEST_CASE(does_not_come_where_a_process_has_been) {
  const auto s = run("import subprocess\n"
                     "def f():\n"
                     "  return subprocess.run(['true']).returncode\n",
                     "f");
  BOOST_TEST(s.value() == "0");
  BOOST_TEST(s.ending.wait_status == 0);
  BOOST_TEST(early_results() == 0u);
}

BOOST_AUTO_TEST_CASE(does_not_come_where_a_thread_is_at_work) {
  const auto s = run("import threading, time\n"
                     "def f():\n"
                     "  threading.Thread(target=time.sleep, args=(1000,),\n"
                     "                   daemon=True).start()\n"
                     "  return 'busy'\n",
                     "f");
  BOOST_TEST(s.value() == "\"busy\"");
  BOOST_TEST(s.ending.wait_status == 0);
  BOOST_TEST(early_results() == 0u);
}

BOOST_AUTO_TEST_CASE(comes_from_nobody_who_fails_or_is_killed) {
  BOOST_TEST(run("import os\ndef f():\n  os._exit(3)\n", "f").ending.wait_status
             == 3 << 8);
  const auto killed
    = run("import os\ndef f():\n  os.kill(os.getpid(), 9)\n", "f");
  BOOST_TEST(killed.ending.wait_status == SIGKILL);
  BOOST_TEST(early_results() == 0u);
}

BOOST_AUTO_TEST_CASE(is_not_asked_for_where_several_run) {
  const auto first
    = begin(make_run("import time\ndef f():\n  time.sleep(600)\n", "f", "{}"));
  BOOST_REQUIRE(serve_until([&] { return first->started; }));
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  carrier->kill(first->run->id);
  BOOST_TEST(finish(first).ending.killed);
  BOOST_TEST(early_results() == 0u);
}

BOOST_AUTO_TEST_CASE(does_not_mind_signals_of_a_tool) {
  // Its own handler is called, the slot hears the same signal, and the tool
  // goes on.
  const auto s = run("import os, signal\n"
                     "heard = []\n"
                     "def f():\n"
                     "  signal.signal(signal.SIGUSR1,\n"
                     "                lambda *_: heard.append(1))\n"
                     "  os.kill(0, signal.SIGUSR1)\n"
                     "  os.kill(1, signal.SIGUSR1)\n"
                     "  return len(heard)\n",
                     "f");
  BOOST_TEST(s.value() == "1");
  BOOST_TEST(s.ending.wait_status == 0);
}

BOOST_AUTO_TEST_CASE(ends_a_tool_that_forges_it) {
  const auto s = run(forger
                       + "def f():\n"
                         "  assert say() == 0\n"
                         "  while True: pass\n",
                     "f");
  BOOST_TEST(!s.answered);
  BOOST_TEST(s.ending.wait_status == 0); // it said that it left well
  BOOST_TEST(is_at_rest());
  BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(is_not_believed_of_a_process_that_the_tool_made) {
  const auto s = run(forger
                       + "def f():\n"
                         "  pid = os.fork()\n"
                         "  if pid == 0:\n"
                         "    say()\n"
                         "    os._exit(0)\n"
                         "  os.waitpid(pid, 0)\n"
                         "  return 'alive'\n",
                     "f");
  BOOST_TEST(s.value() == "\"alive\"");
}

BOOST_AUTO_TEST_CASE(does_not_hide_what_was_left_in_the_slot) {
  BOOST_TEST(
    run("def f():\n  open('/tmp/left', 'w').write('x')\n", "f").answered);
  BOOST_TEST(serve_until([&] { return carrier->counts().slots == 0; }));
  BOOST_TEST(early_results() == (has_another_processor() ? 1u : 0u));
  BOOST_TEST(carrier->counts().replaced == 1u);
}

BOOST_AUTO_TEST_CASE(can_be_left_out) {
  auto options = with_early_result();
  options.early_result = false;
  ready_fixture other{options};
  BOOST_TEST(other.run("def f():\n  return 1\n", "f").value() == "1");
  BOOST_TEST(other.carrier->counts().early_results == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
