// What hostile tools do, rather than ask for: they fill, fork, flood, hang,
// forge and stay. Each ends for a reason that names it, in every way of running
// where it can be said; beside it stands what the same deed does within bounds.
#include "runtime/json/json.hpp"
#include "tests/runtime/local/hostile/attack_cases.hpp"
#include "tests/runtime/local/ready_host.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <optional>

using namespace troupe;
using namespace troupe::test;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(hostile_behaviour)

namespace {

struct asker {
  const char* name;
  local_host& (*host)();
  language lang;
};
constexpr asker askers[] = {{"python, warm", warm_python, language::python},
                            {"python, cold", cold_host, language::python},
                            {"node, warm", warm_node, language::javascript},
                            {"node, ready", ready_host, language::javascript},
                            {"node", cold_host, language::javascript},
                            {"shell", cold_host, language::shell}};

/// Nothing when the row is not said in this language.
std::optional<prepared_run> make(const behaviour& r, language lang) {
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

/// By itself, whether it left or raised an error: nobody ended it.
std::string_view ended_as(exit_reason reason) {
  return to_string(reason == exit_reason::raised ? exit_reason::exited
                                                 : reason);
}

bool is_one_of(const run_result& r, std::string_view expected) {
  for (;;) {
    auto word = expected.substr(0, expected.find('|'));
    if (word.starts_with('=')
          ? r.status == run_status::success
            && (word == "=*" || r.value_json == word.substr(1))
          : ended_as(r.reason) == word && r.status == run_status::error)
      return true;
    if (word.size() == expected.size())
      return false;
    expected.remove_prefix(word.size() + 1);
  }
}

/// The next run is none the worse, whoever came before it.
void check_next(const asker& who) {
  auto next
    = make(behaviour{"", "", allowing::any, "", "",
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

/// Whatever it did, what is told of it can be read.
void check_form(const run_result& r, const limits& most) {
  if (r.status == run_status::success && !r.value_json.empty())
    BOOST_TEST(json::check(r.value_json).has_value(),
               r.value_json.substr(0, 200));
  for (const auto* text : {&r.stdout_text, &r.stderr_text}) {
    BOOST_TEST(json::repair_utf8(*text) == *text);
    // A byte that is no UTF-8 becomes three.
    BOOST_TEST(text->size() <= 3 * most.output_bytes);
  }
  BOOST_TEST(r.failure.name.size() <= 1'000u);
  BOOST_TEST(json::repair_utf8(r.failure.message) == r.failure.message);
}

void try_out(std::span<const behaviour> all) {
  std::size_t tried = 0;
  for (const auto& r : all) {
    if (*r.layer != '\0' && !lacks(r.layer).empty())
      continue;
    for (const auto& who : askers) {
      auto run = make(r, who.lang);
      if (!run)
        continue;
      BOOST_TEST_CONTEXT(r.rule << " " << r.name << ", " << who.name) {
        auto& host = who.host();
        if (&host == &ready_host())
          BOOST_REQUIRE(prepare_for(host, *run));
        const auto begun = std::chrono::steady_clock::now();
        auto got = host.run(*run);
        const auto took = std::chrono::steady_clock::now() - begun;
        BOOST_TEST(is_one_of(got, r.reason),
                   to_string(got.reason)
                     << " " << got.value_json << " instead of " << r.reason
                     << ": " << got.detail << got.stderr_text.substr(0, 500));
        check_form(got, run->limits);
        // P4: within the limit and two seconds; five on a busy machine.
        BOOST_TEST((took < run->limits.wall + seconds{5}));
        check_next(who);
        ++tried;
      }
    }
  }
  BOOST_TEST_MESSAGE(tried << " hostile runs");
}

} // namespace

/// Each ends for its reason and leaves the next run alone.
BOOST_AUTO_TEST_CASE(is_held_by_the_limits_and_by_the_end) {
  try_out(behaviours());
}

BOOST_AUTO_TEST_CASE(is_held_by_the_limits_that_are_easily_forgotten) {
  try_out(appetite_behaviours());
}

BOOST_AUTO_TEST_CASE(spoils_no_result_but_its_own) {
  try_out(result_behaviours());
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
    {"memory without a name",
     "import os; f = os.memfd_create('x'); os.write(f, bytes(8 << 20))\n"
     "  return os.fstat(f).st_size",
     "8388608"},
    {"pipes and sockets",
     "import os, socket\n  p = [os.pipe() for i in range(100)]\n"
     "  s = [socket.socketpair() for i in range(100)]\n"
     "  for r, w in p: os.write(w, bytes(4096))\n"
     "  for a, b in s: a.send(bytes(4096))\n"
     "  return sum(len(os.read(r, 9999)) for r, w in p)"
     " + sum(len(b.recv(9999)) for a, b in s)",
     "819200"},
    {"a clock of its own",
     "import signal, time; seen = []\n"
     "  signal.signal(signal.SIGALRM, lambda *a: seen.append(1))\n"
     "  signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
     "  signal.pause(); return seen",
     "[1]"},
    {"deep directories",
     "import os; os.makedirs('/tmp/' + 'd/' * 200)\n"
     "  return os.path.isdir('/tmp/' + 'd/' * 200)",
     "true"},
    {"links", "import os; os.symlink('x', 'l'); return os.readlink('l')",
     "\"x\""},
    {"arguments",
     "import subprocess\n  return len(subprocess.run(['echo', 'x' * 100000], "
     "capture_output=True).stdout)",
     "100001"},
    {"a child ended by its handle",
     "import os, signal\n  pid = os.fork()\n"
     "  if pid == 0: signal.pause()\n"
     "  signal.pidfd_send_signal(os.pidfd_open(pid), 9)\n"
     "  return os.waitpid(pid, 0)[1]",
     "9"},
    {"a session of a child's",
     "import os\n  if os.fork() == 0:\n    os.setsid(); os.killpg(0, 9)\n"
     "  return os.wait()[1]",
     "9"},
    {"tracing",
     "import sys; seen = []\n  def g(): return 1\n"
     "  sys.settrace(lambda *a: seen.append(a[1])); g(); sys.settrace(None)\n"
     "  return seen",
     "[\"call\"]"},
    {"an error of its own",
     "class X(Exception):\n    def __str__(self): return 'shown'\n"
     "  try: raise X()\n  except X as e: return str(e)",
     "\"shown\""},
  };
  for (const auto& t : twins)
    for (const auto& who : {askers[0], askers[1]})
      BOOST_TEST_CONTEXT(t.name << ", " << who.name) {
        auto run
          = make(behaviour{"", "", allowing::any, "", "", t.body, "", ""},
                 language::python);
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
      behaviour{
        "", "", allowing::any, "", "",
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
