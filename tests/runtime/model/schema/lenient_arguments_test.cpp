// What a caller that Letta served before may say.
#include "runtime/model/schema/bind_arguments.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(lenient_argument_binding)

namespace {

std::string bent(std::string_view properties, std::string_view args,
                 bool python = true, std::string_view more = "") {
  auto schema = std::string{R"({"name":"f","parameters":{"type":"object",)"}
    + R"("properties":)" + std::string{properties} + std::string{more} + "}}";
  bind_options how;
  how.lenient = true;
  how.python = python;
  auto r = bind_arguments(args, schema, how);
  if (r)
    return *r;
  return r.error().fields.at(0).pointer + " " + r.error().fields.at(0).reason;
}

} // namespace

BOOST_AUTO_TEST_CASE(lets_a_lenient_caller_s_arguments_pass) {
  const char* rows[][3] = {
    // what does not fit
    {R"({"type":"array","items":{"type":"string"}})", "[1,2]", "[1,2]"},
    {R"({"type":"array","items":{"type":"string"}})", R"("[1,2]")", "[1,2]"},
    {R"({"type":"boolean"})", "0", "false"},
    {R"({"type":"boolean"})", "1.0", "true"},
    {R"({"type":"boolean"})", R"(" TRUE ")", "true"},
    {R"({"type":"boolean"})", R"("0")", "false"},
    {R"({"type":"boolean"})", R"("no")", "/args/x must be boolean, not string"},
    {R"({"type":"boolean"})", "7", "/args/x must be boolean, not integer"},
    {R"({"type":"string"})", "5", R"("5")"},
    {R"({"type":"string"})", "5.5", R"("5.5")"},
    {R"({"type":"string"})", "true", R"("True")"},
    {R"({"type":"string"})", "18446744073709551616",
     R"("18446744073709551616")"},
    {R"({"type":"string"})", "[1]", "[1]"},
    {R"~({"type":"string","enum":["('c', 'f')"]})~", R"("c")", R"("c")"},
    {R"({"type":"integer"})", "5.7", "5"},
    {R"({"type":"integer"})", R"("-5.7")", "-5"},
    {R"({"type":"integer"})", "true", "1"},
    {R"({"type":"integer"})", "1e300", "/args/x must be integer, not number"},
    {R"({"type":"integer"})", R"("x")", "/args/x must be integer, not string"},
    {R"({"type":"integer","maximum":3})", "5", "5"},
    {R"({"type":"object"})", "3", "3"},
    {R"({"type":"number"})", R"("x")", R"("x")"},
    {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", "[]", "[]"},
    {"false", "1", "1"},
    // what fits is what it always was
    {R"({"type":"string"})", R"("123")", R"("123")"},
    {R"({"type":"string"})", R"("{\"a\": 1}")", R"("{\"a\": 1}")"},
    {R"({"type":"integer"})", R"("5")", "5"},
    {R"({"type":"array","items":{"type":"integer"}})", R"(["1"])", "[1]"},
  };
  for (auto& [schema, value, expected] : rows) {
    auto got = bent(R"({"x":)" + std::string{schema} + "}",
                    R"({"x":)" + std::string{value} + "}");
    auto x = got.starts_with(R"({"x":)") ? got.substr(5, got.size() - 6) : got;
    BOOST_TEST(x == expected, schema << " " << value << ": " << got);
  }
}

BOOST_AUTO_TEST_CASE(drops_what_a_lenient_caller_s_tool_does_not_know) {
  const std::string a = R"({"a":{"type":"integer"},"b":{"type":"string"}})";
  BOOST_TEST(bent(a, R"({"a":1,"c":2,"b":null})", true, R"(,"required":["a"])")
             == R"({"a":1})");
  BOOST_TEST(bent(a, "{}", true, R"(,"required":["a"])") == "{}");
  BOOST_TEST(bent(a, R"({"c":2})", true, R"(,"additionalProperties":true)")
             == R"({"c":2})");
  BOOST_TEST(bent(a, R"({"c":2})", true, R"(,"additionalProperties":false)")
             == "{}");
  // Python's readings are for Python.
  BOOST_TEST(bent(a, R"({"a":5.7,"b":5})", false) == R"({"a":5.7,"b":5})");
  BOOST_TEST(bent(a, R"({"a":"x"})", false) == R"({"a":"x"})");
}

BOOST_AUTO_TEST_SUITE_END()
