#include "runtime/runner/stdout_frame.hpp"
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(remote_scripts)

namespace {

/// Runs the script as a provider would: a file, no channel, only stdout.
run_result run_remotely(const prepared_run& run) {
  auto key = frame::make_key().value();
  auto text = script::build_remote_script(run, key).value();
  bool python = run.lang == language::python;
  auto file = std::string{TROUPE_BINARY_DIR} + "/remote_script."
    + (python ? "py" : "cjs");
  std::ofstream{file} << text.reveal();
  script::program p;
  p.argv = {python ? test_paths().python : test_paths().node, file};
  p.environment.emplace("OWN", secret{"of the machine"});
  auto report = carry_out(p);
  run_result seen;
  seen.reason = report.reason;
  seen.exit_code = report.exit_code;
  seen.signal = report.signal;
  seen.stdout_text = report.out;
  seen.stderr_text = report.err;
  script::interpret_remote(run, key, seen);
  return seen;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_python_tool_answers_over_stdout) {
  auto run = a_run(language::python,
                   "import os\nasync def f(a: int):\n    print('hi')\n"
                   "    return [a, os.environ['A'], os.environ['OWN'], "
                   "\"it's \\\"q\\\"\\n\"]",
                   R"({"a":1})");
  run.env.emplace("A", secret{"'; import x"});
  auto seen = run_remotely(run);
  BOOST_TEST(seen.stderr_text == "");
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.value_json
             == R"([1,"'; import x","of the machine","it's \"q\"\n"])");
  BOOST_TEST(seen.stdout_text == "hi\n");
}

BOOST_AUTO_TEST_CASE(a_typescript_tool_answers_over_stdout) { // C3
  auto run = a_run(language::typescript,
                   "export async function f(a: number): Promise<any> {\n"
                   "  console.log('hi');\n"
                   "  return [a, process.env.A, process.env.OWN, "
                   "`it's \"q\"\\n\\\\`];\n}",
                   R"({"a":1})");
  run.env.emplace("A", secret{"'; x"});
  auto seen = run_remotely(run);
  BOOST_TEST(seen.stderr_text == "");
  BOOST_TEST(seen.value_json
             == R"([1,"'; x","of the machine","it's \"q\"\n\\"])");
  BOOST_TEST(seen.stdout_text == "hi\n");
}

BOOST_AUTO_TEST_CASE(failures_and_missing_answers_are_told) {
  auto seen
    = run_remotely(a_run(language::python, "def f(): raise ValueError('x')"));
  BOOST_TEST(seen.failure.name == "ValueError");
  BOOST_TEST(seen.stderr_text == seen.failure.traceback);
  seen = run_remotely(a_run(language::python, "def f(): os._exit(0)"));
  BOOST_TEST(seen.failure.name == "NoResult");
}

// As a notebook's kernel runs its cells, whose loop is there again afterwards.
BOOST_AUTO_TEST_CASE(a_running_event_loop_is_no_obstacle) {
  const std::string own = "import asyncio\nasync def g():\n"
                          "    await asyncio.sleep(0)\n    return 3\n";
  for (
    const std::string& source :
    {std::string{"async def f(): return 3"},
     own + "def f(): return asyncio.run(g())\n",
     own + "async def f(): return await g()\n",
     own + "def f(): return asyncio.new_event_loop().run_until_complete(g())\n",
     own
       + "import signal\ndef f():\n    signal.signal(signal.SIGALRM, print)\n"
         "    with asyncio.Runner() as r: return r.run(g())\n"}) {
    auto run = a_run(language::python, source);
    auto text = script::build_remote_script(run, "k").value();
    script::program p;
    p.argv = {test_paths().python, "-c",
              "import asyncio, sys\nasync def main():\n"
              "    loop = asyncio.get_running_loop()\n"
              "    exec(sys.stdin.read(), {})\n"
              "    assert asyncio.get_running_loop() is loop\n"
              "    assert asyncio.current_task() is not None\n"
              "    await asyncio.sleep(0)\n    print('alive')\n"
              "asyncio.run(main())"};
    p.input = text.reveal();
    run_result seen;
    seen.reason = exit_reason::exited;
    seen.stdout_text = carry_out(p).out;
    script::interpret_remote(run, "k", seen);
    BOOST_TEST(seen.value_json == "3", source << seen.failure.friendly);
    BOOST_TEST(seen.stdout_text == "alive\n");
  }
}

BOOST_AUTO_TEST_CASE(a_command_needs_no_script) {
  prepared_run run;
  run.kind = run_kind::command;
  BOOST_TEST(script::build_remote_script(run, "k").has_error());
}

BOOST_AUTO_TEST_SUITE_END()
