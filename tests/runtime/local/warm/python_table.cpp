#include "tests/runtime/local/warm/python_table.hpp"

namespace troupe::test {

const std::map<std::string, std::string>& python_table() {
  static const std::map<std::string, std::string> table{
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
     "  for p in ('/etc/shadow', '/root/x', '/proc/1/environ', "
     "'/sys/kernel'):\n"
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
     "  t = [threading.Thread(target=seen.append, args=(i,)) for i in "
     "range(4)]\n"
     "  [x.start() for x in t]; [x.join() for x in t]\n"
     "  return sorted(seen)\n"},
    {"a coroutine",
     "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n"
     "  return 'done'\n"},
    {"a late import",
     "def f():\n  import sqlite3, xml.dom.minidom\n"
     "  return sqlite3.connect(':memory:').execute("
     "'select 1').fetchone()\n"},
    {"digits of integers",
     "import sys\ndef f():\n  return [sys.get_int_max_str_digits(),"
     " 10 ** 5000]\n"},
    {"parts of packages",
     "import urllib, concurrent, http, email, importlib\ndef f():\n"
     "  return [urllib.parse.quote('a b'), urllib.request.Request.__name__,"
     " urllib.error.URLError.__name__, concurrent.futures.Future.__name__,"
     " http.client.OK, email.utils.quote('a'),"
     " importlib.machinery.SOURCE_SUFFIXES]\n"},
    {"a process pool",
     "from concurrent.futures import ProcessPoolExecutor\n"
     "def f():\n  import os\n"
     "  pid = os.fork()\n"
     "  if pid == 0: os._exit(5)\n"
     "  return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"},
  };
  return table;
}

} // namespace troupe::test
