// TypeScript and JavaScript tools (docs/reference/letta.md#typescript-tools,
// Letta's bugs included in what must not happen).
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(node_tools)

namespace {

struct row {
  const char* name;
  const char* source;
  const char* args;
  const char* json;
  const char* failure = ""; // the friendly message begins so
  bool fallback = false;
};

std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.name;
}

// -- how functions are found and called --------------------------------------

const row calls[] = {
  {"exported function",
   "export function f(a: number, b: number) { return a + b }",
   R"({"a":1,"b":2})", "3"},
  {"async function",
   "export async function f(a: string): Promise<string> {\n"
   "  await new Promise(r => setTimeout(r, 1));\n"
   "  return a + '!';\n}",
   R"({"a":"x"})", R"("x!")"},
  {"arrow function", "export const f = (a: number) => a * 2", R"({"a":4})",
   "8"},
  {"async arrow function", "export const f = async (a: number) => a",
   R"({"a":4})", "4"},
  {"arrow function without brackets", "const f = a => a", R"({"a":4})", "4"},
  {"default export without a name", "export default (a: number) => a",
   R"({"a":4})", "4"},
  {"default export with the name",
   "export default async function f(a: number) { return a }", R"({"a":4})",
   "4"},
  {"exported under another name",
   "function g(a: number) { return a }\nexport { g as f }", R"({"a":4})", "4"},
  {"not exported at all", "function f(a: number) { return a }", R"({"a":4})",
   "4"},
  {"a promise that is not called async is awaited",
   "export function f() { return Promise.resolve(7) }", "{}", "7"},
  {"arguments by name, whatever their order",
   "export function f(a, b, c) { return [a, b, c] }", R"({"c":3,"a":1,"b":2})",
   "[1,2,3]"},
  {"C10 a hole stays a hole",
   "export function f(a, b?, c?) { return [a, b, c] }", R"({"a":1,"c":3})",
   "[1,null,3]"},
  {"defaults apply to holes",
   "export function f(a: number, b: string = 'd', c = [1]) { return [a, b, c] "
   "}",
   R"({"a":1})", R"([1,"d",[1]])"},
  {"C10 null for a parameter with a default takes the default",
   "export function f(a = 5) { return a }", R"({"a":null})", "5"},
  {"a destructured parameter",
   "export function f({ a, b = 2 }: { a: number; b?: number }) { return a + b "
   "}",
   R"({"a":1})", "3"},
  {"a destructured parameter by its schema name",
   "export function f(x: number, { a }: { a: number }) { return x + a }",
   R"({"options":{"a":1},"x":2})", "3"},
  {"a rest parameter",
   "export function f(a: number, ...more: number[]) { return [a, more] }",
   R"({"more":[2,3],"a":1})", "[1,[2,3]]"},
  {"one object for everything",
   "export function f(input: { a: number, b: number }) { return input.a + "
   "input.b }",
   R"({"a":1,"b":2})", "3"},
  {"defaults with commas and brackets inside",
   "export function f(a = [1, (2), ')'], b = { x: ',' }, c = `,${1}`) "
   "{ return [a, b, c] }",
   R"({"c":1})", R"~([[1,2,")"],{"x":","},1])~"},
  {"function-typed parameters do not end the list",
   "export function f(a: (x: number) => void, b: number) { return b }",
   R"({"b":2})", "2"},
  {"generics, enums, interfaces, satisfies",
   "enum Color { Red = 'red' }\ninterface A<T> { x: T }\n"
   "type B = A<string> | null;\n"
   "export function f<T extends string>(a: T, b?: B): string "
   "{ return (a as string) + Color.Red + ({} satisfies object ? '' : '!') }",
   R"({"a":"x"})", R"("xred")"},
  {"the words export and import in texts and comments",
   "// export function g() {}\n/* import x from 'nowhere' */\n"
   "export function f() { return 'export import' /* export */ }",
   "{}", R"("export import")"},
  {"regular expressions with quotes and slashes",
   "export function f(a: string) { return a.replace(/[\"'`/]/g, '') }",
   R"({"a":"x\"y'z`"})", R"("xyz")"},
  {"imports over several lines",
   "import {\n  join,\n  basename as base,\n} from 'node:path';\n"
   "import os, * as all from \"os\";\n"
   "export function f() { return [join('a', 'b'), base('/x/y'), "
   "os.EOL === all.EOL] }",
   "{}", R"(["a/b","y",true])"},
  {"dynamic import",
   "export async function f() "
   "{ return (await import('path')).basename('/a/b') }",
   "{}", R"("b")"},
  {"require under its usual other name",
   "import { createRequire } from 'module';\n"
   "const require = createRequire(import.meta.url);\n"
   "export function f() { return require('path').basename('/a/b') }",
   "{}", R"("b")"},
  {"require in what it evaluates",
   "export function f(code: string) { return eval(code) }",
   R"js({"code":"require('path').basename('/a/b')"})js", R"("b")"},
  {"members of import.meta",
   "export function f() { const { filename, dirname } = import.meta;\n"
   "return [import.meta.url === 'file://' + filename,"
   " filename.startsWith(dirname)] }",
   "{}", "[true,true]"},
  {"a long head before the parameters",
   "export const f = async function (\n/* ( */ a: string = ')',\n"
   "b: (x: number) => string = (x) => `(${x}`, { c = [1, (2)] } = {}) {\n"
   "return [a, b(1), c] }",
   R"({"a":"x"})", R"(["x","(1",[1,2]])"},
  {"top-level await",
   "const x = await Promise.resolve(3);\n"
   "export function f() { return x }",
   "{}", "3"},
  {"the client is defined and null without a key",
   "declare const client: any;\nexport function f() { return client === null }",
   "{}", "true"},
  {"argument names that look like machinery",
   "export function f(client, module, require, exports) "
   "{ return [client, module, require, exports] }",
   R"({"client":1,"module":2,"require":3,"exports":4})", "[1,2,3,4]"},
  {"a class of its own",
   "class P { constructor(readonly x: number) {} }\n"
   "export function f() { return new P(2) }",
   "{}", R"({"x":2})"},
};

