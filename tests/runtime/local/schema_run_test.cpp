#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(schema_runs)

namespace {

result<derived_schema> derive(language lang, std::string source,
                              std::string function = {}) {
  std::promise<result<derived_schema>> answer;
  auto told = answer.get_future();
  shared_host().backend().derive(
    lang, std::move(source), std::move(function),
    [&](result<derived_schema> what) { answer.set_value(std::move(what)); });
  return told.get();
}

constexpr auto addition = R"(
while True: pass
def add(a: int, b: int = 0):
    '''Adds.

    Args:
        a: one
        b: other
    '''
)";

} // namespace

BOOST_AUTO_TEST_CASE(read_python_without_executing_it) {
  auto made = derive(language::python, addition);
  BOOST_REQUIRE_MESSAGE(made, made.error().text);
  BOOST_TEST(made->name == "add");
  BOOST_TEST(made->schema.at("parameters").at("required").as_array().size()
             == 1u);
}

BOOST_AUTO_TEST_CASE(read_typescript) {
  auto made = derive(language::typescript,
                     "export function f(a: string): string { return a }");
  BOOST_REQUIRE_MESSAGE(made, made.error().text);
  BOOST_TEST(made->name == "f");
}

BOOST_AUTO_TEST_CASE(say_what_is_wrong_with_a_source) {
  for (auto* source : {"def f(:", "x = 1"}) {
    auto made = derive(language::python, source);
    BOOST_TEST_REQUIRE(!made);
    BOOST_TEST((made.error().code == ec::invalid_request));
  }
  BOOST_TEST(!derive(language::python, addition, "other"));
  BOOST_TEST(!derive(language::shell, "true"));
}

// A schema that is larger than an answer may be, out of a source that is not.
BOOST_AUTO_TEST_CASE(say_that_a_schema_is_too_large) {
  auto source = "class A(TypedDict):\n    x: Literal['"
    + std::string(400'000, 'v') + "']\ndef f(";
  for (int i = 0; i < 30; ++i)
    source += (i == 0 ? "a" : ", a") + std::to_string(i) + ": A";
  auto made = derive(language::python, source + "):\n    '''D.'''\n");
  BOOST_TEST_REQUIRE(!made);
  BOOST_TEST((made.error().code == ec::invalid_request), made.error().text);
  BOOST_TEST(made.error().text.find("too large") != std::string::npos,
             made.error().text);
}

BOOST_AUTO_TEST_CASE(outlive_a_source_that_is_meant_to_break_parsers) {
  BOOST_TEST(!derive(language::python, "x = " + std::string(100'000, '(')));
  BOOST_TEST(derive(language::python, addition).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
