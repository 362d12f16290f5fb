#include "tests/runtime/local/warm/python_table.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(warm_and_cold)

namespace {

/// A slot that has come to its end has no group, memory or descriptors any
/// more; its number stays taken until the kernel and its interpreter have
/// looked after it, which is nobody's to wait for.
bool is_alive(int pid) {
  std::ifstream about{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text;
  std::getline(about, text);
  const auto name_end = text.rfind(") ");
  if (name_end == std::string::npos)
    return false;
  std::istringstream rest{text.substr(name_end + 2)};
  std::string state, ignored;
  unsigned flags = 0;
  rest >> state >> ignored >> ignored >> ignored >> ignored >> ignored >> flags;
  constexpr unsigned exiting = 4; // the kernel's PF_EXITING
  return (flags & exiting) == 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(tell_the_same_of_every_run) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  const auto& table = python_table();
  const auto before = warm_host().backend().slots().runs;
  for (const auto level : {isolation_level::standard, isolation_level::strict})
    for (const auto& [name, source] : table) {
      BOOST_TEST_CONTEXT(name << ", " << to_string(level)) {
        auto run = tool(source);
        run.isolation = level;
        BOOST_TEST(essence(warm_host().run(run))
                   == essence(cold_host().run(run)));
      }
    }
  // Or the test would have compared cold with cold.
  // Sources that come twice are compiled in a run of their own besides.
  BOOST_TEST(warm_host().backend().slots().runs >= before + 2 * table.size());
  BOOST_TEST(cold_host().backend().slots().runs == 0u);
}

BOOST_AUTO_TEST_CASE(keep_the_same_limits) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  struct {
    const char* source;
    void (*narrow)(limits&);
    const char* layer;
  } const cases[]{
    {"def f():\n  x = bytearray(1 << 30)\n  return len(x)\n",
     [](limits& l) { l.memory_bytes = 128u << 20; }, "memory_limit"},
    {"import os, time\ndef f():\n  while True:\n"
     "    if os.fork() == 0: time.sleep(60)\n",
     [](limits& l) { l.processes = 8; }, "process_limit"},
    {"def f():\n  while True: pass\n",
     [](limits& l) { l.cpu = std::chrono::milliseconds{1'000}; }, "cpu_clock"},
    {"def f():\n  open('/tmp/x', 'wb').write(bytes(4 << 20))\n",
     [](limits& l) { l.disk_bytes = 1u << 20; }, "seccomp"},
    {"import time\ndef f():\n  time.sleep(60)\n",
     [](limits& l) { l.wall = std::chrono::milliseconds{300}; }, "seccomp"},
    {"def f():\n  print('x' * 100000)\n",
     [](limits& l) { l.output_bytes = 1'000; }, "seccomp"},
    {"def f():\n  return 'x' * 100000\n",
     [](limits& l) { l.result_bytes = 10'000; }, "seccomp"},
  };
  for (const auto& c : cases) {
    if (!lacks(c.layer).empty())
      continue;
    auto run = tool(c.source);
    c.narrow(run.limits);
    const auto warm = warm_host().run(run);
    const auto cold = cold_host().run(run);
    BOOST_TEST_CONTEXT(c.source) {
      BOOST_TEST(to_string(warm.reason) == to_string(cold.reason));
      BOOST_TEST(warm.detail == cold.detail);
      BOOST_TEST(to_string(warm.status) == to_string(cold.status));
      BOOST_TEST(warm.stdout_text == cold.stdout_text);
    }
  }
}

// As Python, as libc and as a child process see them, changed ones included.
BOOST_AUTO_TEST_CASE(see_the_same_variables) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  auto asks = tool("import ctypes, os, subprocess\n"
                   "def f():\n"
                   "  libc = ctypes.CDLL(None)\n"
                   "  libc.getenv.restype = ctypes.c_char_p\n"
                   "  as_c = [libc.getenv(n).decode() for n in"
                   " (b'OWN', b'EMPTY', b'HOME')]\n"
                   "  os.environ['LATER'] = 'l'\n"
                   "  os.environ['OWN'] += '!'\n"
                   "  del os.environ['EMPTY']\n"
                   "  os.environb[b'BYTES'] = b'b'\n"
                   "  child = subprocess.run(['/usr/bin/env'], text=True,"
                   " capture_output=True).stdout.splitlines()\n"
                   "  return [as_c, sorted(child), sorted(os.environ.items()),"
                   " len(os.environb), libc.getenv(b'EMPTY')]\n");
  asks.env = {{"OWN", secret{"\xc3\xa4 = b"}}, {"EMPTY", secret{""}}};
  const auto cold = cold_host().run(asks);
  BOOST_REQUIRE(
    cold.value_json.starts_with("[[\"\xc3\xa4 = b\",\"\",\"/tmp\"]"));
  for (int twice = 0; twice < 2; ++twice)
    BOOST_TEST(warm_host().run(asks).value_json == cold.value_json);
  // Nothing of it is left for the next one of the slot.
  const auto other = tool("import os\ndef f():\n  return len(os.environ)\n");
  BOOST_TEST(warm_host().run(other).value_json
             == cold_host().run(other).value_json);
}

BOOST_AUTO_TEST_CASE(measure_what_a_warm_run_used) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  const auto r
    = warm_host().run(tool("def f():\n  x = bytearray(64 << 20)\n"
                           "  return sum(i * i for i in range(300000)) > 0\n"));
  BOOST_TEST(r.value_json == "true");
  BOOST_TEST(r.usage.cpu.count() > 5'000);
  if (lacks("memory_limit").empty())
    BOOST_TEST(r.usage.peak_memory_bytes > 64u << 20);
}

BOOST_AUTO_TEST_CASE(end_a_slot_that_does_not_obey) {
  TROUPE_NEEDS("own_uid"); // to find its processes, and to stop them
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  auto sleeper = tool("import os, time\ndef f():\n"
                      "  print(os.readlink('/proc/self/ns/pid'), flush=True)\n"
                      "  time.sleep(1000)\n");
  sleeper.id = run_id::make();
  auto seen = warm_host().start(sleeper);
  BOOST_REQUIRE(seen->wait_for_output("]\n"));
  auto space = seen->output();
  space.pop_back();
  std::vector<int> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code code;
    if (std::filesystem::read_symlink(entry.path() / "ns/pid", code) == space)
      pids.push_back(std::atoi(entry.path().filename().c_str()));
  }
  BOOST_REQUIRE(pids.size() == 2u); // the slot and the run
  for (int pid : pids)
    ::kill(pid, SIGSTOP);
  warm_host().backend().cancel(sleeper.id, exit_reason::cancelled);
  auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(to_string(outcome.answer->reason) == "cancelled");
  // Told only when nothing is left.
  for (int pid : pids)
    BOOST_TEST(!is_alive(pid));
  BOOST_TEST(warm_host().run(tool("def f():\n  return 1\n")).value_json == "1");
}

BOOST_AUTO_TEST_CASE(go_cold_where_a_slot_cannot_do_it) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::python));
  const auto before = warm_host().backend().slots().runs;
  auto chosen = tool("def f():\n  return 1\n");
  chosen.interpreter = "/usr/bin/python3";
  BOOST_TEST(warm_host().run(chosen).value_json == "1");
  BOOST_TEST(warm_host().run(shell("echo x")).stdout_text == "x\n");
  BOOST_TEST(warm_host().backend().slots().runs == before);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
