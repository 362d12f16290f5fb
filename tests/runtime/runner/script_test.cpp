#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(scripts)

namespace {

constexpr auto py = language::python;
constexpr auto js = language::javascript;
constexpr auto ts = language::typescript;

struct row {
  language lang;
  const char* source;
  const char* printed;
  const char* json;
};
std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.source;
}

prepared_run a_script(language lang, std::string source) {
  auto run = a_run(lang, std::move(source));
  run.function.clear();
  run.may_be_script = true;
  return run;
}

run_result run_compiled(const prepared_run& run) {
  auto compiled = carry_out(script::build_compile(run, test_paths()).value());
  auto code = script::parse_compiled(compiled.answer).value();
  auto report
    = carry_out(script::build_program(run, test_paths(), code).value());
  run_result seen;
  seen.reason = report.reason;
  seen.exit_code = report.exit_code;
  seen.stdout_text = report.out;
  script::interpret(run, report.answer, seen);
  return seen;
}

const row programs[] = {
  {py, "print('hi')", "hi\n", "null"},
  {py, "40 + 2", "", "42"},
  {py, "x = 1", "", "null"},
  {py, "def main(): print('sent')\nif __name__ == '__main__': main()", "sent\n",
   "null"},
  {py, "def main(): print('sent')\nif '__main__' == __name__:\n    r = main()",
   "sent\n", "null"},
  {py, "def main(): print('sent')\nresult = main()", "sent\n", "null"},
  {py, "def add(a, b): return a + b\nadd(40, 2)", "", "42"},
  {py, "def f(x): return x\nfor i in range(2): print(f(i))", "0\n1\n", "null"},
  {py, "import sys\nprint('x')\nsys.exit(0)", "x\n", "null"},
  {py, "import sys\ndef main(): return 0\nsys.exit(main())", "", "null"},
  {py, "async def f(): return 5\nawait f()", "", "5"},
  {py,
   "import threading, time, atexit\natexit.register(print, 'bye')\n"
   "def late(): time.sleep(.05); print('late')\n"
   "threading.Thread(target=late).start()\nprint('main')",
   "main\nlate\nbye\n", "null"},
  {js, "console.log('hi')", "hi\n", "null"},
  {js, "40 + 2", "", "42"},
  {js, "function main() { console.log('sent') }\nmain()", "sent\n", "null"},
  {js, "function main() { console.log('sent') }\nconst r = main()", "sent\n",
   "null"},
  {js,
   "async function main() { await new Promise(r => setTimeout(r, 10));\n"
   "  console.log('later') }\nmain();\nconsole.log('first')",
   "first\nlater\n", "null"},
  {js, "setTimeout(() => console.log('later'), 10)", "later\n", "null"},
  {js, "console.log('x'); process.exit(0)", "x\n", "null"},
  {js,
   "function main() { console.log('main') }\n"
   "if (require.main === module) main()",
   "main\n", "null"},
  {js, "for (const a of [1, 2]) console.log(a)\nfunction f(x) { return x.y }",
   "1\n2\n", "null"},
  {ts, "const x: number = 4;\nconsole.log(x)", "4\n", "null"},
  {ts, "enum C { A, B }\nfunction f(c: C) { return c }\nf(C.B)", "", "1"},
};

const row definitions[] = {
  {py,
   "import os\nX = os.sep\ntry:\n    import json\nexcept ImportError:\n"
   "    json = None\ndef a(): return 'a'\ndef b(): return X\n",
   "", R"("/")"},
  {py, "'A docstring.'\nf = lambda: 7", "", "7"},
  {js, "const X = 5\nfunction a()\n{\n  return 'a'\n}\nconst b = () =>\n  X",
   "", "5"},
  {js,
   "import { join } from 'path'\nexport const f = async () => join('a', 'b')\n"
   "export default f",
   "", R"("a/b")"},
  {js, "export default async (a) => 9", "", "9"},
  {js, "module.exports = async () => 11", "", "11"},
  {js, "'use strict'\nconst os = require('os')\nexports.f = () => 12", "",
   "12"},
  {js, "class A { m() { return 1 } }\nfunction f() { return new A().m() }", "",
   "1"},
  {ts,
   "interface I { a: number }\ntype T = string;\nenum C { A, B }\n"
   "export function f(): C { return C.B }",
   "", "1"},
};

void check(const row& sample, const run_result& seen) {
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.stdout_text == sample.printed);
  BOOST_TEST(seen.value_json == sample.json);
}

} // namespace

BOOST_DATA_TEST_CASE(a_program_runs_once_and_its_last_value_is_shown,
                     programs) {
  check(sample, run_plainly(a_script(sample.lang, sample.source)));
}

BOOST_DATA_TEST_CASE(of_a_source_that_only_defines_the_last_function_is_called,
                     definitions) {
  check(sample, run_plainly(a_script(sample.lang, sample.source)));
}

BOOST_AUTO_TEST_CASE(compiled_code_takes_the_same_way) {
  for (const auto& sample : {programs[3], definitions[0], programs[14]})
    check(sample, run_compiled(a_script(sample.lang, sample.source)));
}

BOOST_AUTO_TEST_CASE(a_call_never_runs_the_guard_but_at_letta) {
  const auto source = "def main():\n    print('sent')\n    return 1\n"
                      "if __name__ == '__main__':\n    main()\n";
  auto run = a_run(py, source);
  run.function = "main";
  check({py, source, "sent\n", "1"}, run_plainly(run));
  check({py, source, "sent\n", "1"}, run_compiled(run));
  run.as_letta = true;
  check({py, source, "sent\nsent\n", "1"}, run_plainly(run));
  check({py, source, "sent\nsent\n", "1"}, run_compiled(run));
}

BOOST_AUTO_TEST_CASE(a_program_that_fails_says_how) {
  struct {
    language lang;
    const char* source;
    const char* friendly;
  } const cases[]{
    {py, "import sys\nsys.exit(3)",
     "Error executing code: SystemExit: exit code 3"},
    {py, "import sys\nsys.exit('no input')",
     "Error executing code: SystemExit: no input"},
    {py, "print(1 / 0)",
     "Error executing code: ZeroDivisionError: division by zero"},
    {js, "process.exit(3)", "Error executing code: ProcessExit: exit code 3"},
    {js, "process.exitCode = 4",
     "Error executing code: ProcessExit: exit code 4"},
    {js, "setTimeout(() => { throw new Error('late') }, 5)",
     "Error executing code: Error: late"},
    {js, "await new Promise(() => {})",
     "Error executing code: NoResult: nothing is left to wait for, but the "
     "tool's promise never settled"},
  };
  for (const auto& c : cases) {
    const auto seen = run_plainly(a_script(c.lang, c.source));
    BOOST_TEST((seen.status == run_status::error), c.source);
    BOOST_TEST(seen.failure.friendly == c.friendly);
  }
}

BOOST_AUTO_TEST_CASE(source_of_another_language_gets_a_hint) {
  const auto seen
    = run_plainly(a_script(py, "export function f(a: number) { return a }"));
  BOOST_TEST(seen.failure.message.find("JavaScript or TypeScript")
             != std::string::npos);
  const auto mistaken = run_plainly(a_script(py, "def f(:\n    pass"));
  BOOST_TEST(mistaken.failure.message.find("TypeScript") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
