// What of the host, and of the interpreter it was forked from, a warm run finds
// in itself.
#include "runtime/local/interpreters.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <set>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(host_traces)

namespace {

namespace fs = std::filesystem;

constexpr isolation_level levels[]
  = {isolation_level::standard, isolation_level::strict};

/// The value of a run of each level, whose process was forked.
std::vector<std::string> values(local_host& host, zygote::family of,
                                const std::string& source) {
  std::vector<std::string> seen;
  const auto before = host.backend().slots(of).runs;
  for (const auto level : levels) {
    auto run = tool(source, "{}",
                    of == zygote::family::node ? language::javascript
                                               : language::python);
    run.isolation = level;
    const auto r = host.run(run);
    BOOST_TEST(r.failure.message == "");
    seen.push_back(r.value_json);
  }
  if (&host != &cold_host())
    BOOST_TEST(host.backend().slots(of).runs > before);
  return seen;
}

void check(local_host& host, zygote::family of, const std::string& source,
           const std::string& expected) {
  for (const auto& value : values(host, of, source))
    BOOST_TEST(value == expected);
}

/// Pipes and the like are on no mount that has a path.
constexpr auto python_descriptors
  = "import os\n"
    "def word(text, of):\n"
    "  return next(l.split()[1] for l in text if l.startswith(of))\n"
    "def f():\n"
    "  own = {l.split()[0] for l in open('/proc/self/mountinfo')}\n"
    "  found = []\n"
    "  for fd in os.listdir('/proc/self/fd'):\n"
    "    try: name = os.readlink('/proc/self/fd/' + fd)\n"
    "    except FileNotFoundError: continue\n"
    "    if name.startswith(('pipe:', 'socket:', 'anon_inode:')): continue\n"
    "    if word(open('/proc/self/fdinfo/' + fd), 'mnt_id:') not in own:\n"
    "      found.append([fd, name])\n"
    "  return found\n";

constexpr auto node_descriptors = R"(const fs = require('fs');
const text = (name) => fs.readFileSync('/proc/self/' + name, 'utf8');
exports.f = () => {
  const own = text('mountinfo').split('\n').map((l) => l.split(' ')[0]);
  const found = [];
  for (const fd of fs.readdirSync('/proc/self/fd')) {
    let name;
    try { name = fs.readlinkSync('/proc/self/fd/' + fd); } catch { continue; }
    if (/^(pipe|socket|anon_inode):/.test(name)) continue;
    const mount = /mnt_id:\s*([0-9]+)/.exec(text('fdinfo/' + fd))[1];
    if (!own.includes(mount)) found.push([fd, name]);
  }
  return found;
};
)";

constexpr auto python_locks = "import fcntl, os\n"
                              "def f():\n"
                              "  for fd in os.listdir('/proc/self/fd'):\n"
                              "    try: fcntl.flock(int(fd), fcntl.LOCK_EX |"
                              " fcntl.LOCK_NB)\n"
                              "    except OSError: pass\n"
                              "  return 1\n";

/// Node has no word for it: a program locks what it is handed.
constexpr auto node_locks = R"(const fs = require('fs');
const { spawnSync } = require('child_process');
exports.f = () => {
  for (const fd of fs.readdirSync('/proc/self/fd')) {
    const stdio = ['ignore', 'ignore', 'ignore', Number(fd)];
    spawnSync('/usr/bin/flock', ['-n', '3'], { stdio });
  }
  return fs.existsSync('/usr/bin/flock') ? 1 : 0;
};
)";

bool can_lock_null() {
  const unique_fd ours{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  return ::flock(ours.get(), LOCK_EX | LOCK_NB) == 0;
}

/// Every file that is mapped has a name that is one inside; and the words that
/// an interpreter is started with are a cold run's.
constexpr auto python_start
  = "import os, sys\n"
    "def words(of):\n"
    "  text = open('/proc/self/' + of, 'rb').read()\n"
    "  return [w.decode() for w in text.split(b'\\0') if w]\n"
    "def f():\n"
    "  files = {l.split(maxsplit=5)[5].strip()\n"
    "           for l in open('/proc/self/maps') if len(l.split()) > 5}\n"
    "  places = [os.path.dirname(m.__file__) for m in sys.modules.values()\n"
    "            if getattr(m, '__file__', None) and m.__file__[0] == '/']\n"
    "  places += [p for p in sys.path_importer_cache if '.zip' not in p]\n"
    "  return [words('cmdline'), sys.orig_argv,\n"
    "          [v for v in words('environ') if v not in"
    " {f'{n}={t}' for n, t in os.environ.items()}],\n"
    "          [n for n in files if n[0] == '/' and not n.startswith('/memfd:')"
    " and not os.path.exists(n)],\n"
    "          sorted({p for p in places if not os.path.exists(p)})]\n";

constexpr auto node_start = R"(const fs = require('fs');
const text = (name) => fs.readFileSync('/proc/self/' + name, 'latin1');
const words = (name) => text(name).split('\0').filter(Boolean);
exports.f = () => {
  const files = text('maps').split('\n').map((l) => l.slice(73).trim())
    .filter((n) => n[0] === '/' && !n.startsWith('/memfd:'));
  const variables = Object.entries(process.env).map(([n, t]) => `${n}=${t}`);
  const report = process.report.getReport();
  const paths = [...Object.keys(require.cache),
    ...Object.values(require('module')._pathCache),
    ...report.header.commandLine, ...report.sharedObjects];
  const absent = (n) => n[0] === '/' && !fs.existsSync(n);
  return [words('cmdline'), process.title,
    words('environ').filter((v) => !variables.includes(v)),
    files.filter(absent), [...new Set(paths)].filter(absent)];
};
)";

