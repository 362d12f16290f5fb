// JSON schemas from TypeScript and JavaScript
// (docs/reference/letta.md#typescript-tools).
#include "runtime/engine/schema_deriver.hpp"
#include "runtime/json/json.hpp"
#include "runtime/runner/schema_program.hpp"
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(node_schema)

namespace {

result<derived_schema> derive(const std::string& source,
                              const std::string& function = "",
                              language lang = language::typescript) {
  auto p = script::build_schema_program(lang, source, function, test_paths())
             .value();
  auto report = carry_out(p);
  BOOST_TEST(report.out == ""); // nothing was executed
  return with_parameters(script::parse_schema_answer(report.answer));
}

struct row {
  const char* parameter;
  const char* property;
  bool required = true;
};
std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.parameter;
}

const row rows[] = {
  {"a: string", R"({"type":"string"})"},
  {"a: number", R"({"type":"number"})"},
  {"a: boolean", R"({"type":"boolean"})"},
  {"a?: string", R"({"type":"string"})", false},
  {"a: string | null", R"({"type":"string"})", false},
  {"a: number = 5", R"({"type":"number"})", false},
  {"a = 'x'", R"({"type":"string"})", false},
  {"a: string[]", R"({"type":"array","items":{"type":"string"}})"},
  {"a: Array<Array<number>>",
   R"({"type":"array","items":{"type":"array","items":{"type":"number"}}})"},
  {"a: Record<string, number>",
   R"({"type":"object","additionalProperties":{"type":"number"}})"},
  {"a: Map<string, number[]>",
   R"({"type":"object","additionalProperties":{"type":"array","items":)"
   R"({"type":"number"}}})"},
  {"a: { x: number, y?: string }",
   R"({"type":"object","properties":{"x":{"type":"number"},"y":)"
   R"({"type":"string"}},"required":["x"]})"},
  {"a: 'fast' | 'slow'", R"({"type":"string","enum":["fast","slow"]})"},
  {"a: string | number", R"({"anyOf":[{"type":"string"},{"type":"number"}]})"},
  {"a: Color", R"({"type":"string","enum":["red","blue"]})"},
  {"a: Item",
   R"({"type":"object","properties":{"id":{"type":"string"},)"
   R"("count":{"type":"number","description":"how many"},"kids":)"
   R"({"type":"array","items":{"type":"object"}}},)"
   R"("required":["id","kids"]})"},
  {"a: Mode",
   R"({"anyOf":[{"type":"string","enum":["x"]},)"
   R"({"type":"number"}]})"},
  {"a: [string, number]",
   R"({"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],)"
   R"("minItems":2,"maxItems":2})"},
  {"a: Date", R"({"type":"string","format":"date-time"})"},
  {"a: any", "{}"},
  {"a: Pick<Item, 'id'>",
   R"({"type":"object","properties":{"id":{"type":"string"}},)"
   R"("required":["id"]})"},
  {"a: SomewhereElse", R"({"type":"object"})"},
  {"...a: number[]", R"({"type":"array","items":{"type":"number"}})", false},
  {"{ a, b }: { a: string; b?: number }", R"({"type":"string"})"},
};

const char* const types = R"(
interface Base { id: string }
interface Item extends Base {
  /** how many */
  count?: number
  kids: Item[]
}
enum Color { Red = "red", Blue = "blue" }
type Mode =
  | 'x'
  | number;
console.log("executed");
)";

} // namespace

BOOST_DATA_TEST_CASE(a_parameter_becomes_a_property, rows) {
  auto made = derive(std::string{types} + "export async function f("
                     + sample.parameter + "): Promise<void> {}");
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  auto parameters = made->schema.at("parameters").as_object();
  BOOST_TEST(json::to_text(parameters.at("properties").at("a"))
             == sample.property);
  BOOST_TEST((parameters.at("required").as_array().size() == 1)
             == sample.required);
}

BOOST_AUTO_TEST_CASE(descriptions_come_from_jsdoc) {
  auto made = derive("/**\n * Adds\n * numbers.\n * @param a the first\n"
                     " * @param {number} b - the second\n *   goes on\n"
                     " * @returns their sum\n */\n"
                     "export function add(a: number, b: number): number "
                     "{ return a + b }");
  BOOST_TEST(json::to_text(made.value().schema)
             == R"({"name":"add","description":"Adds numbers.","parameters":)"
                R"({"type":"object","properties":{"a":{"type":"number",)"
                R"("description":"the first"},"b":{"type":"number",)"
                R"("description":"the second goes on"}},)"
                R"("required":["a","b"]}})");
}

