#include "tests/runtime/local/hostile/attack_cases.hpp"

#include <array>

namespace troupe::test {

namespace {

using namespace allowing;

constexpr std::array all_behaviours{
  behaviour{"fills_its_disk", "P4", little_disk, "disk_limit", "",
            "open('/tmp/x', 'wb').write(bytes(8 << 20))",
            "require('fs').writeFileSync('/tmp/x', Buffer.alloc(8 << 20))",
            "head -c 8388608 /dev/zero > /tmp/x"},
  behaviour{"fills_shared_memory", "P4", little_disk, "disk_limit", "",
            "open('/dev/shm/x', 'wb').write(bytes(8 << 20))",
            "require('fs').writeFileSync('/dev/shm/x', Buffer.alloc(8 << 20))",
            "head -c 8388608 /dev/zero > /dev/shm/x"},
  behaviour{
    "makes_a_sparse_giant", "P4", little_disk, "exited|disk_limit|signaled", "",
    "import os; os.truncate(os.open('/tmp/x', os.O_CREAT | os.O_RDWR), "
    "1 << 40)",
    "require('fs').truncateSync((require('fs').writeFileSync('/tmp/x', ''),"
    "'/tmp/x'), 2 ** 40)",
    "truncate -s 1T /tmp/x"},
  behaviour{
    "makes_too_many_files", "P4", few_files, "disk_limit", "",
    "[open(f'/tmp/{i}', 'w') .close() for i in range(1000)]",
    "for (let i = 0; i < 1000; ++i) require('fs').writeFileSync('/tmp/' + i,"
    " '')",
    "i=0; while [ $i -lt 1000 ]; do : > /tmp/$i || exit 1; i=$((i+1)); done"},
  behaviour{"eats_memory", "P4", little_memory, "memory_limit", "memory_limit",
            "x = bytearray(1 << 30); return len(x)",
            "const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1))",
            "tail /dev/zero"},
  behaviour{"eats_memory_by_files", "P4", little_memory, "memory_limit",
            "memory_limit",
            "f = open('/tmp/x', 'wb')\n  while True: f.write(bytes(1 << 20))",
            "const f = require('fs').openSync('/tmp/x', 'w'); for (;;) "
            "require('fs').writeSync(f, Buffer.alloc(1 << 20))",
            "cat /dev/zero > /tmp/x"},
  behaviour{
    "eats_memory_in_a_child", "P4", little_memory, "memory_limit|=\"survived\"",
    "memory_limit",
    "import os\n  if os.fork() == 0: x = bytearray(1 << 30); os._exit(0)\n"
    "  assert os.wait()[1] == 0",
    "", ""},
  behaviour{"forks_like_a_bomb", "P4", few_processes_and_time,
            "pids_limit|memory_limit|wall_timeout", "process_limit",
            "import os\n  while True: os.fork()",
            "for (;;) require('child_process').spawn('sleep', ['1000'])"
            ".on('error', () => process.exit(1))",
            "b() { b | b & }; b; sleep 1000"},
  behaviour{"makes_threads", "P4", few_processes, "pids_limit", "process_limit",
            "import threading, time\n"
            "  for i in range(1000): threading.Thread(target=time.sleep, "
            "args=(1000,), daemon=True).start()",
            "", ""},
  behaviour{
    "leaves_zombies", "P5", few_processes, "exited|pids_limit", "process_limit",
    "import os\n  for i in range(1000):\n    if os.fork() == 0: os._exit(0)",
    "", "i=0; while [ $i -lt 200 ]; do true & i=$((i+1)); done; exit 3"},
  behaviour{"computes_for_ever", "P4", little_cpu, "cpu_timeout", "cpu_clock",
            "\n  while True: pass", "for (;;);", "while :; do :; done"},
  behaviour{
    "computes_in_many_children", "P4", little_cpu, "cpu_timeout", "cpu_clock",
    "import os, time\n  for i in range(4):\n    if os.fork() == 0:\n"
    "      while True: pass\n  time.sleep(1000)",
    "for (let i = 0; i < 4; ++i) require('child_process').spawn('sh', ['-c',"
    " 'while :; do :; done']); return new Promise(() => setInterval(() => "
    "{}, 1000))",
    "for i in 1 2 3 4; do (while :; do :; done) & done; wait"},
  behaviour{
    "computes_in_children_of_short_life", "P4", little_cpu, "cpu_timeout",
    "cpu_clock",
    "import os\n  while True:\n    if os.fork() == 0:\n"
    "      sum(range(300000)); os._exit(0)\n    os.wait()",
    "", "while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done); done"},
  behaviour{"sleeps", "P4", little_time, "wall_timeout", "",
            "import time; time.sleep(1000)",
            "return new Promise(() => "
            "setInterval(() => {}, 1000))",
            "sleep 1000"},
  behaviour{
    "ignores_signals", "P4", little_time, "wall_timeout", "",
    "import signal, time\n  for s in range(1, 65):\n    try: "
    "signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): "
    "pass\n  time.sleep(1000)",
    "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {"
    "}); return new Promise(() => setInterval(() => {}, 1000))",
    "trap '' TERM INT HUP QUIT; while :; do sleep 1000; done"},
  behaviour{"stops_itself", "P4", little_time, "wall_timeout", "",
            "import os; os.kill(os.getpid(), 19)",
            "process.kill(process.pid, "
            "'SIGSTOP'); return new Promise(() => setInterval(() => {}, 1000))",
            "kill -STOP $$"},
  behaviour{"stops_everybody", "P4", little_time, "wall_timeout", "",
            "import os, time\n  if os.fork() == 0: os.kill(-1, 19)\n"
            "  time.sleep(1000)",
            "", "(sleep 0.1; kill -STOP -1) & sleep 1000"},
  behaviour{"waits_for_a_pipe_of_its_own", "P4", little_time, "wall_timeout",
            "", "import os; os.mkfifo('/tmp/f'); open('/tmp/f').read()", "",
            "mkfifo /tmp/f; cat /tmp/f"},
  behaviour{
    "renews_its_death_signal", "P5", little_time, "wall_timeout", "",
    "import ctypes, time; ctypes.CDLL(None).prctl(1, 0); time.sleep(1000)", "",
    ""},
  behaviour{
    "leaves_daemons", "P5", any, "=1", "",
    "import os, subprocess, time\n  for i in range(3):\n"
    "    if os.fork() == 0:\n      os.setsid()\n"
    "      if os.fork() == 0:\n        os.setsid(); time.sleep(1000)\n"
    "      os._exit(0)\n  return 1",
    "for (let i = 0; i < 3; ++i) require('child_process').spawn('sleep', "
    "['1000'], {detached: true, stdio: 'ignore'}).unref(); return 1",
    ""},
  behaviour{"becomes_a_subreaper_of_orphans", "P5", any, "=1", "",
            "import ctypes, os, time; ctypes.CDLL(None).prctl(36, 1)\n"
            "  if os.fork() == 0:\n    if os.fork() == 0: time.sleep(1000)\n"
            "    os._exit(0)\n  return 1",
            "", ""},
  behaviour{
    "holds_its_outputs_open_elsewhere", "P5", any, "=1", "",
    "import subprocess; subprocess.Popen(['sleep', '1000']); return 1",
    "require('child_process').spawn('sleep', ['1000'], {stdio: 'inherit', "
    "detached: true}).unref(); return 1",
    ""},
  behaviour{"closes_its_outputs", "P9", any, "=1", "",
            "import os; os.close(0); os.close(1); os.close(2); return 1",
            "require('fs').closeSync(0); return 1", ""},
  behaviour{"closes_its_answer", "P9", any, "exited", "",
            "import os; os.close(3); return 1", "", ""},
  behaviour{"closes_everything", "P9", any, "exited", "",
            "import os; os.closerange(0, 100); return 1", "", ""},
  behaviour{"leaves_before_it_answers", "P9", any, "exited", "",
            "import os; os._exit(0)", "process.exit(0)", ""},
  behaviour{"forges_an_answer", "P9", any, "exited", "",
            "import os; os.write(3, b'TRP1' + bytes(28) + b'{\"value\": 42}'); "
            "os._exit(0)",
            "require('fs').writeSync(3, Buffer.from('TRP1{\"value\": 42}')); "
            "process.exit(0)",
            ""},
  behaviour{
    "prints_what_looks_like_an_answer", "P9", any, "=1", "",
    "print('bd5c46ee9d4bd9c19f4aef9bd5ac4ef9{\"value\": 42}'); return 1",
    "console.log('{\"value\": 42}'); return 1", ""},
  behaviour{"answers_without_end", "P9", little_result, "output_limit", "",
            "import os\n  while True: os.write(3, bytes(65536))", "", ""},
  behaviour{"answers_too_much", "P9", little_result, "output_limit|=null", "",
            "return 'x' * (1 << 20)", "return 'x'.repeat(1 << 20)", ""},
  behaviour{"answers_too_deep", "P9", any, "=*", "",
            "x = []\n  for _ in range(100000): x = [x]\n  return x",
            "let x = []; for (let i = 0; i < 100000; ++i) x = [x]; return x",
            ""},
  behaviour{"crashes", "P11", any, "signaled", "",
            "import ctypes; ctypes.string_at(0)",
            "process.kill(process.pid, "
            "'SIGSEGV'); return new Promise(() => {})",
            "kill -SEGV $$"},
  behaviour{"kills_itself", "P9", any, "signaled", "",
            "import os; os.kill(os.getpid(), 9)",
            "process.kill(process.pid, "
            "'SIGKILL'); return new Promise(() => {})",
            "kill -KILL $$"},
  behaviour{
    "kills_everybody", "P1", any, "=1", "",
    "import os\n  try: os.kill(-1, 9)\n  except ProcessLookupError: pass\n"
    "  return 1",
    "", ""},
  behaviour{
    "kills_pid_1", "P1", any, "=1", "",
    "import os\n  for s in (9, 19, 15, 11, 6):\n    os.kill(1, s)\n  return 1",
    "for (const s of ['SIGKILL', 'SIGSTOP', 'SIGTERM']) process.kill(1, s); "
    "return 1",
    ""},
  behaviour{"slows_pid_1_down", "P2", any, "=1", "",
            "import os\n  for f in (lambda: os.setpriority(0, 1, 19),\n"
            "            lambda: os.sched_setaffinity(1, {0})):\n"
            "    try: f()\n    except OSError: pass\n  return 1",
            "", ""},
  behaviour{"floods_pid_1_with_signals", "P4", any, "=1", "",
            "import ctypes, os\n  for i in range(5000):\n"
            "    try: os.kill(1, 40)\n    except OSError: pass\n  return 1",
            "", ""},
  behaviour{"lowers_its_own_limits", "P3", any, "=1", "",
            "import resource\n"
            "  for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC,\n"
            "            resource.RLIMIT_FSIZE):\n"
            "    resource.setrlimit(r, (16, 16))\n  return 1",
            "", ""},
  behaviour{"spoils_its_directories", "P3", any, "=1", "",
            "import os\n  for d in ('/tmp', '/dev/shm'):\n"
            "    os.makedirs(d + '/a/b'); \n"
            "    try: os.chmod(d, 0)\n    except OSError: pass\n  return 1",
            "", ""},
  behaviour{"leaves_shared_memory_and_queues", "P3", any, "=*", "",
            "import ctypes\n  c = ctypes.CDLL(None)\n"
            "  c.shmget(77, 4096, 0o1666); c.semget(77, 1, 0o1666)\n"
            "  c.msgget(77, 0o1666); return 1",
            "", "ipcmk -M 4096 >/dev/null; ipcmk -S 1 >/dev/null; exit 0"},
};

} // namespace

std::span<const behaviour> behaviours() {
  return all_behaviours;
}

} // namespace troupe::test
