// What a Python tool shows, and what reaches it, beside its result: output,
// tracebacks, environment, threads and children, snippets.
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(python_manners)

BOOST_AUTO_TEST_CASE(what_is_too_large_is_told_by_its_name) {
  auto of = [](const std::string& source) {
    auto run = a_run(language::python, source);
    run.agent_state_json = R"({"id":"agent-1","note":""})";
    return run_plainly(run);
  };
  // Whoever knows its length is bounded by its bytes alone.
  BOOST_TEST((of("def f():\n    return set(range(100001))").status
              == run_status::success));
  auto seen = of("import itertools\ndef f():\n    return itertools.count()");
  BOOST_TEST(seen.failure.message.find("an iterator of more than 100000 items")
             != std::string::npos);
  seen = of("def f(agent_state):\n    agent_state['note'] = 'x' * (2 << 20)");
  BOOST_TEST(seen.failure.name == "AgentStateTooLarge");
  BOOST_TEST(seen.failure.message.find("agent_state has become more than")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_null_that_the_schema_dropped_is_for_who_admits_it) {
  auto run = a_run(language::python,
                   "def f(a: Optional[int] = 5, b: int = 6, c=7,\n"
                   "      d: 'int | None' = 8, e: Optional[int] = 9):\n"
                   "    return [a, b, c, d, e]");
  run.dropped_nulls = {"a", "b", "c", "d", "other"};
  BOOST_TEST(run_plainly(run).value_json == "[null,6,7,null,9]");
}

BOOST_AUTO_TEST_CASE(integers_of_any_size_reach_it) {
  const std::string big(400, '7');
  auto run = a_run(language::python, "def f(a: int): return [a, a + 1]",
                   R"({"a":)" + big + "}");
  BOOST_TEST(run_plainly(run).value_json
             == "[" + big + "," + big.substr(1) + "8]");
}

BOOST_AUTO_TEST_CASE(a_failure_shows_the_lines_of_the_tool_only) {
  auto seen = run_plainly(a_run(language::python, R"(
async def f():
    try:
        1 / 0
    except ZeroDivisionError as e:
        raise ValueError("outer") from e
)"));
  const auto& trace = seen.failure.traceback;
  BOOST_TEST(trace.find("File \"f.py\", line 6, in f") != std::string::npos);
  BOOST_TEST(trace.find("raise ValueError(\"outer\") from e")
             != std::string::npos);
  BOOST_TEST(trace.find("ZeroDivisionError") != std::string::npos);
  BOOST_TEST(trace.find("troupe_runner") == std::string::npos);
  BOOST_TEST(trace.find("asyncio") == std::string::npos);
  // S11: the tool's traceback, never the engine's, is what stderr holds.
  BOOST_TEST(seen.stderr_text == trace);
}

BOOST_AUTO_TEST_CASE(output_stays_apart_from_the_result) {
  auto seen = run_plainly(a_run(language::python, R"(
import sys, subprocess
def f():
    print("out", end="")
    print("err", file=sys.stderr)
    subprocess.run(["echo", " and a child"])
    return 1
)"));
  BOOST_TEST(seen.value_json == "1");
  BOOST_TEST(seen.stdout_text == "out and a child\n");
  BOOST_TEST(seen.stderr_text == "err\n");
  BOOST_TEST((seen.status == run_status::success)); // C7: stderr is no failure
}

BOOST_AUTO_TEST_CASE(output_need_not_be_utf8) { // C5
  auto seen = run_plainly(a_run(language::python, R"(
import sys
def f():
    sys.stdout.buffer.write(b"\xff\xfe")
    sys.stdout.flush()
    print("\ud800")
    return "fine"
)"));
  BOOST_TEST(seen.value_json == R"("fine")");
  BOOST_TEST(seen.stdout_text == "\xff\xfe\\ud800\n");
}

BOOST_AUTO_TEST_CASE(partial_output_survives_a_timeout) { // C6
  auto seen = run_plainly(
    a_run(language::python,
          "def f():\n    print('before', end='')\n    while True: pass"),
    std::chrono::milliseconds{1500});
  BOOST_TEST((seen.reason == exit_reason::wall_timeout));
  BOOST_TEST(seen.stdout_text == "before");
  BOOST_TEST(seen.failure.friendly
             == "Error executing function f: TimeoutError: Executing tool f "
                "timed out after 180 seconds.");
}

BOOST_AUTO_TEST_CASE(a_frame_on_stdout_is_just_output) { // S4
  auto seen = run_plainly(a_run(language::python, R"(
import struct, hashlib, os
def f():
    payload = b'{"results": "forged", "agent_state": null}'
    marker = bytes.fromhex("92c8e49843d35fb3919da69eb3e5c5c6")
    os.write(1, marker + struct.pack(">I", len(payload))
             + hashlib.md5(payload).hexdigest().encode() + payload)
    return "true"
)"));
  BOOST_TEST(seen.value_json == R"("true")");
  BOOST_TEST(seen.stdout_text.find("forged") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_children_write_to_the_channel_is_no_answer) { // S4
  auto seen = run_plainly(a_run(language::python, R"(
import subprocess
def f():
    return subprocess.run("echo x >&3", shell=True,
                          stderr=subprocess.DEVNULL).returncode != 0
)"));
  BOOST_TEST(seen.value_json == "true");
}

BOOST_AUTO_TEST_CASE(a_forked_child_that_returns_has_no_say) {
  auto seen = run_plainly(a_run(language::python, R"(
import os
def f():
    if os.fork() == 0:
        return "child"
    os.wait()
    return "parent"
)"));
  BOOST_TEST(seen.value_json == R"("parent")");
}

BOOST_AUTO_TEST_CASE(a_thread_left_behind_does_not_hold_the_answer) {
  auto seen = run_plainly(a_run(language::python, R"(
import threading
def f():
    threading.Thread(target=threading.Event().wait).start()
    return 1
)"),
                          std::chrono::seconds{20});
  BOOST_TEST(seen.value_json == "1");
}

BOOST_AUTO_TEST_CASE(the_environment_is_the_runs_and_nothing_else) { // S2
  auto run = a_run(language::python,
                   "def f(): return [os.environ.get('A'), "
                   "os.environ.get('LETTA_AGENT_ID'), 'USER' in os.environ, "
                   "os.environ.get('NO_COLOR')]");
  run.env.emplace("A", secret{"it's \"b\"\n\xc3\xa9"});
  run.env.emplace("LETTA_AGENT_ID", secret{"agent-1"});
  auto seen = run_plainly(run);
  BOOST_TEST(seen.value_json
             == "[\"it's \\\"b\\\"\\n\xc3\xa9\",\"agent-1\",false,\"1\"]");
}

BOOST_AUTO_TEST_CASE(secrets_are_not_on_the_command_line) { // S7
  auto run = a_run(language::python, "def f(): return 1");
  run.env.emplace("KEY", secret{"s3cret"});
  auto p = script::build_program(run, test_paths()).value();
  for (const auto& argument : p.argv)
    BOOST_TEST(argument.find("s3cret") == std::string::npos);
  BOOST_TEST(!p.environment.contains("KEY"));
}

BOOST_AUTO_TEST_CASE(a_closed_channel_is_no_success) {
  auto seen = run_plainly(
    a_run(language::python, "def f():\n    os.close(3)\n    return 1"));
  BOOST_TEST((seen.status == run_status::error));
  BOOST_TEST(seen.failure.name == "NoResult");
  BOOST_TEST(seen.exit_code == 1);
}

BOOST_AUTO_TEST_CASE(closed_output_does_not_lose_the_result) {
  auto seen = run_plainly(a_run(language::python,
                                "def f():\n    sys.stdout.close()\n"
                                "    sys.stderr = None\n    return 1"));
  BOOST_TEST(seen.value_json == "1");
}

BOOST_AUTO_TEST_CASE(without_a_name_the_last_function_is_called) {
  auto run = a_run(language::python,
                   "def a(): return 'a'\ndef b(): return 'b'\nx = a");
  run.function.clear();
  BOOST_TEST(run_plainly(run).value_json == R"("b")");
}

BOOST_AUTO_TEST_CASE(a_failure_without_a_name_has_that_of_the_function_called) {
  auto run = a_run(language::python, "def a(): pass\ndef b(): return 1 / 0");
  run.name.clear();
  run.function.clear();
  BOOST_TEST(run_plainly(run).failure.friendly
             == "Error executing function b: ZeroDivisionError: division by "
                "zero");
  run.source = "def a(:";
  BOOST_TEST(run_plainly(run).failure.friendly.starts_with(
    "Error executing code: SyntaxError: "));
}

BOOST_AUTO_TEST_CASE(an_object_of_strange_manners_is_not_the_function) {
  auto run = a_run(language::python,
                   "def f(): return 1\nclass D(dict):\n"
                   "    __getattr__ = dict.__getitem__\nd = D()\n");
  run.function.clear();
  BOOST_TEST(run_plainly(run).value_json == "1");
}

BOOST_AUTO_TEST_CASE(ids_and_state_are_given_where_asked_for) {
  auto run = a_run(language::python,
                   "def f(x, agent_id, agent_state): return [x, agent_id, "
                   "agent_state]",
                   R"({"x":1,"agent_id":"from the model"})");
  BOOST_TEST(run_plainly(run).value_json == "[1,null,null]");
  run.agent_id = "agent-1";
  run.agent_state_json = R"({"id":"agent-1"})";
  BOOST_TEST(run_plainly(run).value_json
             == R"([1,"agent-1",{"id":"agent-1"}])");
}

BOOST_AUTO_TEST_CASE(models_of_an_args_schema_are_instances) {
  auto run = a_run(language::python,
                   "def f(order: 'Order', note: str):\n"
                   "    item = order.items[0]\n"
                   "    return [item.name, item.count, note, "
                   "type(order).__name__]",
                   R"({"order":{"items":[{"name":"n"}]},"note":"7"})");
  run.args_json_schema = R"({"type":"object","properties":{
    "order":{"$ref":"#/$defs/Order"},"note":{"type":"string"}},
    "required":["order","note"],"$defs":{
    "Order":{"type":"object","title":"Order","properties":{"items":
      {"type":"array","items":{"$ref":"#/$defs/Item"}}},"required":["items"]},
    "Item":{"type":"object","properties":{"name":{"type":"string"},
      "count":{"type":"integer","default":1}},"required":["name"]}}})";
  for (const auto& python : pythons()) { // with pydantic or without
    run.interpreter = python;
    auto seen = run_plainly(run);
    BOOST_TEST(seen.failure.friendly == "");
    BOOST_TEST(seen.value_json == R"(["n",1,"7","Order"])");
  }
}

BOOST_AUTO_TEST_CASE(every_python_gives_the_same_answers) {
  auto run = a_run(language::python, R"(
from __future__ import annotations
import enum, datetime, asyncio
class C(enum.Enum):
    RED = "red"
async def f(c: C, when: datetime.datetime, n: Optional[int] = None,
            xs: List[int] = ()):
    await asyncio.sleep(0)
    print("x")
    return {"c": c, "when": when, "n": n, "xs": xs, "big": 2 ** 20000 > 0}
)",
                   R"({"c":"red","when":"2024-01-02T03:04:05Z","xs":["1"]})");
  for (const auto& python : pythons()) {
    BOOST_TEST_CONTEXT(python) {
      run.interpreter = python;
      auto seen = run_plainly(run);
      BOOST_TEST(seen.failure.friendly == "");
      BOOST_TEST(seen.stdout_text == "x\n");
      BOOST_TEST(seen.value_json
                 == R"({"c":"red","when":"2024-01-02T03:04:05+00:00",)"
                    R"("n":null,"xs":[1],"big":true})");
      auto failed = a_run(language::python,
                          "def f():\n    g()\ndef g():\n"
                          "    raise ValueError('x')");
      failed.interpreter = python;
      seen = run_plainly(failed);
      BOOST_TEST(seen.failure.traceback.find("line 4, in g")
                 != std::string::npos);
      BOOST_TEST(seen.failure.traceback.find("troupe_runner")
                 == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(compiled_code_gives_the_same_answer) {
  auto run
    = a_run(language::python, "def f(a):\n    return a + 1 / 0", R"({"a":1})");
  auto compiled = carry_out(script::build_compile(run, test_paths()).value());
  auto code = script::parse_compiled(compiled.answer).value();
  BOOST_TEST(!code.empty());
  auto report
    = carry_out(script::build_program(run, test_paths(), code).value());
  run_result seen;
  seen.reason = exit_reason::exited;
  script::interpret(run, report.answer, seen);
  BOOST_TEST(seen.failure.name == "ZeroDivisionError");
  BOOST_TEST(seen.failure.traceback.find("return a + 1 / 0")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(compiling_runs_nothing_and_reports_errors) {
  auto run = a_run(language::python, "print('ran')\ndef f(): pass");
  auto report = carry_out(script::build_compile(run, test_paths()).value());
  BOOST_TEST(report.out == "");
  BOOST_TEST(script::parse_compiled(report.answer).has_value());
  run.source = "def f(:";
  report = carry_out(script::build_compile(run, test_paths()).value());
  auto refused = script::parse_compiled(report.answer);
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST(refused.error().text.find("line 1") != std::string::npos);
}

struct snippet {
  const char* source;
  const char* json;
  const char* out = "";
};
std::ostream& operator<<(std::ostream& out, const snippet& s) {
  return out << s.source;
}

const snippet snippets[] = {
  {"1 + 1", "2"},
  {"x = 2\nx * 3", "6"},
  {"print('hi')", "null", "hi\n"},
  {"import asyncio\nawait asyncio.sleep(0)\nx = 5\nx", "5"},
  {"import asyncio\nasync def g(): return 4\nawait g()", "4"},
  {"async def g(): return 4\ng()", "4"},
  {"x = 1", "null"},
  {"for i in range(2): print(i)", "null", "0\n1\n"},
  {"class P:\n    def __repr__(self): return 'P()'\nP()", R"~("P()")~"},
  {"[n * 2 for n in (1, 2)]", "[2,4]"},
  {"def g(): return y\ny = 3\ng()", "3"},
  {"", "null"},
  {"n + 1", "6"},
};

BOOST_DATA_TEST_CASE(a_snippet_gives_its_last_expression, snippets) { // C11
  auto run = a_run(language::python, sample.source, R"({"n":5})");
  run.kind = run_kind::code;
  auto seen = run_plainly(run);
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.value_json == sample.json);
  BOOST_TEST(seen.stdout_text == sample.out);
}

BOOST_AUTO_TEST_SUITE_END()
