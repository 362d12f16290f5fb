#include "tests/runtime/local/warm/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

namespace troupe::test {

namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

/// Whether nobody holds the other end any more.
bool at_end(const unique_fd& fd) {
  pollfd watched{fd.get(), POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLHUP) != 0;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(warm_launcher, ready_fixture)

BOOST_AUTO_TEST_CASE(answers_a_run) {
  const auto s = run("def add(a: int, b: int):\n"
                     "  print('adding')\n"
                     "  return a + b\n",
                     "add", R"({"a": 2, "b": 3})");
  BOOST_TEST(s.started);
  BOOST_TEST(s.ending.start_failure == "");
  BOOST_TEST(s.ending.wait_status == 0);
  BOOST_TEST(s.ending.cpu.count() > 0);
  BOOST_REQUIRE(s.answered);
  BOOST_TEST(s.value() == "5");
  BOOST_TEST(s.out == "adding\n");
  BOOST_TEST(s.err == "");
}

BOOST_AUTO_TEST_CASE(serves_one_organization_in_one_slot) {
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  BOOST_TEST(carrier->counts().slots == 1u);
  BOOST_TEST(makers->prepared == 1u);
}

BOOST_AUTO_TEST_CASE(never_gives_a_slot_to_another_organization) {
  const std::string who = "import os\ndef f():\n  return os.readlink("
                          "'/proc/self/ns/pid')\n";
  const auto first = run(who, "f").value();
  auto other = make_run(who, "f", "{}");
  other.organization = organization_id::make();
  const auto second = finish(begin(std::move(other))).value();
  const auto third = run(who, "f").value();
  BOOST_TEST(first != second);
  BOOST_TEST(first == third);
  BOOST_TEST(carrier->counts().slots == 2u);
}

BOOST_AUTO_TEST_CASE(keeps_runs_with_other_bounds_apart) {
  BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  auto small = make_run("def f():\n  return 2\n", "f", "{}");
  small.limits.disk_bytes = 1u << 20;
  BOOST_TEST(finish(begin(std::move(small))).value() == "2");
  BOOST_TEST(carrier->counts().slots == 2u);
}

BOOST_AUTO_TEST_CASE(gives_every_run_a_process_of_its_own) {
  const std::string source = "seen = []\n"
                             "import sys\n"
                             "def f():\n"
                             "  sys.modules.setdefault('left', []).append(1)\n"
                             "  return len(sys.modules['left'])\n";
  BOOST_TEST(run(source, "f").value() == "1");
  BOOST_TEST(run(source, "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(draws_other_random_numbers_in_every_child) {
  std::set<std::string> drawn;
  for (int i = 0; i < 8; ++i)
    drawn.insert(run("import random, uuid, os\n"
                     "def f():\n"
                     "  return random.random()\n",
                     "f")
                   .value());
  BOOST_TEST(drawn.size() == 8u);
}

BOOST_AUTO_TEST_CASE(hands_in_four_descriptors_and_no_more) {
  const auto s = run("import os\n"
                     "def f():\n"
                     "  found = []\n"
                     "  for fd in range(256):\n"
                     "    try:\n"
                     "      os.fstat(fd)\n"
                     "      found.append(fd)\n"
                     "    except OSError:\n"
                     "      pass\n"
                     "  return found\n",
                     "f");
  BOOST_TEST(s.value() == "[0,1,2,3]");
}

BOOST_AUTO_TEST_CASE(shows_an_environment_built_from_the_request) {
  const auto s = run("import os\n"
                     "def f():\n"
                     "  return [os.environ['GREETING'], len(os.environ),"
                     " os.environ['HOME']]\n",
                     "f");
  // Nine basics of every run, and its own.
  BOOST_TEST(s.value() == R"(["hello",10,"/tmp"])");
}

BOOST_AUTO_TEST_CASE(shows_no_path_of_the_host_in_what_it_was_started_with) {
  const auto s = run("def f():\n"
                     "  started_with = open('/proc/self/environ').read()\n"
                     "  return [x for x in started_with.split(chr(0))\n"
                     "          if 'troupe' in x and '=/' in x]\n",
                     "f");
  BOOST_TEST(s.value() == "[]");
}

BOOST_AUTO_TEST_CASE(collects_garbage_in_the_child) {
  const auto s = run("import gc\ndef f():\n  return gc.isenabled()\n", "f");
  BOOST_TEST(s.value() == "true");
}

BOOST_AUTO_TEST_CASE(ends_what_a_run_leaves_behind) {
  // Thirty processes that leave their session and ignore every signal.
  const auto f
    = begin(make_run("import os, signal, time\n"
                     "def f():\n"
                     "  for i in range(30):\n"
                     "    if os.fork() == 0:\n"
                     "      os.setsid()\n"
                     "      for s in range(1, 32):\n"
                     "        try: signal.signal(s, signal.SIG_IGN)\n"
                     "        except OSError: pass\n"
                     "      time.sleep(600)\n"
                     "  return 'gone'\n",
                     "f", "{}"));
  const auto s = finish(f);
  BOOST_TEST(s.value() == "\"gone\"");
  BOOST_TEST(at_end(f->out));
  BOOST_TEST(at_end(f->channel));
  // The processes are dead, so the slot may go on.
  BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  BOOST_TEST(makers->prepared == 1u);
}

BOOST_AUTO_TEST_CASE(replaces_a_slot_with_files_in_it) {
  BOOST_TEST(run("def f():\n"
                 "  open('/tmp/left', 'w').write('x')\n"
                 "  return 1\n",
                 "f")
               .value()
             == "1");
  BOOST_TEST(carrier->counts().replaced == 1u);
  BOOST_TEST(
    run("import os\ndef f():\n  return os.listdir('/tmp')\n", "f").value()
    == "[]");
}

BOOST_AUTO_TEST_CASE(keeps_a_slot_whose_files_were_removed) {
  run("import os\n"
      "def f():\n"
      "  open('/tmp/left', 'w').write('x')\n"
      "  os.remove('/tmp/left')\n",
      "f");
  BOOST_TEST(carrier->counts().replaced == 0u);
}

BOOST_AUTO_TEST_CASE(replaces_a_slot_whose_directory_was_changed) {
  run("import os\ndef f():\n  os.chmod('/tmp', 0)\n", "f");
  BOOST_TEST(carrier->counts().replaced == 1u);
}

BOOST_AUTO_TEST_CASE(replaces_a_slot_whose_first_process_was_changed) {
  const auto s = run("import os\n"
                     "def f():\n"
                     "  os.setpriority(os.PRIO_PROCESS, 1, 19)\n"
                     "  return 1\n",
                     "f");
  BOOST_TEST(s.value() == "1"); // the kernel permits it: same user
  BOOST_TEST(carrier->counts().replaced == 1u);
}

BOOST_AUTO_TEST_CASE(replaces_a_slot_with_shared_memory_in_it) {
  const auto s
    = run("import ctypes\n"
          "def f():\n"
          "  return ctypes.CDLL(None).shmget(7, 4096, 0o1600) >= 0\n",
          "f");
  BOOST_TEST(s.value() == "true");
  BOOST_TEST(carrier->counts().replaced == 1u);
}

BOOST_AUTO_TEST_CASE(does_not_let_a_run_end_its_slot) {
  const auto s = run("import os, signal\n"
                     "def f():\n"
                     "  for s in range(1, 65):\n"
                     "    try: os.kill(1, s)\n"
                     "    except OSError: pass\n"
                     "  return 'alive'\n",
                     "f");
  BOOST_TEST(s.value() == "\"alive\"");
  BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  BOOST_TEST(makers->prepared == 1u);
}

BOOST_AUTO_TEST_CASE(reports_how_a_process_ended) {
  const auto left
    = run("import os\ndef f():\n  os._exit(7)\n", "f").ending.wait_status;
  BOOST_TEST(WEXITSTATUS(left) == 7);
  const auto died
    = run("import os, signal\ndef f():\n  os.kill(os.getpid(), 11)\n", "f")
        .ending.wait_status;
  BOOST_TEST(WIFSIGNALED(died));
  BOOST_TEST(WTERMSIG(died) == SIGSEGV);
}

BOOST_AUTO_TEST_CASE(kills_a_run_that_is_asked_to_end) {
  const auto f = begin(make_run(
    "import time\ndef f():\n  print('on', flush=True)\n  time.sleep(600)\n",
    "f", "{}"));
  pollfd output{f->out.get(), POLLIN, 0};
  BOOST_REQUIRE(serve_until([&] { return f->started; }));
  BOOST_REQUIRE(::poll(&output, 1, 60'000) == 1);
  carrier->kill(f->run->id);
  const auto s = finish(f);
  BOOST_TEST(s.ending.killed);
  BOOST_TEST(WTERMSIG(s.ending.wait_status) == SIGKILL);
  BOOST_TEST(!s.ending.lost);
}

BOOST_AUTO_TEST_CASE(bounds_cpu_time) {
  auto busy = make_run("def f():\n  while True: pass\n", "f", "{}");
  busy.limits.cpu = std::chrono::seconds{1};
  const auto s = finish(begin(std::move(busy)));
  BOOST_TEST(s.ending.cpu_exceeded);
  BOOST_TEST(!s.ending.killed);
}

BOOST_AUTO_TEST_CASE(runs_without_isolation_when_told) {
  auto off = make_run("def f():\n  return 1\n", "f", "{}");
  off.isolation = isolation_level::off;
  BOOST_TEST(finish(begin(std::move(off))).value() == "1");
}

BOOST_AUTO_TEST_CASE(says_why_a_slot_could_not_be_made) {
  makers->spoil = true;
  const auto s = run("def f():\n  return 1\n", "f");
  BOOST_TEST(!s.started);
  BOOST_TEST(s.ending.start_failure.find("isolation failed at") == 0u);
  makers->spoil = false;
  BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(reports_runs_of_a_dead_interpreter_as_lost) {
  const auto f
    = begin(make_run("import time\ndef f():\n  time.sleep(600)\n", "f", "{}"));
  BOOST_REQUIRE(serve_until([&] { return f->started; }));
  ::kill(makers->interpreters().back(), SIGKILL);
  const auto s = finish(f);
  BOOST_TEST(s.ending.lost);
  BOOST_TEST(!s.answered);
  // And a new one takes its place.
  BOOST_REQUIRE(wait_for_interpreter());
  BOOST_TEST(run("def f():\n  return 1\n", "f").value() == "1");
  BOOST_TEST(carrier->counts().restarts == 1u);
}

BOOST_AUTO_TEST_CASE(blames_memory_when_the_kernel_killed_the_slot_for_it) {
  const unique_fd events{::memfd_create("memory.events", MFD_CLOEXEC)};
  const auto count = [&](std::string_view text) {
    BOOST_REQUIRE(::pwrite(events.get(), text.data(), text.size(), 0) > 0);
  };
  count("oom_kill 3\n");
  makers->memory_events = events.get();
  const auto sleep = "import time\ndef f():\n  time.sleep(600)\n";
  const auto die = [&] {
    const auto f = begin(make_run(sleep, "f", "{}"));
    BOOST_REQUIRE(serve_until([&] { return f->started; }));
    const auto zygote = std::to_string(makers->interpreters().back());
    std::ifstream children{"/proc/" + zygote + "/task/" + zygote + "/children"};
    pid_t slot = 0;
    BOOST_REQUIRE(children >> slot);
    ::kill(slot, SIGKILL);
    return finish(f).ending;
  };
  BOOST_TEST(die().lost); // the twin: three kills are an older run's
  const auto f = begin(make_run("def f():\n  return 1\n", "f", "{}"));
  BOOST_TEST(finish(f).value() == "1");
  count("oom_kill 4\n");
  const auto ending = die();
  BOOST_TEST(ending.memory_exceeded);
  BOOST_TEST(!ending.lost);
  BOOST_TEST(WTERMSIG(ending.wait_status) == SIGKILL);
}

BOOST_AUTO_TEST_CASE(leaks_nothing_in_three_hundred_runs) {
  const std::string source = "def f(n: int):\n  return list(range(n))\n";
  run(source, "f", R"({"n": 3})");
  const auto before = open_descriptors();
  for (int i = 0; i < 300; ++i)
    BOOST_REQUIRE(run(source, "f", R"({"n": 3})").value() == "[0,1,2]");
  // Fewer, when something of an older test was still being closed before.
  BOOST_TEST(open_descriptors() <= before);
  BOOST_TEST(carrier->counts().slots == 1u);
  BOOST_TEST(carrier->counts().runs == 301u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