BOOST_AUTO_TEST_CASE(without_jsdoc_there_is_a_plain_description) {
  BOOST_TEST(derive("export function f(): void {}").value().description
             == "TypeScript function f");
}

BOOST_AUTO_TEST_CASE(javascript_takes_its_types_from_jsdoc) {
  auto made
    = derive("/** Doc. @param {number[]} a list\n"
             " * @param {?string} b may be\n * @param {number} [c=5] x */\n"
             "function f(a, b, c) {}",
             "", language::javascript);
  auto parameters = made.value().schema.at("parameters").as_object();
  BOOST_TEST(json::to_text(parameters.at("properties"))
             == R"({"a":{"type":"array","items":{"type":"number"},)"
                R"("description":"list"},"b":{"type":"string",)"
                R"("description":"may be"},"c":{"type":"number",)"
                R"("description":"x"}})");
  BOOST_TEST(json::to_text(parameters.at("required")) == R"(["a"])");
}

BOOST_AUTO_TEST_CASE(every_kind_of_function_is_found) {
  for (const auto* source :
       {"export function f(a: string): string { return a }",
        "export async function f(a: string) { return a }",
        "export const f = (a: string) => a",
        "export const f = async (a: string): Promise<string> => a",
        "const f = function (a: string) { return a }",
        "export const f: (a: string) => string = (a: string) => a",
        "export default function f(a: string) {}",
        "export function f<T extends Record<string, number>>(this: X, "
        "a: string): T | undefined {}",
        "// function g(a) {}\nconst s = 'function h(a)';\n"
        "export function f(a: string) {}"}) {
    auto made = derive(source);
    BOOST_TEST_CONTEXT(source) {
      BOOST_REQUIRE(made.has_value());
      BOOST_TEST(made->name == "f");
      BOOST_TEST(json::to_text(made->schema.at("parameters").at("properties"))
                 == R"({"a":{"type":"string"}})");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_named_one_wins_then_the_first_exported) {
  const auto* source
    = "function a() {}\nexport function b() {}\nexport function c() {}";
  BOOST_TEST(derive(source).value().name == "b");
  BOOST_TEST(derive(source, "c").value().name == "c");
  BOOST_TEST(derive(source, "d").has_error());
  BOOST_TEST(derive("export default (a: number) => a", "g").value().name
             == "g");
}

BOOST_AUTO_TEST_CASE(a_refusal_says_where_and_why) {
  const std::pair<const char*, const char*> cases[]
    = {{"const x = 1", "No functions found"},
       {"", "No functions found"},
       {"\nexport function f(cb: (x: number) => void) {}",
        "line 2: a function has no JSON form"},
       {"export function f(cb: Function) {}", "a function has no JSON form"},
       {"export function f([a]: number[]) {}", "list pattern"},
       {"export default (a: number) => a", "has no name"}};
  for (const auto& [source, reason] : cases) {
    auto made = derive(source);
    BOOST_REQUIRE(made.has_error());
    BOOST_TEST((made.error().code == ec::invalid_request));
    BOOST_TEST_CONTEXT(made.error().text)
    BOOST_TEST(made.error().text.find(reason) != std::string::npos);
  }
}

// Each interface names the one before it ten times.
BOOST_AUTO_TEST_CASE(types_that_multiply_each_other_are_refused_at_once) {
  std::string source = "interface A0 { x: number }\n";
  for (int i = 1; i < 8; ++i) {
    source += "interface A" + std::to_string(i) + " {";
    for (int member = 0; member < 10; ++member)
      source
        += " m" + std::to_string(member) + ": A" + std::to_string(i - 1) + ";";
    source += " }\n";
  }
  BOOST_TEST(derive(source + "export function f(a: A2) {}").has_value());
  auto made = derive(source + "export function f(a: A7) {}");
  BOOST_REQUIRE(made.has_error());
  BOOST_TEST((made.error().code == ec::invalid_request));
  BOOST_TEST(made.error().text.find("more than 10,000 parts")
               != std::string::npos,
             made.error().text);
}

BOOST_AUTO_TEST_CASE(odd_sources_end_with_an_answer) {
  for (const auto* source :
       {"export function f(", "export function f(a: ", "export function f(a: {",
        "function", "export const f =", "`${", "/*", "'",
        "interface A extends A {}"
        "\nexport function f(a: A) {}",
        "type A = A\nexport function f(a: A) {}"}) {
    auto made = derive(source);
    BOOST_TEST_CONTEXT(source)
    BOOST_TEST((made.has_value() || made.error().code == ec::invalid_request));
  }
}

BOOST_AUTO_TEST_SUITE_END()
