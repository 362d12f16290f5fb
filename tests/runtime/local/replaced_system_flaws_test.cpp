// Letta's weaknesses (docs/reference/rules.md), each by its name, as a run of
// the local backend shows that it is gone. Where one is no matter of a local
// run, its test carries the name elsewhere:
//   C7   tests/runtime/runner/python_edge_cases_test.cpp (stderr is no failure)
//   C9   tests/runtime/model/codec/config_normalization_test.cpp
//   C12  tests/runtime/packages/environment_test.cpp (installers), and here
//   S6   tests/runtime/runner/agent_state_test.cpp
//   S8   tests/net/server/server_test.cpp
//   S9   tests/runtime/model/package_requirement_test.cpp
//   S10  tests/net/providers/modal/provider_test.cpp
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(weaknesses)

namespace {

prepared_run a_tool(std::string source, std::string args = "{}",
                    language lang = language::python) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = lang;
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = std::move(source);
  run.args_json = std::move(args);
  run.limits.wall = seconds{30};
  return run;
}

run_result run(prepared_run what) {
  return shared_host().run(std::move(what));
}

bool succeeded(const run_result& r) {
  return r.status == run_status::success;
}

} // namespace

BOOST_AUTO_TEST_CASE(c1_text_that_looks_like_a_literal_stays_text) {
  auto r = run(a_tool("def f(a: str, b: str, c: str):\n  return [a, b, c]\n",
                      R"({"a":"42","b":"None","c":"[1, 2]"})"));
  BOOST_TEST(r.value_json == R"(["42","None","[1, 2]"])");
}

BOOST_AUTO_TEST_CASE(c2_one_argument_that_does_not_fit_leaves_the_others) {
  auto r = run(a_tool("def f(a: int, b: int):\n  return [a, b]\n",
                      R"({"a":"7","b":"seven"})"));
  BOOST_TEST(r.value_json == R"([7,"seven"])", r.stderr_text);
}

BOOST_AUTO_TEST_CASE(c3_typescript_results_come_back_letter_by_letter) {
  auto r = run(a_tool("export function f(a: string): string { return a; }\n",
                      R"({"a":"\"'`\\\n\r\t${x} </script>"})",
                      language::typescript));
  BOOST_TEST(r.value_json == R"("\"'`\\\n\r\t${x} </script>")");
}

BOOST_AUTO_TEST_CASE(c4_leaving_without_an_answer_is_no_success) {
  for (auto* source :
       {"def f():\n  exit(0)\n", "import os\ndef f():\n  os._exit(0)\n"})
    BOOST_TEST(!succeeded(run(a_tool(source))));
  BOOST_TEST(!succeeded(run(
    a_tool("function f() { process.exit(0); }", "{}", language::javascript))));
}

BOOST_AUTO_TEST_CASE(c5_output_that_is_no_utf8_fails_nothing) {
  auto r = run(a_tool("import os\ndef f():\n  os.write(1, b'\\xff\\xfe')\n"
                      "  return 1\n"));
  BOOST_TEST(r.value_json == "1");
  BOOST_TEST(succeeded(r));
}

BOOST_AUTO_TEST_CASE(c6_output_survives_a_timeout_and_messages_their_lines) {
  auto sleeper = a_tool("import time\ndef f():\n  print('so far', flush=True)\n"
                        "  time.sleep(1000)\n");
  sleeper.limits.wall = milliseconds{500};
  auto r = run(sleeper);
  BOOST_TEST(to_string(r.reason) == "wall_timeout");
  BOOST_TEST(r.stdout_text == "so far\n");
  r = run(a_tool("def f():\n  raise ValueError('a\\nb\\nc')\n"));
  BOOST_TEST(r.failure.message == "a\nb\nc");
}

