// What hostile tools do, rather than ask for: they fill, fork, flood, hang,
// forge and stay. Each ends for a reason that names it, in every way of running
// where it can be said; beside it stands what the same deed does within bounds.
#include "tests/runtime/local/zygote/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <optional>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(hostile_behaviour)

namespace {

void little_memory(limits& l) {
  l.memory_bytes = 128u << 20;
  l.disk_bytes = 1u << 30;
}
void little_disk(limits& l) {
  l.disk_bytes = 2u << 20;
}
void few_files(limits& l) {
  l.inodes = 64;
}
void few_processes(limits& l) {
  l.processes = 24;
  l.wall = seconds{10};
}
void little_time(limits& l) {
  l.wall = milliseconds{700};
}
void little_cpu(limits& l) {
  l.cpu = milliseconds{1'000};
}
void little_result(limits& l) {
  l.result_bytes = 64u << 10;
}
void any(limits&) {}

struct row {
  const char* name;
  const char* rule;
  void (*narrow)(limits&);
  const char* reason; // "|" between several; "=" and a value, or *: success
  const char* layer;  // needed on the host, "": none
  const char* python; // the body of f; "": not said in this language
  const char* node;
  const char* shell;
};

constexpr std::array rows{
  row{"fills_its_disk", "P4", little_disk, "disk_limit", "",
      "open('/tmp/x', 'wb').write(bytes(8 << 20))",
      "require('fs').writeFileSync('/tmp/x', Buffer.alloc(8 << 20))",
      "head -c 8388608 /dev/zero > /tmp/x"},
  row{"fills_shared_memory", "P4", little_disk, "disk_limit", "",
      "open('/dev/shm/x', 'wb').write(bytes(8 << 20))",
      "require('fs').writeFileSync('/dev/shm/x', Buffer.alloc(8 << 20))",
      "head -c 8388608 /dev/zero > /dev/shm/x"},
  row{"makes_a_sparse_giant", "P4", little_disk, "exited|disk_limit|signaled",
      "",
      "import os; os.truncate(os.open('/tmp/x', os.O_CREAT | os.O_RDWR), "
      "1 << 40)",
      "require('fs').truncateSync((require('fs').writeFileSync('/tmp/x', ''),"
      "'/tmp/x'), 2 ** 40)",
      "truncate -s 1T /tmp/x"},
  row{"makes_too_many_files", "P4", few_files, "disk_limit", "",
      "[open(f'/tmp/{i}', 'w') .close() for i in range(1000)]",
      "for (let i = 0; i < 1000; ++i) require('fs').writeFileSync('/tmp/' + i,"
      " '')",
      "i=0; while [ $i -lt 1000 ]; do : > /tmp/$i || exit 1; i=$((i+1)); done"},
  row{"eats_memory", "P4", little_memory, "memory_limit", "memory_limit",
      "x = bytearray(1 << 30); return len(x)",
      "const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1))",
      "tail /dev/zero"},
  row{"eats_memory_by_files", "P4", little_memory, "memory_limit",
      "memory_limit",
      "f = open('/tmp/x', 'wb')\n  while True: f.write(bytes(1 << 20))",
      "const f = require('fs').openSync('/tmp/x', 'w'); for (;;) "
      "require('fs').writeSync(f, Buffer.alloc(1 << 20))",
      "cat /dev/zero > /tmp/x"},
  row{"eats_memory_in_a_child", "P4", little_memory,
      "memory_limit|=\"survived\"", "memory_limit",
      "import os\n  if os.fork() == 0: x = bytearray(1 << 30); os._exit(0)\n"
      "  assert os.wait()[1] == 0",
      "", ""},
  row{"forks_like_a_bomb", "P4", few_processes,
      "pids_limit|memory_limit|wall_timeout", "process_limit",
      "import os\n  while True: os.fork()",
      "for (;;) require('child_process').spawn('sleep', ['1000'])"
      ".on('error', () => process.exit(1))",
      "b() { b | b & }; b; sleep 1000"},
  row{"makes_threads", "P4", few_processes, "pids_limit", "process_limit",
      "import threading, time\n"
      "  for i in range(1000): threading.Thread(target=time.sleep, "
      "args=(1000,), daemon=True).start()",
      "", ""},
  row{"leaves_zombies", "P5", few_processes, "exited|pids_limit",
      "process_limit",
      "import os\n  for i in range(1000):\n    if os.fork() == 0: os._exit(0)",
      "", "i=0; while [ $i -lt 200 ]; do true & i=$((i+1)); done; exit 3"},
  row{"computes_for_ever", "P4", little_cpu, "cpu_timeout", "cpu_clock",
      "\n  while True: pass", "for (;;);", "while :; do :; done"},
  row{"computes_in_many_children", "P4", little_cpu, "cpu_timeout", "cpu_clock",
      "import os, time\n  for i in range(4):\n    if os.fork() == 0:\n"
      "      while True: pass\n  time.sleep(1000)",
      "for (let i = 0; i < 4; ++i) require('child_process').spawn('sh', ['-c',"
      " 'while :; do :; done']); return new Promise(() => setInterval(() => "
      "{}, 1000))",
      "for i in 1 2 3 4; do (while :; do :; done) & done; wait"},
  row{"computes_in_children_of_short_life", "P4", little_cpu, "cpu_timeout",
      "cpu_clock",
      "import os\n  while True:\n    if os.fork() == 0:\n"
      "      sum(range(300000)); os._exit(0)\n    os.wait()",
      "",
      "while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done); done"},
  row{"sleeps", "P4", little_time, "wall_timeout", "",
      "import time; time.sleep(1000)",
      "return new Promise(() => "
      "setInterval(() => {}, 1000))",
      "sleep 1000"},
  row{"ignores_signals", "P4", little_time, "wall_timeout", "",
      "import signal, time\n  for s in range(1, 65):\n    try: "
      "signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): "
      "pass\n  time.sleep(1000)",
      "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {"
      "}); return new Promise(() => setInterval(() => {}, 1000))",
      "trap '' TERM INT HUP QUIT; while :; do sleep 1000; done"},
  row{"stops_itself", "P4", little_time, "wall_timeout", "",
      "import os; os.kill(os.getpid(), 19)",
      "process.kill(process.pid, "
      "'SIGSTOP'); return new Promise(() => setInterval(() => {}, 1000))",
      "kill -STOP $$"},
  row{"stops_everybody", "P4", little_time, "wall_timeout", "",
      "import os, time\n  if os.fork() == 0: os.kill(-1, 19)\n"
      "  time.sleep(1000)",
      "", "(sleep 0.1; kill -STOP -1) & sleep 1000"},
  row{"waits_for_a_pipe_of_its_own", "P4", little_time, "wall_timeout", "",
      "import os; os.mkfifo('/tmp/f'); open('/tmp/f').read()", "",
      "mkfifo /tmp/f; cat /tmp/f"},
  row{"renews_its_death_signal", "P5", little_time, "wall_timeout", "",
      "import ctypes, time; ctypes.CDLL(None).prctl(1, 0); time.sleep(1000)",
      "", ""},
  row{"leaves_daemons", "P5", any, "=1", "",
      "import os, subprocess, time\n  for i in range(3):\n"
      "    if os.fork() == 0:\n      os.setsid()\n"
      "      if os.fork() == 0:\n        os.setsid(); time.sleep(1000)\n"
      "      os._exit(0)\n  return 1",
      "for (let i = 0; i < 3; ++i) require('child_process').spawn('sleep', "
      "['1000'], {detached: true, stdio: 'ignore'}).unref(); return 1",
      ""},
  row{"becomes_a_subreaper_of_orphans", "P5", any, "=1", "",
      "import ctypes, os, time; ctypes.CDLL(None).prctl(36, 1)\n"
      "  if os.fork() == 0:\n    if os.fork() == 0: time.sleep(1000)\n"
      "    os._exit(0)\n  return 1",
      "", ""},
  row{"holds_its_outputs_open_elsewhere", "P5", any, "=1", "",
      "import subprocess; subprocess.Popen(['sleep', '1000']); return 1",
      "require('child_process').spawn('sleep', ['1000'], {stdio: 'inherit', "
      "detached: true}).unref(); return 1",
      ""},
  row{"closes_its_outputs", "P9", any, "=1", "",
      "import os; os.close(0); os.close(1); os.close(2); return 1",
      "require('fs').closeSync(0); return 1", ""},
  row{"closes_its_answer", "P9", any, "exited", "",
      "import os; os.close(3); return 1", "", ""},
  row{"closes_everything", "P9", any, "exited", "",
      "import os; os.closerange(0, 100); return 1", "", ""},
  row{"leaves_before_it_answers", "P9", any, "exited", "",
      "import os; os._exit(0)", "process.exit(0)", ""},
  row{"forges_an_answer", "P9", any, "exited", "",
      "import os; os.write(3, b'TRP1' + bytes(28) + b'{\"value\": 42}'); "
      "os._exit(0)",
      "require('fs').writeSync(3, Buffer.from('TRP1{\"value\": 42}')); "
      "process.exit(0)",
      ""},
  row{"prints_what_looks_like_an_answer", "P9", any, "=1", "",
      "print('bd5c46ee9d4bd9c19f4aef9bd5ac4ef9{\"value\": 42}'); return 1",
      "console.log('{\"value\": 42}'); return 1", ""},
  row{"answers_without_end", "P9", little_result, "output_limit", "",
      "import os\n  while True: os.write(3, bytes(65536))", "", ""},
  row{"answers_too_much", "P9", little_result, "output_limit|exited", "",
      "return 'x' * (1 << 20)", "return 'x'.repeat(1 << 20)", ""},
  row{"answers_too_deep", "P9", any, "=*", "",
      "x = []\n  for _ in range(100000): x = [x]\n  return x",
      "let x = []; for (let i = 0; i < 100000; ++i) x = [x]; return x", ""},
  row{"crashes", "P11", any, "signaled", "",
      "import ctypes; ctypes.string_at(0)",
      "process.kill(process.pid, "
      "'SIGSEGV'); return new Promise(() => {})",
      "kill -SEGV $$"},
  row{"kills_itself", "P9", any, "signaled", "",
      "import os; os.kill(os.getpid(), 9)",
      "process.kill(process.pid, "
      "'SIGKILL'); return new Promise(() => {})",
      "kill -KILL $$"},
  row{"kills_everybody", "P1", any, "=1", "",
      "import os\n  try: os.kill(-1, 9)\n  except ProcessLookupError: pass\n"
      "  return 1",
      "", ""},
  row{
    "kills_pid_1", "P1", any, "=1", "",
    "import os\n  for s in (9, 19, 15, 11, 6):\n    os.kill(1, s)\n  return 1",
    "for (const s of ['SIGKILL', 'SIGSTOP', 'SIGTERM']) process.kill(1, s); "
    "return 1",
    ""},
  row{"slows_pid_1_down", "P2", any, "=1", "",
      "import os\n  for f in (lambda: os.setpriority(0, 1, 19),\n"
      "            lambda: os.sched_setaffinity(1, {0})):\n"
      "    try: f()\n    except OSError: pass\n  return 1",
      "", ""},
  row{"floods_pid_1_with_signals", "P4", any, "=1", "",
      "import ctypes, os\n  for i in range(5000):\n"
      "    try: os.kill(1, 40)\n    except OSError: pass\n  return 1",
      "", ""},
  row{"lowers_its_own_limits", "P3", any, "=1", "",
      "import resource\n"
      "  for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC,\n"
      "            resource.RLIMIT_FSIZE):\n"
      "    resource.setrlimit(r, (16, 16))\n  return 1",
      "", ""},
  row{"spoils_its_directories", "P3", any, "=1", "",
      "import os\n  for d in ('/tmp', '/dev/shm'):\n"
      "    os.makedirs(d + '/a/b'); \n"
      "    try: os.chmod(d, 0)\n    except OSError: pass\n  return 1",
      "", ""},
  row{"leaves_shared_memory_and_queues", "P3", any, "=*", "",
      "import ctypes\n  c = ctypes.CDLL(None)\n"
      "  c.shmget(77, 4096, 0o1666); c.semget(77, 1, 0o1666)\n"
      "  c.msgget(77, 0o1666); return 1",
      "", "ipcmk -M 4096 >/dev/null; ipcmk -S 1 >/dev/null; exit 0"},
};

struct asker {
  const char* name;
  local_host& (*host)();
  language lang;
};
constexpr asker askers[] = {{"python, warm", warm_python, language::python},
                            {"python, cold", cold_host, language::python},
                            {"node, warm", warm_node, language::javascript},
                            {"node", cold_host, language::javascript},
                            {"shell", cold_host, language::shell}};

/// Nothing when the row is not said in this language.
std::optional<prepared_run> make(const row& r, language lang) {
  const char* body = lang == language::python ? r.python
    : lang == language::shell                 ? r.shell
                                              : r.node;
  if (*body == '\0')
    return std::nullopt;
  prepared_run run;
  run.organization = default_organization();
  run.lang = lang;
  run.name = run.function = "f";
  run.limits.wall = seconds{30};
  r.narrow(run.limits);
  run.kind = lang == language::shell ? run_kind::command : run_kind::source;
  if (lang == language::shell)
    run.command = body;
  else
    run.source = lang == language::python
      ? "def f():\n  " + std::string{body} + "\n"
      : "function f() { " + std::string{body} + "\n}\n";
  return run;
}

bool is_one_of(const run_result& r, std::string_view expected) {
  for (;;) {
    auto word = expected.substr(0, expected.find('|'));
    if (word.starts_with('=')
          ? r.status == run_status::success
            && (word == "=*" || r.value_json == word.substr(1))
          : to_string(r.reason) == word && r.status == run_status::error)
      return true;
    if (word.size() == expected.size())
      return false;
    expected.remove_prefix(word.size() + 1);
  }
}

/// The next run is none the worse, whoever came before it.
void check_next(const asker& who) {
  auto next = make(row{"", "", any, "", "",
                       "import os, resource, ctypes\n"
                       "  c = ctypes.CDLL(None)\n"
                       "  return [os.listdir('/tmp'), os.listdir('/dev/shm'),"
                       " os.getpriority(0, 0) , c.shmget(77, 1, 0) < 0,"
                       " c.semget(77, 1, 0) < 0, c.msgget(77, 0) < 0,"
                       " resource.getrlimit(resource.RLIMIT_NOFILE)[0],"
                       " len(os.sched_getaffinity(0)) == os.cpu_count(),"
                       " sorted(p for p in os.listdir('/proc') if p.isdigit()"
                       " and int(p) != os.getpid() and p != '1')]",
                       "return require('fs').readdirSync('/tmp')",
                       "ls -A /tmp /dev/shm | grep -v : | tr -d '\\n'"},
                   who.lang);
  auto r = who.host().run(*next);
  BOOST_TEST((r.status == run_status::success), r.detail << r.stderr_text);
  if (who.lang == language::python)
    BOOST_TEST(r.value_json
               == "[[],[]," + std::to_string(::getpriority(PRIO_PROCESS, 0))
                 + ",true,true,true,1024,true,[]]"); // as nice as we are
  else if (who.lang == language::shell)
    BOOST_TEST(r.stdout_text == "");
  else
    BOOST_TEST(r.value_json == "[]");
}

} // namespace

BOOST_AUTO_TEST_CASE(ends_for_a_reason_and_leaves_the_next_run_alone) {
  std::size_t tried = 0;
  for (const auto& r : rows) {
    if (*r.layer != '\0' && !lacks(r.layer).empty())
      continue;
    for (const auto& who : askers) {
      auto run = make(r, who.lang);
      if (!run)
        continue;
      BOOST_TEST_CONTEXT(r.rule << " " << r.name << ", " << who.name) {
        const auto begun = std::chrono::steady_clock::now();
        auto got = who.host().run(*run);
        const auto took = std::chrono::steady_clock::now() - begun;
        BOOST_TEST(is_one_of(got, r.reason),
                   to_string(got.reason)
                     << " " << got.value_json << " instead of " << r.reason
                     << ": " << got.detail << got.stderr_text.substr(0, 500));
        // P4: within the limit and two seconds; five on a busy machine.
        BOOST_TEST((took < run->limits.wall + seconds{5}));
        check_next(who);
        ++tried;
      }
    }
  }
  BOOST_TEST_MESSAGE(tried << " hostile runs");
}

BOOST_AUTO_TEST_CASE(lets_the_same_deeds_pass_within_bounds) {
  // The twin of the bounds: a smaller appetite.
  struct {
    const char* name;
    const char* body;
    const char* value;
  } const twins[]{
    {"disk", "open('/tmp/x', 'wb').write(bytes(8 << 20)); return 1", "1"},
    {"files", "[open(f'/tmp/{i}', 'w').close() for i in range(1000)]; return 1",
     "1"},
    {"memory", "x = bytearray(100 << 20); return len(x)", "104857600"},
    {"processes",
     "import os\n  for i in range(20):\n    if os.fork() == 0: os._exit(0)\n"
     "  return 1",
     "1"},
    {"threads",
     "import threading\n  t = [threading.Thread(target=lambda: 0) for _ in "
     "range(20)]\n  [x.start() for x in t]; [x.join() for x in t]; return 1",
     "1"},
    {"time", "import time; time.sleep(0.1); return 1", "1"},
    {"cpu", "return sum(range(100000)) > 0", "true"},
    {"result", "return len('x' * (1 << 20))", "1048576"},
    {"queues",
     "import ctypes; c = ctypes.CDLL(None); c.shmget(77, 4096, 0o1666)\n"
     "  return c.shmget(77, 1, 0) >= 0",
     "true"},
  };
  for (const auto& t : twins)
    for (const auto& who : {askers[0], askers[1]})
      BOOST_TEST_CONTEXT(t.name << ", " << who.name) {
        auto run
          = make(row{"", "", any, "", "", t.body, "", ""}, language::python);
        BOOST_TEST(who.host().run(*run).value_json == t.value);
      }
}

BOOST_AUTO_TEST_CASE(keeps_two_runs_at_once_apart) {
  // P3: one sets out everything that another could find.
  auto first
    = shell("python3 -c \""
            "import socket, time, ctypes, fcntl\n"
            "s = socket.socket(socket.AF_UNIX); s.bind('\\0troupe-hostile'); "
            "s.listen()\n"
            "open('/dev/shm/hostile', 'w').write('x'); "
            "open('/tmp/hostile', 'w').write('x')\n"
            "ctypes.CDLL(None).shmget(78, 4096, 0o1666)\n"
            "print('on', flush=True); time.sleep(1000)\"");
  first.id = run_id::make();
  auto seen = cold_host().start(first);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  for (const auto& who : {askers[0], askers[1]}) {
    auto other = make(
      row{"", "", any, "", "",
          "import ctypes, os, socket\n"
          "  s = socket.socket(socket.AF_UNIX)\n"
          "  return [s.connect_ex('\\0troupe-hostile'),"
          " os.path.exists('/dev/shm/hostile'), os.path.exists('/tmp/hostile'),"
          " ctypes.CDLL(None).shmget(78, 1, 0)]",
          "", ""},
      language::python);
    BOOST_TEST(who.host().run(*other).value_json == "[111,false,false,-1]",
               who.name);
  }
  cold_host().backend().cancel(first.id, exit_reason::cancelled);
  seen->wait();
}

BOOST_AUTO_TEST_SUITE_END()
