// What sources are allowed to look like: arguments by position, syntax that is
// refused by its name, the first line of a program, what is called unasked.
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(node_manners)

namespace {

run_result run_of(const char* source, const char* args = "{}",
                  language lang = language::typescript) {
  return run_plainly(a_run(lang, source, args));
}

// -- arguments by position (docs/reference/letta.md#typescript-tools) ---------

constexpr auto two = R"({"type":"object","properties":{"b":{},"a":{}},)"
                     R"("required":["a"]})";
constexpr auto city = R"({"type":"object","properties":)"
                      R"({"city":{"type":"string"}}})";
constexpr auto options = R"({"type":"object","properties":)"
                         R"({"options":{"type":"object"}}})";

constexpr auto nullable
  = R"({"properties":{"a":{"type":["number","null"]},)"
    R"("b":{"anyOf":[{"type":"number"},{"type":"null"}]},"c":{}}})";

struct row {
  const char* name;
  const char* schema;
  const char* source;
  const char* args;
  const char* json;
  language lang = language::typescript;
};

std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.name;
}

const row rows[] = {
  {"required ones first, then as the schema has them", two,
   "export function f(x, y) { return [x, y] }", R"({"b":2,"a":1})", "[1,2]"},
  {"the whole of a tool's schema says the same",
   R"({"name":"f","parameters":{"properties":{"b":{},"a":{}}}})",
   "export function f(x, y) { return [x, y] }", R"({"a":1,"b":2})", "[2,1]"},
  {"a hole stays a hole", R"({"properties":{"a":{},"b":{},"c":{}}})",
   "export function f(x, y = 5, z) { return [x, y, z] }", R"({"a":1,"c":3})",
   "[1,5,3]"},
  {"null where there is a default is the default", two,
   "export function f(x, y = 5) { return [x, y] }", R"({"a":1,"b":null})",
   "[1,5]"},
  {"null that the schema tells of is null", nullable,
   "export function f(a = 5, b = 6, c = 7) { return [a, b, c] }",
   R"({"a":null,"b":null,"c":null})", "[null,null,7]"},
  {"and so it is by position", nullable,
   "export function f(x = 5, y = 6, z = 7) { return [x, y, z] }",
   R"({"a":null,"b":null,"c":null})", "[null,null,7]"},
  {"names bind where one is known", two,
   "export function f(b, a) { return [b, a] }", R"({"b":2,"a":1})", "[2,1]"},
  {"a name that is known counts when it is not given", two,
   "export function f(b, a) { return [b, a] }", R"({"a":1})", "[null,1]"},
  {"underscores are no part of a name", two,
   "export function f(_a, b) { return [_a, b] }", R"({"b":2,"a":1})", "[1,2]"},
  {"underscores are no part of a name without a schema either", "",
   "export function f(_a, b) { return [_a, b] }", R"({"b":2,"a":1})", "[1,2]"},
  {"one text of another name", city,
   "export function f(cityName: string) { return cityName }", R"({"city":"x"})",
   R"("x")"},
  {"one text that may be null", city,
   "export const f = async (place: string | null): Promise<any> => place",
   R"({"city":"x"})", R"("x")"},
  {"one text by its default", city, "export default (p = 'y') => p",
   R"({"city":"x"})", R"("x")"},
  {"one text by its JSDoc", city,
   "/** @param {string} place */\nfunction f(place) { return place }",
   R"({"city":"x"})", R"("x")", language::javascript},
  {"one object for everything", city,
   "export function f(args: { city: string }) { return args }",
   R"({"city":"x"})", R"({"city":"x"})"},
  {"one object of a named type for everything", city,
   "interface Args { city: string }\nexport const f = (args: Args) => args",
   R"({"city":"x"})", R"({"city":"x"})"},
  {"one parameter that may be anything gets everything", city,
   "exports.f = (args) => args", R"({"city":"x"})", R"({"city":"x"})",
   language::javascript},
  {"a destructured parameter takes its members", city,
   "export function f({ city }: { city: string }) { return city }",
   R"({"city":"x"})", R"("x")"},
  {"an object whose members are others is one argument", options,
   "export function f(o: { a: number }) { return o }", R"({"options":{"a":1}})",
   R"({"a":1})"},
};

// -- syntax that is refused --------------------------------------------------

struct refused {
  const char* source;
  const char* failure;
};

std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.source;
}

const refused syntax[] = {
  {"\nnamespace X { export const a = 1 }\nexport function f() { return X.a }",
   "SyntaxError: f.ts: line 2: the namespace 'X' holds values"},
  {"namespace X.Y {\n  namespace Z { export type A = {} | 1; export let b }\n}",
   "SyntaxError: f.ts: line 1: the namespace 'X.Y' holds values"},
  {"class A {\n  @log m() {}\n}\nexport function f() {}",
   "SyntaxError: f.ts: line 2: decorators are not supported; call"},
  {"class A {\n  constructor(@inject() x: number) {}\n}",
   "SyntaxError: f.ts: line 2: decorators are not supported; call"},
  {"export default class f {}",
   "TypeError: 'f' in the source is a class, no function"},
  {"export class f { constructor(a: string) {} }",
   "TypeError: 'f' in the source is a class, no function"},
};

// Later versions of Node read these.
const refused later[] = {
  {"class A {\n  static accessor x = 1\n}",
   "SyntaxError: f.ts: line 2: 'accessor' fields are not supported; write"},
  {"export function f() {\n  using x = null;\n}",
   "SyntaxError: f.ts: line 2: 'using' declarations are not supported; write"},
  {"export async function f() {\n  await using x = null;\n}",
   "SyntaxError: f.ts: line 2: 'using' declarations are not supported; write"},
};