// -- what arrives ------------------------------------------------------------

const row values[] = {
  {"C3 every kind of quote",
   "export function f() { return `it's \"q\" \\`b\\`` }", "{}",
   R"("it's \"q\" `b`")"},
  {"C3 line ends and backslashes",
   "export function f() { return 'line1\\nline2\\\\n\\t\\u0001' }", "{}",
   R"("line1\nline2\\n\t\u0001")"},
  {"C3 text that looks like an answer",
   "export function f() { return '{\"results\": 1, \"agent_state\": {}}' }",
   "{}", R"("{\"results\": 1, \"agent_state\": {}}")"},
  {"characters beyond the BMP", "export function f() { return '\\u{1f600}' }",
   "{}", "\"\xf0\x9f\x98\x80\""},
  {"lone surrogate", "export function f() { return 'x\\ud800' }", "{}",
   "\"x\xef\xbf\xbd\""},
  {"undefined is null", "export function f() {}", "{}", "null"},
  {"members without a value are left out",
   "export function f() { return { a: undefined, b: [undefined], c: () => 1 } "
   "}",
   "{}", R"({"b":[null]})"},
  {"bigint keeps its digits", "export function f() { return 2n ** 70n }", "{}",
   "1180591620717411303424"},
  {"date, map, set",
   "export function f() { return [new Date(0), "
   "new Map([['k', 1]]), new Map([[{}, 1]]), new Set([1])] }",
   "{}", R"(["1970-01-01T00:00:00.000Z",{"k":1},[[{},1]],[1]])"},
  {"numbers that JSON has not",
   "export function f() { return [NaN, -Infinity, -0] }", "{}",
   R"(["NaN","-Infinity",0])"},
  {"bytes of text", "export function f() { return Buffer.from('hi') }", "{}",
   R"("aGk=")"},
  {"bytes of no text",
   "export function f() { return new Uint8Array([255, 254]) }", "{}",
   R"("//4=")"},
  {"typed arrays", "export function f() { return new Float32Array([1, 2]) }",
   "{}", "[1,2]"},
  {"what has its own JSON form",
   "export function f() { return { toJSON() { return { a: 1 } } } }", "{}",
   R"({"a":1})"},
  {"generators", "export function* f() { yield 1; yield 2 }", "{}", "[1,2]"},
  {"async generators", "export async function* f() { yield 1; yield 2 }", "{}",
   "[1,2]"},
  {"a function is told by its text", "export function f() { return f }", "{}",
   R"("[function f]")", "", true},
};

// -- what fails --------------------------------------------------------------

const row failures[] = {
  {"thrown error", "export function f() { throw new TypeError('bad\\nline') }",
   "{}", "null", "Error executing function f: TypeError: bad\nline"},
  {"thrown text", "export function f() { throw 'text' }", "{}", "null",
   "Error executing function f: Error: text"},
  {"rejected promise", "export async function f() { throw new Error('no') }",
   "{}", "null", "Error executing function f: Error: no"},
  {"own error class",
   "class MyError extends Error { name = 'MyError' }\n"
   "export function f() { throw new MyError('m') }",
   "{}", "null", "Error executing function f: MyError: m"},
  {"error in a timer",
   "export function f() { setTimeout(() => { throw new "
   "Error('late') }, 1); return new Promise(() => {}) }",
   "{}", "null", "Error executing function f: Error: late"},
  {"C4 process.exit(0)", "export function f() { process.exit(0) }", "{}",
   "null",
   "Error executing function f: ProcessExit: the tool called process.exit(0)"},
  {"C4 the process is simply gone",
   "export function f() { process.reallyExit(0) }", "{}", "null",
   "Error executing function f: NoResult: the process ended with "
   "exit code 0"},
  {"a promise that never settles",
   "export function f() "
   "{ return new Promise(() => {}) }",
   "{}", "null", "Error executing function f: NoResult: nothing is left"},
  {"no such function", "export function fetchAll() {}\nexport function ff() {}",
   "{}", "null",
   "Error executing function f: ReferenceError: the source defines "
   "no function 'f' at its top level; did you mean 'ff'?"},
  {"no function", "export const f = 5", "{}", "null",
   "Error executing function f: TypeError: 'f' in the source is not a "
   "function"},
  {"unexpected argument", "export function f(a, b) {}", R"({"z":1})", "null",
   "Error executing function f: TypeError: unexpected argument 'z': its "
   "parameters are a, b"},
  {"syntax error with its place", "export function f(a: number {\n}", "{}",
   "null", "Error executing function f: SyntaxError: f.ts: "},
  {"missing package",
   "import x from 'no-such-package';\nexport function f() { x() }", "{}",
   "null",
   "Error executing function f: Error: Cannot find module "
   "'no-such-package'; is it among the tool's npm_requirements?"},
};

void check(const row& sample) {
  auto seen
    = run_plainly(a_run(language::typescript, sample.source, sample.args));
  auto friendly = seen.failure.friendly;
  if (std::string{sample.failure}.empty())
    BOOST_TEST(friendly == "");
  else
    BOOST_TEST(friendly.substr(0, std::string{sample.failure}.size())
               == sample.failure);
  BOOST_TEST((seen.status == run_status::success) == friendly.empty());
  BOOST_TEST(seen.value_json == sample.json);
  BOOST_TEST(seen.value_is_text_fallback == sample.fallback);
}

} // namespace

BOOST_AUTO_TEST_CASE(the_build_has_a_transpiler) {
  BOOST_TEST(script::typescript_available());
}

BOOST_DATA_TEST_CASE(a_function_is_called_as_its_signature_says, calls) {
  check(sample);
}

BOOST_DATA_TEST_CASE(a_value_arrives_exactly, values) {
  check(sample);
}

BOOST_DATA_TEST_CASE(a_failure_tells_what_happened, failures) {
  check(sample);
}

BOOST_AUTO_TEST_CASE(output_stays_apart_from_the_result) {
  auto seen = run_plainly(a_run(language::typescript, R"(
export function f() {
  console.log("out");
  console.error("err");
  process.stdout.write("\x7fTRP no frame");
  return 1;
})"));
  BOOST_TEST(seen.value_json == "1");
  BOOST_TEST(seen.stdout_text == "out\n\x7fTRP no frame");
  BOOST_TEST(seen.stderr_text == "err\n");
}

BOOST_AUTO_TEST_CASE(a_failure_shows_the_lines_of_the_tool_only) {
  auto seen
    = run_plainly(a_run(language::typescript, R"(interface A { x: number }
function g(a: A) {
  throw new RangeError("here");
}
export function f() {
  g({ x: 1 });
})"));
  const auto& trace = seen.failure.traceback;
  BOOST_TEST(trace.find("f.ts:3:9") != std::string::npos);
  BOOST_TEST(trace.find("f.ts:6:3") != std::string::npos);
  BOOST_TEST(trace.find("serve.cjs") == std::string::npos);
  BOOST_TEST(trace.find("node:") == std::string::npos);
  BOOST_TEST(seen.stderr_text == trace);
}

BOOST_AUTO_TEST_CASE(partial_output_survives_a_timeout) { // C6
  auto seen = run_plainly(
    a_run(language::javascript,
          "function f() { process.stdout.write('before'); for (;;); }"),
    std::chrono::milliseconds{1500});
  BOOST_TEST((seen.reason == exit_reason::wall_timeout));
  BOOST_TEST(seen.stdout_text == "before");
  BOOST_TEST(seen.failure.name == "TimeoutError");
}

BOOST_AUTO_TEST_CASE(variables_and_ids_are_in_process_env) {
  auto run = a_run(language::typescript,
                   "export function f() { return [process.env.LETTA_AGENT_ID, "
                   "process.env.A, process.env.HOSTNAME] }");
  run.env.emplace("LETTA_AGENT_ID", secret{"agent-1"});
  run.env.emplace("A", secret{"it's \"b\"\n"});
  auto seen = run_plainly(run);
  BOOST_TEST(seen.value_json == R"(["agent-1","it's \"b\"\n",null])");
}

BOOST_AUTO_TEST_CASE(javascript_needs_no_types_and_may_be_commonjs) {
  auto seen = run_plainly(a_run(
    language::javascript,
    "const path = require('path');\nmodule.exports = { f: a => path.sep + a }",
    R"({"a":"x"})"));
  BOOST_TEST(seen.value_json == R"("/x")");
}

BOOST_AUTO_TEST_CASE(compiled_code_gives_the_same_answer) {
  auto run
    = a_run(language::typescript,
            "export function f(a: number) { return a + 1 }", R"({"a":1})");
  auto compiled = carry_out(script::build_compile(run, test_paths()).value());
  auto code = script::parse_compiled(compiled.answer).value();
  BOOST_TEST(!code.empty());
  auto report
    = carry_out(script::build_program(run, test_paths(), code).value());
  run_result seen;
  seen.reason = exit_reason::exited;
  script::interpret(run, report.answer, seen);
  BOOST_TEST(seen.value_json == "2");
}

BOOST_AUTO_TEST_CASE(source_that_does_not_compile_says_so) {
  auto run = a_run(language::typescript, "export function f(a: number {");
  auto compiled = carry_out(script::build_compile(run, test_paths()).value());
  BOOST_TEST(script::parse_compiled(compiled.answer).has_error());
}

struct snippet {
  const char* source;
  const char* json;
};
std::ostream& operator<<(std::ostream& out, const snippet& s) {
  return out << s.source;
}

const snippet snippets[] = {
  {"1 + 1", "2"},
  {"const x: number = 20\nx + 1;\n", "21"},
  {"const x = await Promise.resolve(41)\nlet y = x\ny + 1", "42"},
  {"[1, 2]\n  .map(x => x * 2)\n  .filter(Boolean);", "[2,4]"},
  {"if (true)\n  console.log('x')", "null"},
  {"const f = () => 1", "null"},
  {"function f() { return 1 }", "null"},
  {"({ a: 1 })", R"({"a":1})"},
  {"import { basename } from 'path'\nbasename('/a/b')", R"("b")"},
  {"const a = 1\n+ 2", "null"},
  {"let n = 0\nfor (let i = 0; i < 3; ++i) { n += i }\nn", "3"},
  {"`a${1 + 1}`", R"("a2")"},
  {"Promise.resolve(5)", "5"},
  {"", "null"},
};

BOOST_DATA_TEST_CASE(a_snippet_gives_its_last_expression, snippets) {
  auto run = a_run(language::typescript, sample.source);
  run.kind = run_kind::code;
  auto seen = run_plainly(run);
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.value_json == sample.json);
}

BOOST_AUTO_TEST_SUITE_END()
