// `troupe run` and `troupe doctor` as people and scripts use them: the binary
// itself, its exit codes and what it writes where.
#include "runtime/json/json.hpp"
#include "tests/app/ask.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <vector>

extern char** environ;

using namespace troupe;

namespace {

struct said {
  int code = -1;
  std::string out, err;
};

std::string binary() {
  return std::string{TROUPE_BINARY_DIR} + "/troupe";
}

std::string drain(int fd) {
  std::string all;
  char some[4096];
  for (ssize_t n; (n = ::read(fd, some, sizeof some)) > 0;)
    all.append(some, static_cast<std::size_t>(n));
  return all;
}

/// Runs the binary with `input` on its standard input.
said troupe_says(std::vector<std::string> words, const std::string& input = {},
                 const std::function<void(pid_t, int out)>& meanwhile = {}) {
  words.insert(words.begin(), binary());
  std::vector<char*> argv;
  for (auto& w : words)
    argv.push_back(w.data());
  argv.push_back(nullptr);
  int in[2], out[2];
  temporary_folder scratch;
  auto errors = (scratch.path / "err").string();
  BOOST_REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  BOOST_REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(),
                                     O_CREAT | O_WRONLY, 0600);
  pid_t pid = 0;
  BOOST_REQUIRE(
    ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  BOOST_REQUIRE(::write(in[1], input.data(), input.size())
                == static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  if (meanwhile)
    meanwhile(pid, out[0]);
  said s;
  s.out = drain(out[0]);
  ::close(out[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  s.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::ifstream file{errors};
  s.err.assign(std::istreambuf_iterator<char>{file}, {});
  return s;
}

/// A folder with the tools of these tests.
struct tools : temporary_folder {
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream{path / name} << text;
    return (path / name).string();
  }
  std::string adder = write("add.py",
                            "def add(a: int, b: int = 1):\n"
                            "  print('adding')\n  return a + b\n");
  std::string sleeper
    = write("sleep.py",
            "import time\ndef f():\n  print('on', flush=True)\n"
            "  time.sleep(1000)\n");
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

json::object object_in(const said& s) {
  auto parsed = json::parse_object(s.out);
  BOOST_REQUIRE_MESSAGE(parsed, s.out << s.err);
  return *parsed;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(run_command, tools)

BOOST_AUTO_TEST_CASE(prints_the_value_on_one_stream_and_the_talk_on_the_other) {
  auto s = troupe_says({"run", adder, "--args", R"({"a": 2, "b": 40})"});
  BOOST_TEST(s.code == 0);
  BOOST_TEST(s.out == "42\n");
  BOOST_TEST(s.err == "adding\n");
}

BOOST_AUTO_TEST_CASE(takes_arguments_from_a_file_and_from_standard_input) {
  auto file = write("args.json", R"({"a": 5})");
  BOOST_TEST(troupe_says({"run", adder, "--args", "@" + file}).out == "6\n");
  BOOST_TEST(troupe_says({"run", adder, "--args", "-"}, R"({"a": 6})").out
             == "7\n");
}

BOOST_AUTO_TEST_CASE(takes_the_source_from_standard_input) {
  auto s = troupe_says({"run", "-", "--language", "python"},
                       "def f():\n  return 'from stdin'\n");
  BOOST_TEST(s.out == "\"from stdin\"\n");
  s = troupe_says({"run", "-"}, "def f():\n  return 'Python, as with -c'\n");
  BOOST_TEST(s.out == "\"Python, as with -c\"\n");
}

BOOST_AUTO_TEST_CASE(runs_every_language_by_the_name_of_the_file) {
  auto ts = write("t.ts",
                  "export function f(a: number): number {"
                  " return a * 2; }\n");
  auto js = write("j.js", "function f(a) { return {a}; }\n");
  auto sh = write("s.sh", "echo out; echo err >&2\n");
  BOOST_TEST(troupe_says({"run", ts, "--args", R"({"a":21})"}).out == "42\n");
  BOOST_TEST(troupe_says({"run", js, "--args", R"({"a":1})"}).out
             == "{\"a\":1}\n");
  auto s = troupe_says({"run", sh});
  BOOST_TEST(s.code == 0);
  BOOST_TEST(s.out == "out\n");
  BOOST_TEST(s.err == "err\n");
}

BOOST_AUTO_TEST_CASE(calls_the_function_that_is_named) {
  auto two = write("two.py", "def a(): return 'a'\ndef b(): return 'b'\n");
  BOOST_TEST(troupe_says({"run", two, "--function", "a"}).out == "\"a\"\n");
  BOOST_TEST(troupe_says({"run", two}).out == "\"b\"\n");
  BOOST_TEST(troupe_says({"run", two, "--function", "c"}).code == 1);
}

BOOST_AUTO_TEST_CASE(passes_variables_on_and_no_others) {
  ::setenv("OWN_VARIABLE", "own", 1);
  auto file = write("env.py",
                    "import os\ndef f():\n  return [os.environ.get("
                    "n) for n in ('A', 'OWN_VARIABLE', "
                    "'OTHER_VARIABLE')]\n");
  ::setenv("OTHER_VARIABLE", "other", 1);
  auto s
    = troupe_says({"run", file, "--env", "A=b=c", "--env", "OWN_VARIABLE"});
  BOOST_TEST(s.out == "[\"b=c\",\"own\",null]\n");
  s = troupe_says({"run", file, "--env", "LD_PRELOAD=x"});
  BOOST_TEST(s.code == 2);
}

BOOST_AUTO_TEST_CASE(tells_how_it_ended_by_its_exit_code) {
  auto bad = write("bad.py", "def f():\n  raise ValueError('no')\n");
  auto s = troupe_says({"run", bad});
  BOOST_TEST(s.code == 1);
  BOOST_TEST(s.out == "");
  BOOST_TEST(contains(s.err, "ValueError: no"));
  s = troupe_says({"run", sleeper, "--timeout", "300ms"});
  BOOST_TEST(s.code == 124);
  BOOST_TEST(contains(s.err, "wall_timeout"));
  auto failing = write("fail.sh", "exit 7\n");
  BOOST_TEST(troupe_says({"run", failing}).code == 1);
}

BOOST_AUTO_TEST_CASE(bounds_memory) {
  auto hungry = write("hungry.py",
                      "def f():\n  return len(bytearray(1 << 30))"
                      "\n");
  auto s = troupe_says({"run", hungry, "--memory", "64MiB"});
  BOOST_TEST(s.code == 1);
  BOOST_TEST(s.out == "");
}

BOOST_AUTO_TEST_CASE(holds_the_tool_to_its_network) {
  auto file = write("net.py",
                    "import socket\ndef f(port: int):\n"
                    "  s = socket.socket()\n"
                    "  return s.connect_ex(('127.0.0.1', port))\n");
  int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  socklen_t size = sizeof own;
  BOOST_REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&own), size) == 0);
  ::listen(listener, 8);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&own), &size);
  auto port = std::to_string(ntohs(own.sin_port));
  auto args = "{\"port\":" + port + "}";
  // Public is not the host itself; a list may name it.
  BOOST_TEST(troupe_says({"run", file, "--args", args}).out == "13\n");
  BOOST_TEST(troupe_says({"run", file, "--args", args, "--network",
                          "allow=127.0.0.1:" + port})
               .out
             == "0\n");
  auto off = troupe_says({"run", file, "--args", args, "--network", "off"});
  BOOST_TEST(off.code == 1);
  BOOST_TEST(contains(off.err, "PermissionError"));
  ::close(listener);
}