/// The 16 bytes that the kernel gives a program: AT_RANDOM of its vector.
constexpr auto python_random
  = "import struct\n"
    "def f():\n"
    "  vector = open('/proc/self/auxv', 'rb').read()\n"
    "  at = dict(struct.iter_unpack('LL', vector))[25]\n"
    "  memory = open('/proc/self/mem', 'rb', 0)\n"
    "  memory.seek(at)\n"
    "  return memory.read(16).hex()\n";

constexpr auto node_random = R"(const fs = require('fs');
exports.f = () => {
  const vector = fs.readFileSync('/proc/self/auxv');
  let at = 0n;
  for (let i = 0; i < vector.length; i += 16)
    if (vector.readBigUInt64LE(i) === 25n) at = vector.readBigUInt64LE(i + 8);
  const bytes = Buffer.alloc(16);
  fs.readSync(fs.openSync('/proc/self/mem'), bytes, 0, 16, at);
  return bytes.toString('hex');
};
)";

void check_differs(local_host& host, zygote::family of, const char* source) {
  std::set<std::string> seen;
  for (int i = 0; i < 2; ++i)
    for (auto& value : values(host, of, source))
      seen.insert(std::move(value));
  BOOST_TEST(seen.size() == 4u);
}

} // namespace

BOOST_AUTO_TEST_CASE(python_has_no_descriptor_of_the_host) {
  check(warm_python(), zygote::family::python, python_descriptors, "[]");
}

BOOST_AUTO_TEST_CASE(node_has_no_descriptor_of_the_host) {
  check(warm_node(), zygote::family::node, node_descriptors, "[]");
}

BOOST_AUTO_TEST_CASE(no_lock_outlives_a_python) {
  for (const auto& value :
       values(warm_python(), zygote::family::python, python_locks)) {
    BOOST_TEST(value == "1");
    BOOST_TEST(eventually(can_lock_null));
  }
}

BOOST_AUTO_TEST_CASE(no_lock_outlives_a_node) {
  for (const auto& value :
       values(warm_node(), zygote::family::node, node_locks)) {
    BOOST_TEST(value == "1");
    BOOST_TEST(eventually(can_lock_null));
  }
}

BOOST_AUTO_TEST_CASE(python_shows_nothing_of_how_it_was_started) {
  const auto cold
    = values(cold_host(), zygote::family::python, python_start).front();
  BOOST_TEST(cold.ends_with(",[],[],[]]"), cold);
  check(warm_python(), zygote::family::python, python_start, cold);
}

BOOST_AUTO_TEST_CASE(node_shows_nothing_of_how_it_was_started) {
  const auto cold
    = values(cold_host(), zygote::family::node, node_start).front();
  BOOST_TEST(cold.ends_with(",[],[],[]]"), cold);
  check(warm_node(), zygote::family::node, node_start, cold);
}

BOOST_AUTO_TEST_CASE(node_shows_nothing_of_it_without_joined_libraries,
                     *boost::unit_test::precondition(has_warm_node)) {
  local_options options;
  options.zygote.joined_libraries = false;
  local_host host{options};
  host.run(tool(node_start, "{}", language::javascript));
  BOOST_REQUIRE(eventually([&] {
    const auto now = host.backend().slots(zygote::family::node);
    return now.zygotes > 0 && now.trouble.empty();
  }));
  const auto cold
    = values(cold_host(), zygote::family::node, node_start).front();
  check(host, zygote::family::node, node_start, cold);
}

// As its owner, where the engine runs as an ordinary user: /proc/self/exe leads
// around every mount.
BOOST_AUTO_TEST_CASE(cannot_change_the_interpreter_that_they_are) {
  tests::temporary_directory home;
  fs::permissions(home.path(), fs::perms{0755});
  const auto python = home / "bin" / "python3";
  fs::create_directory(home / "bin");
  fs::copy_file(find_interpreters({}).python.path, python);
  local_options options;
  options.python = python.string();
  local_host host{options};
  const std::string source = "import os\n"
                             "def f():\n"
                             "  try: os.chmod('/proc/self/exe', 0o4777)\n"
                             "  except OSError as no: return 'no'\n"
                             "  return 'changed'\n";
  host.run(tool(source));
  const auto now = [&] { return host.backend().slots(zygote::family::python); };
  BOOST_REQUIRE(eventually([&] { return now().zygotes > 0; }));
  BOOST_REQUIRE(eventually([&] { return now().trouble.empty(); }));
  BOOST_TEST(host.run(tool(source)).value_json == "\"no\"");
  BOOST_TEST(now().runs > 0u);
  BOOST_TEST((fs::status(python).permissions() == fs::perms{0755}));
}

BOOST_AUTO_TEST_CASE(each_has_start_random_bytes_of_its_own) {
  check_differs(warm_python(), zygote::family::python, python_random);
  check_differs(warm_node(), zygote::family::node, node_random);
}

#if defined(__x86_64__) && defined(__GLIBC__)
BOOST_AUTO_TEST_CASE(each_python_has_a_stack_guard_of_its_own) {
  check_differs(warm_python(), zygote::family::python,
                "import ctypes, threading\n"
                "libc = ctypes.CDLL(None)\n"
                "libc.pthread_self.restype = ctypes.c_ulong\n"
                "def guard():\n"
                "  block = libc.pthread_self()\n"
                "  return ctypes.c_ulong.from_address(block + 0x28).value\n"
                "def f():\n"
                "  seen = [guard()]\n"
                "  other = threading.Thread(target=lambda:"
                " seen.append(guard()))\n"
                "  other.start(), other.join()\n"
                "  return [hex(seen[0]), seen[0] == seen[1], seen[0] & 255]\n");
}
#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