BOOST_AUTO_TEST_CASE(c8_the_return_limit_limits) {
  auto long_winded = a_tool("def f():\n  return 'x' * 10000\n");
  long_winded.return_char_limit = 100;
  auto r = run(long_winded);
  BOOST_TEST(r.value_truncated);
  BOOST_TEST(r.value_json.size() < 1'000u);
}

BOOST_AUTO_TEST_CASE(c10_sources_of_every_kind_work) {
  BOOST_TEST(run(a_tool("from __future__ import annotations\n"
                        "from typing import Optional, Union\n"
                        "async def f(sys: Union[int, str], x: int = 5)"
                        ":\n  def g(): return x\n  return [sys, g()]\n",
                        R"({"sys":"a","x":null})"))
               .value_json
             == R"(["a",5])");
}

BOOST_AUTO_TEST_CASE(c11_what_is_shown_hides_no_result) {
  auto snippet = a_tool("print('a plot')\n'the result'\n");
  snippet.kind = run_kind::code;
  auto r = run(snippet);
  BOOST_TEST(r.value_json == "\"the result\"");
  BOOST_TEST(r.stdout_text == "a plot\n");
}

BOOST_AUTO_TEST_CASE(c12_a_cancelled_run_is_cancelled) {
  auto swallower = a_tool("import time\ndef f():\n  print('on', flush=True)\n"
                          "  while True:\n    try: time.sleep(1000)\n"
                          "    except BaseException: pass\n");
  swallower.id = run_id::make();
  auto seen = shared_host().start(swallower);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  shared_host().backend().cancel(swallower.id, exit_reason::cancelled);
  auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(to_string(outcome.answer->reason) == "cancelled");
}

BOOST_AUTO_TEST_CASE(s1_a_tool_runs_in_isolation_within_limits) {
  auto r = run(a_tool("import os, resource\ndef f():\n"
                      "  return [os.getuid(), os.path.exists('/root'),"
                      " os.listdir('/tmp'), resource.getrlimit(4)]\n"));
  BOOST_TEST(r.value_json == "[1000,false,[],[0,0]]");
  for (const auto& layer : r.isolation.layers)
    BOOST_TEST_MESSAGE(layer.name << " " << static_cast<int>(layer.state));
  BOOST_TEST(!r.isolation.layers.empty());
}

BOOST_AUTO_TEST_CASE(s2_nothing_of_the_engines_environment_reaches_a_tool) {
  ::setenv("LETTA_ENCRYPTION_KEY", "of the engine", 1);
  auto r = run(a_tool("import os\ndef f():\n  return [k for k, v in"
                      " os.environ.items() if 'ENCRYPTION' in k or"
                      " 'of the engine' in v]\n"));
  ::unsetenv("LETTA_ENCRYPTION_KEY");
  BOOST_TEST(r.value_json == "[]");
}

BOOST_AUTO_TEST_CASE(s3_what_a_tool_returns_is_never_unpickled) {
  auto marker = shared_host().state_dir() + "/unpickled";
  auto r = run(a_tool("import base64, os, pickle\n"
                      "class evil:\n"
                      "  def __reduce__(self): return (os.system, ('touch "
                      + marker
                      + "',))\n"
                        "def f():\n"
                        "  return base64.b64encode(pickle.dumps(evil()))."
                        "decode()\n"));
  BOOST_TEST(succeeded(r));
  BOOST_TEST(r.value_json.front() == '"'); // a text, and no more than that
  BOOST_TEST(!std::filesystem::exists(marker));
}

BOOST_AUTO_TEST_CASE(s4_no_print_can_choose_the_result) {
  auto r = run(a_tool("import sys\ndef f():\n"
                      "  for out in (sys.stdout, sys.stderr):\n"
                      "    print('bd5c46ee9d4bd9c19f4aef9bd5ac4ef9'"
                      " '{\"value\": \"forged\"}', file=out)\n"
                      "  return 'true'\n"));
  BOOST_TEST(r.value_json == "\"true\"");
}

BOOST_AUTO_TEST_CASE(s5_a_tampered_agent_state_is_refused) {
  auto state = a_tool("def f(agent_state):\n"
                      "  agent_state.memory.blocks[0].id = 'block-9'\n"
                      "  return 1\n");
  state.agent_state_json
    = R"({"memory":{"blocks":[{"id":"block-1","label":"a","value":"v"}]}})";
  auto r = run(state);
  BOOST_TEST(r.agent_state_diff.find("block-9") == std::string::npos,
             r.agent_state_diff);
}

BOOST_AUTO_TEST_CASE(s7_no_secret_stands_where_others_look) {
  auto keeper = a_tool("import os\ndef f():\n"
                       "  raise ValueError('argv ' + open('/proc/self/cmdline')"
                       ".read())\n");
  keeper.env["API_KEY"] = secret{"very-secret"};
  auto r = run(keeper);
  BOOST_TEST(!succeeded(r));
  for (const auto* text : {&r.failure.message, &r.detail, &r.stderr_text})
    BOOST_TEST(text->find("very-secret") == std::string::npos, *text);
}

BOOST_AUTO_TEST_CASE(s11_a_traceback_is_of_the_tool_alone) {
  auto r = run(a_tool("def f():\n  def g(): raise KeyError('x')\n  g()\n"));
  BOOST_TEST(r.failure.traceback.find("in g") != std::string::npos);
  BOOST_TEST(r.failure.traceback.find("troupe") == std::string::npos,
             r.failure.traceback);
}

BOOST_AUTO_TEST_CASE(s12_arguments_are_data_and_never_code) {
  auto r
    = run(a_tool("import os\ndef f(a: list, b: dict, c: float):\n"
                 "  return os.path.exists('/tmp/pasted')\n",
                 R"~({"a":"[__import__('os').system('touch /tmp/pasted')]",)~"
                 R"~("b":"__import__('os').system('touch /tmp/pasted')",)~"
                 R"~("c":"__import__('os').system('touch /tmp/pasted')"})~"));
  BOOST_TEST(r.value_json == "false", r.stderr_text);
  BOOST_TEST(!std::filesystem::exists("/tmp/pasted"));
}

BOOST_AUTO_TEST_SUITE_END()