BOOST_AUTO_TEST_CASE(runs_without_isolation_when_told_so) {
  auto file = write("where.py",
                    "import os\ndef f():\n"
                    "  return os.path.exists('/root')\n");
  BOOST_TEST(troupe_says({"run", file}).out == "false\n");
  BOOST_TEST(troupe_says({"run", file, "--no-isolation"}).out == "true\n");
}

BOOST_AUTO_TEST_CASE(prints_exactly_one_object_for_programs) {
  auto s
    = troupe_says({"run", adder, "--args", R"({"a":1})", "--json", "--stream"});
  BOOST_TEST(s.code == 0);
  auto o = object_in(s);
  BOOST_TEST(o.at("status").as_string() == "success");
  BOOST_TEST(o.at("value").as_int64() == 2);
  for (auto member :
       {"id", "status", "reason", "value", "stdout", "stderr", "usage",
        "stages", "backend", "isolation", "network", "notes"})
    BOOST_TEST(o.contains(member), member);
  auto failed = troupe_says({"run", sleeper, "--timeout", "300ms", "--json"});
  BOOST_TEST(failed.code == 124);
  BOOST_TEST(object_in(failed).at("stdout").as_string() == "on\n");
}

BOOST_AUTO_TEST_CASE(shows_output_as_it_comes) {
  auto script = write("slow.sh", "echo first; read x < /dev/zero\n");
  // Ends only because the first line was seen.
  auto s = troupe_says({"run", script, "--stream"}, "", [](pid_t pid, int out) {
    char line[6];
    std::size_t got = 0;
    while (got < sizeof line) {
      auto n = ::read(out, line + got, sizeof line - got);
      BOOST_REQUIRE(n > 0);
      got += static_cast<std::size_t>(n);
    }
    BOOST_TEST((std::string_view{line, sizeof line} == "first\n"));
    ::kill(pid, SIGINT);
  });
  BOOST_TEST(s.code == 1);
  BOOST_TEST(contains(s.err, "cancelled"));
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong_with_the_command_line) {
  struct {
    std::vector<std::string> words;
    const char* about;
  } const cases[]{
    {{"run"}, "FILE"},
    {{"run", "/no/such.py"}, "/no/such.py"},
    {{"run", adder, "-c", "1"}, "excludes -c"},
    {{"run", path.string() + "/x.go"}, "Python, TypeScript, JavaScript"},
    {{"run", adder, "--args", "[1]"}, "--args"},
    {{"run", adder, "--args", "{"}, "--args"},
    {{"run", adder, "--args", "@/no/such"}, "/no/such"},
    {{"run", adder, "--timeout", "soon"}, "--timeout"},
    {{"run", adder, "--timeout", "0s"}, "--timeout"},
    {{"run", adder, "--timeout=-1s"}, "--timeout"},
    {{"run", adder, "--memory", "lots"}, "such as 256MiB"},
    {{"run", adder, "--memory", "8MiB"}, "at least 16MiB"},
    {{"run", adder, "--network", "some"}, "--network"},
    {{"run", adder, "--network", "allow="}, "--network"},
    {{"run", adder, "--network", "allow=http://x/"}, "--network"},
    {{"run", adder, "--env", "1A=x"}, "--env"},
    {{"run", adder, "--env", "TROUPE_NO_SUCH"}, "--env"},
    {{"run", adder, "--language", "cobol"}, "--language"},
    {{"run", path.string()}, "FILE"},
    {{"run", adder, "--no-isolation", "--best-effort"}, "--no-isolation"},
    {{"run", adder, "--no-such-flag"}, "--no-such-flag"},
  };
  for (const auto& c : cases) {
    auto s = troupe_says(c.words);
    BOOST_TEST(s.code == 2, c.about << ": " << s.code << " " << s.err);
    BOOST_TEST(contains(s.err, c.about), s.err << " without " << c.about);
    BOOST_TEST(s.out == "");
  }
}