void is_refused(const refused& sample) {
  const auto seen = run_of(sample.source);
  const auto wanted
    = std::string{"Error executing function f: "} + sample.failure;
  BOOST_TEST(seen.failure.friendly.substr(0, wanted.size()) == wanted);
}

} // namespace

BOOST_DATA_TEST_CASE(names_bind_and_else_the_order_of_the_schema, rows) {
  auto run = a_run(sample.lang, sample.source, sample.args);
  run.args_json_schema = sample.schema;
  const auto seen = run_plainly(run);
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.value_json == sample.json);
  // As most tools have it: in the schema that a model is shown.
  run.json_schema = std::move(run.args_json_schema);
  run.args_json_schema.clear();
  if (run.json_schema.find("parameters") == std::string::npos)
    run.json_schema = R"({"name":"f","parameters":)" + run.json_schema + "}";
  BOOST_TEST(run_plainly(run).value_json == sample.json);
}

BOOST_DATA_TEST_CASE(syntax_that_is_not_supported_is_named, syntax) {
  is_refused(sample);
}

BOOST_DATA_TEST_CASE(syntax_that_node_may_not_know_yet_is_named, later) {
  if (run_of(sample.source).failure.name == "SyntaxError")
    is_refused(sample);
}

BOOST_AUTO_TEST_CASE(a_method_that_is_named_class_is_none) {
  for (auto source : {"exports.f = { class(a) { return a } }.class",
                      "exports.f = class$ => class$"})
    BOOST_TEST(
      run_of(source, R"({"a":1})", language::javascript).failure.friendly
      == "");
}

BOOST_AUTO_TEST_CASE(a_namespace_of_types_is_no_more_than_types) {
  const auto seen = run_of(R"(
namespace X {
  export type A = { a: string } | { b: string }
  export interface B { x: 1 } interface C {}
  namespace Y { type D = A
    | null }
  export declare function h(): void
}
declare namespace Z { const b: number }
declare module "other" { export const c: number }
export function f(namespace: X.A) { const module = { namespace }; return module })",
                           R"({"namespace":{"a":"namespace X { let a }"}})");
  BOOST_TEST(seen.value_json
               == R"({"namespace":{"a":"namespace X { let a }"}})",
             seen.failure.friendly);
}

BOOST_AUTO_TEST_CASE(the_first_line_of_a_program_is_for_its_shell) {
  constexpr auto source = "#!/usr/bin/env node\n"
                          "function f() { throw new Error('no') }";
  for (const auto& prefix : {std::string{}, std::string{"\xef\xbb\xbf"}})
    for (auto lang : {language::javascript, language::typescript}) {
      const auto seen = run_of((prefix + source).c_str(), "{}", lang);
      BOOST_TEST(seen.failure.message == "no");
      BOOST_TEST(seen.failure.traceback.find("s:2:22") != std::string::npos,
                 seen.failure.traceback);
    }
}

BOOST_AUTO_TEST_CASE(half_a_surrogate_pair_costs_no_error_its_message) {
  auto failure
    = run_of("export function f() { throw new Error('a\\ud800b\\u{1f600}') }")
        .failure;
  BOOST_TEST(failure.friendly
             == "Error executing function f: Error: a\\ud800b\xf0\x9f\x98\x80");
  failure = run_of("export function f() { throw 'a\\udc00' }").failure;
  BOOST_TEST(failure.message == "a\\udc00");
  failure = run_of("export function f() {"
                   " throw Object.assign(new Error('x'), {name: 'E\\udfff'}) }")
              .failure;
  BOOST_TEST(failure.name == "E\\udfff");
}

BOOST_AUTO_TEST_CASE(a_message_is_not_cut_within_a_surrogate_pair) {
  const auto failure
    = run_of("export function f() {"
             " throw new Error('a'.repeat(16383) + '\\u{1f600}') }")
        .failure;
  BOOST_TEST(failure.name == "Error");
  BOOST_TEST(failure.message == std::string(16383, 'a'));
}

BOOST_AUTO_TEST_CASE(without_a_name_the_last_exported_function_is_called) {
  for (auto source :
       {"export function own() { return 'own' }\nfunction helper() {}",
        "export const own = async () => 'own', limit = 5\nfunction helper() {}",
        "function own() { return 'own' }\nexport { own }\nfunction helper() {}",
        "function own() { return 'own' }\nexport default own\n"
        "function helper() {}",
        "function helper() {}\nexport default () => 'own'",
        "export function first() {}\nexport function own() { return 'own' }",
        "function first() {}\nfunction own() { return 'own' }\nconst limit = "
        "5\n"
        "class Last {}"}) {
    auto run = a_run(language::typescript, source);
    run.function.clear();
    const auto seen = run_plainly(run);
    BOOST_TEST(seen.value_json == R"("own")",
               source << ": " << seen.failure.friendly);
  }
}

BOOST_AUTO_TEST_CASE(what_is_suggested_instead_is_a_function) {
  const auto failure
    = run_of("const ff = 5\nfunction g() {}\nconst fff = (1 + 2)\n").failure;
  BOOST_TEST(failure.message
             == "the source defines no function 'f' at its top level; did you "
                "mean 'g'?");
}

BOOST_AUTO_TEST_SUITE_END()
