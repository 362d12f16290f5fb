// Against what a run may use, by ways that are easily forgotten: memory that is
// nobody's file, kernel memory, names, and the output itself.
#include "tests/runtime/local/hostile/attack_cases.hpp"

#include <array>

namespace troupe::test {

namespace {

using namespace allowing;

constexpr std::array all_of_appetite{
  behaviour{"eats_memory_without_a_name", "P4", little_memory, "memory_limit",
            "memory_limit",
            "import os\n  f = os.memfd_create('x')\n"
            "  while True: os.write(f, bytes(1 << 20))",
            "", ""},
  behaviour{"eats_shared_segments", "P4", little_memory, "memory_limit",
            "memory_limit",
            "import ctypes; c = ctypes.CDLL(None)\n"
            "  c.shmat.restype = ctypes.c_void_p\n"
            "  at = c.shmat(c.shmget(0, ctypes.c_size_t(1 << 30), 0o1600), "
            "None, 0)\n"
            "  ctypes.memset(at, 1, 1 << 30)",
            "", ""},
  behaviour{"fills_pipes", "P4", little_memory, "=1|memory_limit",
            "memory_limit",
            "import fcntl, os\n  kept = []\n  try:\n    while True:\n"
            "      r, w = os.pipe(); kept.append((r, w))\n"
            "      try: fcntl.fcntl(w, 1031, 1 << 20)\n"
            "      except OSError: pass\n"
            "      os.set_blocking(w, False)\n"
            "      os.write(w, bytes(1 << 20))\n"
            "  except OSError: return 1",
            "", ""},
  behaviour{"fills_sockets", "P4", little_memory, "=1|memory_limit",
            "memory_limit",
            "import socket\n  kept = []\n  try:\n    while True:\n"
            "      a, b = socket.socketpair(); kept.append((a, b))\n"
            "      a.setblocking(False)\n"
            "      try:\n        while True: a.send(bytes(65536))\n"
            "      except BlockingIOError: pass\n"
            "  except OSError: return 1",
            "", ""},
  behaviour{"fills_queues", "P4", any, "=1", "",
            "import ctypes; c = ctypes.CDLL(None, use_errno=True)\n"
            "  for i in range(2000):\n"
            "    if c.syscall(240, b'q%d' % i, 0o102, 0o600, None) < 0:"
            " return 1",
            "", ""},
  behaviour{"winds_up_clocks", "P4", any, "=1", "",
            "import ctypes; c = ctypes.CDLL(None); n = ctypes.c_long()\n"
            "  for i in range(200000):\n"
            "    if c.syscall(222, 1, None, ctypes.byref(n)) < 0: return 1\n"
            "  return 1",
            "", ""},
  behaviour{"locks_memory", "P4", any, "=1", "",
            "import ctypes; c = ctypes.CDLL(None)\n"
            "  c.mlockall(3); b = ctypes.create_string_buffer(64 << 20)\n"
            "  assert c.mlock(b, 64 << 20) < 0; return 1",
            "", ""},
  behaviour{"digs_without_end", "P4", any, "=*|disk_limit", "",
            "import os\n  try:\n    for i in range(2000):\n"
            "      os.mkdir('d'); os.chdir('d')\n"
            "  except OSError: pass\n  return 1",
            "",
            "i=0; while [ $i -lt 300 ]; do mkdir d && cd d || break;"
            " i=$((i+1)); done; exit 0"},
  behaviour{"leaves_odd_names", "P5", any, "=1", "",
            "import os\n  for n in (b'\\xff\\xfe', b'a\\nb', b'-rf', b'x' * "
            "255, b'\\x1b[2J', b' ', b'...'):\n"
            "    open(b'/tmp/' + n, 'w').close(); os.mkdir(b'/tmp/d' + n[:99])"
            "\n  return 1",
            "for (const n of ['a\\nb', '-rf', 'x'.repeat(255), ' ', '...'])"
            " require('fs').writeFileSync('/tmp/' + n, ''); return 1",
            ""},
  behaviour{"leaves_links_in_the_engines_way", "P5", any, "=1", "",
            "import os\n  for n in ('f.py', 'serve.py', 'result', 'stdout'):\n"
            "    os.symlink('/etc/passwd', '/tmp/' + n)\n"
            "  os.symlink('/', '/tmp/root'); os.symlink('loop', '/tmp/loop')\n"
            "  return 1",
            "const fs = require('fs'); fs.symlinkSync('/', '/tmp/root');"
            " fs.symlinkSync('loop', '/tmp/loop'); return 1",
            ""},
  behaviour{"removes_where_it_is", "P5", any, "=1", "",
            "import os; os.mkdir('d'); os.chdir('d'); os.rmdir('/tmp/d');"
            " return 1",
            "const fs = require('fs'); fs.mkdirSync('d'); process.chdir('d');"
            " fs.rmdirSync('/tmp/d'); return 1",
            ""},
  behaviour{"forks_like_a_bomb_in_sessions", "P4", few_processes_and_time,
            "pids_limit|memory_limit|wall_timeout", "process_limit",
            "import os\n  while True:\n    if os.fork() == 0: os.setsid()", "",
            "b() { setsid sh -c \"$0\" & }; f() { setsid sleep 1000 & "
            "f; }; f"},
  behaviour{"kills_its_group", "P5", any, "signaled", "",
            "import os; os.killpg(0, 9)", "process.kill(0, 'SIGKILL')",
            "kill -KILL 0"},
  behaviour{"kills_pid_1_by_a_handle", "P1", any, "=1", "",
            "import ctypes; c = ctypes.CDLL(None)\n"
            "  p = c.syscall(434, 1, 0)\n"
            "  for s in (9, 19, 15): c.syscall(424, p, s, None, 0)\n"
            "  return 1",
            "", ""},
  behaviour{"kills_its_threads_parent", "P1", any, "=1", "",
            "import ctypes; c = ctypes.CDLL(None)\n"
            "  for s in (9, 19): c.syscall(234, 1, 1, s); c.syscall(200, 1, s)"
            "\n  return 1",
            "", ""},
  behaviour{"prints_a_bomb", "P4", little_output, "=*", "",
            "import os\n  for i in range(256): os.write(1, bytes(1 << 20))\n"
            "  return 1",
            "for (let i = 0; i < 64; ++i) require('fs').writeSync(1,"
            " Buffer.alloc(1 << 20)); return 1",
            "head -c 268435456 /dev/zero; exit 0"},
  behaviour{"prints_what_moves_cursors", "P4", any, "=*", "",
            "print('\\x1b[2J\\x1b]0;x\\x07\\r\\0\\x9b'); return 1",
            "console.log('\\x1b[2J\\x1b]0;x\\x07\\r\\0\\x9b'); return 1",
            "printf '\\033[2J\\000\\377'"},
  behaviour{"passes_giant_arguments", "P4", any, "=1", "",
            "import subprocess\n"
            "  try: subprocess.run(['true', 'x' * (3 << 20)])\n"
            "  except OSError: return 1",
            "try { require('child_process').execFileSync('true',"
            " ['x'.repeat(3 << 20)]) } catch { return 1 }",
            ""},
  behaviour{"closes_its_standard_output", "P9", any, "=1", "",
            "import os; os.close(1); os.close(2); os.system('echo x; echo y "
            ">&2'); return 1",
            "require('fs').closeSync(1); require('fs').closeSync(2);"
            " console.log('x'); console.error('y'); return 1",
            ""},
};

} // namespace

std::span<const behaviour> appetite_behaviours() {
  return all_of_appetite;
}

} // namespace troupe::test