BOOST_AUTO_TEST_CASE(takes_what_is_not_said_from_the_settings) {
  auto config = write("config.ini",
                      "[limits]\nwall = 300ms\n"
                      "[local]\nnetwork = \"off\"\n");
  BOOST_TEST(troupe_says({"run", sleeper, "--config-file", config}).code
             == 124);
  auto caller = write("call.py",
                      "import socket\n"
                      "def f():\n"
                      "  try: socket.socket()\n"
                      "  except PermissionError: return 'off'\n"
                      "  return 'on'\n");
  // What it asks for is no more than what the settings allow.
  auto s = troupe_says({"run", caller, "--network", "public", "--config-file",
                        config, "--limits.wall=20s"});
  BOOST_TEST(s.out == "\"off\"\n", s.err);
  BOOST_TEST(troupe_says({"run", caller, "--limits.wall=20s"}).out
             == "\"on\"\n");
  auto wrong = write("wrong.ini", "[limits]\nwal = 300ms\n");
  BOOST_TEST(troupe_says({"run", adder, "--config-file", wrong}).code == 2);
}

BOOST_AUTO_TEST_CASE(uses_the_interpreter_of_the_settings) {
  auto s = troupe_says(
    {"run", adder, "--args", R"({"a": 1})", "--local.python=/no/such/python"});
  BOOST_TEST(s.code == 70, s.out);
  BOOST_TEST(contains(s.err, "No such file"), s.err);
}

