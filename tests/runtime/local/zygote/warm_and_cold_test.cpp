#include "tests/runtime/local/zygote/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(warm_and_cold)

namespace {

const std::map<std::string, std::string> table{
  {"a value", "def f():\n  return {'a': [1, 2.5, None, True, 'x']}\n"},
  {"nothing", "def f():\n  pass\n"},
  {"both outputs",
   "import sys\ndef f():\n  print('o')\n  print('e', file=sys.stderr)\n"},
  {"raw outputs",
   "import os\ndef f():\n  os.write(1, b'o')\n"
   "  os.write(2, b'e')\n"},
  {"an exception", "def f():\n  def g(): raise ValueError('bad')\n  g()\n"},
  {"a syntax error", "def f(:\n"},
  {"no such function", "def g():\n  return 1\n"},
  {"a system exit", "import sys\ndef f():\n  sys.exit(3)\n"},
  {"a sudden exit", "import os\ndef f():\n  os._exit(3)\n"},
  {"a signal", "import os\ndef f():\n  os.kill(os.getpid(), 9)\n"},
  {"who it is",
   "import os\ndef f():\n  return [os.getuid(), os.getgid(), os.getgroups(),"
   " os.getcwd(), os.uname().nodename]\n"},
  {"its environment",
   "import os\ndef f():\n  return dict(sorted(os.environ.items()))\n"},
  {"its descriptors",
   "import os\ndef f():\n  return sorted(os.listdir('/proc/self/fd'))[:4]\n"},
  {"its limits",
   "import resource as r\ndef f():\n  return [r.getrlimit(n) for n in"
   " (r.RLIMIT_NOFILE, r.RLIMIT_FSIZE, r.RLIMIT_CORE, r.RLIMIT_STACK,"
   " r.RLIMIT_MEMLOCK)]\n"},
  {"its rights",
   "def f():\n  keep = ('Cap', 'NoNewPrivs', 'Seccomp:', 'Sig', 'Uid', 'Gid',"
   " 'Groups')\n"
   "  return [l.strip() for l in open('/proc/self/status')"
   " if l.startswith(keep) and not l.startswith('SigQ')]\n"},
  // As a set: a world of a strict slot has a /proc that covers another.
  {"its mounts",
   "def f():\n  return sorted({(l.split()[4], l.split()[5]) for l in"
   " open('/proc/self/mountinfo')})\n"},
  {"its places",
   "import os\ndef f():\n  return [sorted(os.listdir(d)) for d in"
   " ('/', '/tmp', '/dev', '/etc', '/dev/shm')]\n"},
  {"its neighbours",
   "import os\ndef f():\n  return len([d for d in os.listdir('/proc') if"
   " d.isdigit() and d != str(os.getpid())]) <= 1\n"},
  {"its groups",
   "def f():\n  return sorted(l.split(':')[2] for l in"
   " open('/proc/self/cgroup'))[0]\n"},
  {"its flags",
   "import sys\ndef f():\n  return [sys.flags.isolated, sys.flags.utf8_mode,"
   " sys.dont_write_bytecode, sys.getfilesystemencoding(),"
   " sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors,"
   " sys.stdin.encoding]\n"},
  {"its path", "import sys\ndef f():\n  return sys.path\n"},
  {"its session",
   "import os\ndef f():\n  return os.getsid(0) == os.getpid()\n"},
  {"denied files",
   "def f():\n  seen = []\n"
   "  for p in ('/etc/shadow', '/root/x', '/proc/1/environ', '/sys/kernel'):\n"
   "    try: open(p).read(); seen.append(p)\n"
   "    except OSError as e: seen.append(e.errno)\n"
   "  return seen\n"},
  {"denied calls",
   "import ctypes\ndef f():\n  libc = ctypes.CDLL(None, use_errno=True)\n"
   "  seen = []\n"
   "  for n in (101, 165, 272, 175, 246, 248, 310, 321, 323, 425, 435):\n"
   "    r = libc.syscall(n, 0, 0, 0, 0, 0, 0)\n"
   "    seen.append(ctypes.get_errno() if r < 0 else r)\n"
   "  return seen\n"},
  {"a write beyond its place",
   "def f():\n  try: open('/usr/x', 'w')\n"
   "  except OSError as e: return e.errno\n"},
  {"a subprocess",
   "import subprocess\ndef f():\n  return subprocess.run(['sh', '-c',"
   " 'echo $HOME; ls /proc/self/fd | wc -l'], capture_output=True,"
   " text=True).stdout\n"},
  {"threads",
   "import threading\ndef f():\n  seen = []\n"
   "  t = [threading.Thread(target=seen.append, args=(i,)) for i in range(4)]\n"
   "  [x.start() for x in t]; [x.join() for x in t]\n"
   "  return sorted(seen)\n"},
  {"a coroutine",
   "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n"
   "  return 'done'\n"},
  {"a late import",
   "def f():\n  import sqlite3, xml.dom.minidom\n"
   "  return sqlite3.connect(':memory:').execute("
   "'select 1').fetchone()\n"},
  {"a process pool",
   "from concurrent.futures import ProcessPoolExecutor\n"
   "def f():\n  import os\n"
   "  pid = os.fork()\n"
   "  if pid == 0: os._exit(5)\n"
   "  return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"},
};

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