BOOST_AUTO_TEST_CASE(installs_what_a_run_asks_for_and_says_what_it_cannot) {
  // No interpreter, so no environment: which is the end of it.
  auto s = troupe_says({"run", adder, "--args", R"({"a": 1})", "--pip", "six",
                        "--engine.data-dir=" + (path / "data").string(),
                        "--local.python=/no/such/python"});
  BOOST_TEST(s.code == 2, s.out);
  BOOST_TEST(contains(s.err, "the packages could not be installed"), s.err);
  BOOST_TEST(troupe_says({"run", adder, "--pip", "not a package!"}).code == 2);
}

BOOST_AUTO_TEST_CASE(examines_the_host) {
  auto s = troupe_says({"doctor"});
  BOOST_TEST((s.code == 0 || s.code == 1));
  for (auto layer :
       {"user_namespace", "seccomp", "memory_limit", "network_broker", "python",
        "node", "pip", "venv", "npm", "cgroups", "warm_python", "backend e2b"})
    BOOST_TEST(contains(s.out, layer), layer);
  BOOST_TEST(contains(s.out, "set e2b.api-key")); // how one switches it on
  BOOST_TEST(contains(s.out, "\nThis host "));
  // It looks at what would be used.
  auto other = troupe_says({"doctor", "--local.python=/no/such/python"});
  BOOST_TEST(contains(other.out, "/no/such/python cannot be executed"));
  // Debian 12's own Node: it works, and what it costs is said.
  const auto node = write("node", "#!/bin/sh\necho v18.20.4\n");
  std::filesystem::permissions(node, std::filesystem::perms{0755});
  auto old = troupe_says({"doctor", "--local.node=" + node});
  BOOST_TEST(contains(old.out, "weak  node: " + node + " v18.20.4"), old.out);
  BOOST_TEST(contains(old.out, "from Node.js 20 on"), old.out);
  auto wrong = write("wrong.ini", "[limits]\nwal = 300ms\n");
  BOOST_TEST(troupe_says({"doctor", "--config-file", wrong}).code == 2);
  auto j = troupe_says({"doctor", "--json"});
  BOOST_TEST(j.code == s.code);
  auto o = object_in(j);
  BOOST_TEST(o.at("ready").as_bool() == (j.code == 0));
  // The verdict is as good as the worst layer.
  bool all = true;
  for (const auto& f : o.at("findings").as_array())
    all = all && f.as_object().at("state").as_string() != "degraded";
  if (!all)
    BOOST_TEST(!contains(std::string_view{o.at("verdict").as_string()},
                         "full isolation"));
  for (const auto& f : o.at("findings").as_array()) {
    const auto& finding = f.as_object();
    for (auto member : {"name", "state", "core", "reason", "advice"})
      BOOST_TEST(finding.contains(member), member);
    // What is missing comes with the way out.
    if (finding.at("state").as_string() == "absent")
      BOOST_TEST(!finding.at("advice").as_string().empty(),
                 finding.at("name").as_string().c_str());
  }
}

BOOST_AUTO_TEST_SUITE_END()
