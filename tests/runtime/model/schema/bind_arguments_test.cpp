#include "runtime/model/schema/bind_arguments.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(argument_binding)

namespace {

/// The bound arguments, or every complaint as "pointer reason; hint".
std::string bound(std::string_view properties, std::string_view args,
                  std::string_view more = "") {
  auto schema = std::string{R"({"name":"f","parameters":{"type":"object",)"}
    + R"("properties":)" + std::string{properties} + std::string{more} + "}}";
  auto r = bind_arguments(args, schema);
  if (r)
    return *r;
  BOOST_TEST((r.error().code == ec::invalid_request));
  std::string all;
  for (auto& f : r.error().fields)
    all += (all.empty() ? "" : " | ") + f.pointer + " " + f.reason
      + (f.hint.empty() ? "" : "; " + f.hint);
  return all;
}

/// One argument `x`.
std::string one(std::string_view schema, std::string_view value) {
  auto text = bound(R"({"x":)" + std::string{schema} + "}",
                    R"({"x":)" + std::string{value} + "}");
  return text.starts_with(R"({"x":)") ? text.substr(5, text.size() - 6) : text;
}

} // namespace

BOOST_AUTO_TEST_CASE(turns_texts_into_what_the_schema_wants) {
  const char* rows[][3] = {
    {R"({"type":"integer"})", R"("5")", "5"},
    {R"({"type":"integer"})", R"(" -5 ")", "-5"},
    {R"({"type":"integer"})", R"("5.0")", "5"},
    {R"({"type":"integer"})", "5.0", "5"},
    {R"({"type":"integer"})", "9223372036854775807", "9223372036854775807"},
    {R"({"type":"number"})", R"("5")", "5"},
    {R"({"type":"number"})", R"("2.5")", "2.5"},
    {R"({"type":"number"})", R"("1e3")", "1000.0"},
    {R"({"type":"number"})", "5.0", "5.0"},
    {R"({"type":"boolean"})", R"("true")", "true"},
    {R"({"type":"boolean"})", R"("False")", "false"},
    {R"({"type":"array"})", R"("[1,\"a\"]")", R"([1,"a"])"},
    {R"({"type":"object"})", R"("{\"a\":1}")", R"({"a":1})"},
    {R"({"type":["integer","null"]})", R"("7")", "7"},
    {R"({"type":["integer","null"]})", R"("null")", "null"},
    {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", R"("7")", "7"},
    {R"({"enum":[1,2,3]})", R"("2")", "2"},
    {R"({"type":"array","items":{"type":"integer"}})", R"(["1","2"])", "[1,2]"},
    {R"({"type":"array","items":{"type":"integer"}})", R"("[\"1\",2]")",
     "[1,2]"},
    {R"({"type":"object","properties":{"n":{"type":"number"}}})",
     R"({"n":"1.5"})", R"({"n":1.5})"},
    {R"({"anyOf":[{"type":"array","items":{"type":"integer"}},
         {"type":"boolean"}]})",
     R"("[\"1\"]")", "[1]"},
  };
  for (auto& r : rows)
    BOOST_TEST_CONTEXT(r[0] << " " << r[1])
  BOOST_TEST(one(r[0], r[1]) == r[2]);
}

BOOST_AUTO_TEST_CASE(hands_integers_of_any_size_on) {
  const std::string big = "123456789012345678901234567890";
  for (auto schema : {"{}", R"({"type":"integer"})", R"({"type":"number"})",
                      R"({"type":"integer","minimum":5,"multipleOf":2})",
                      R"({"anyOf":[{"type":"integer"},{"type":"null"}]})"})
    BOOST_TEST(one(schema, big) == big);
  BOOST_TEST(one(R"({"type":"integer"})", '"' + big + '"') == big);
  BOOST_TEST(one(R"({"type":"string"})", '"' + big + '"') == '"' + big + '"');
  BOOST_TEST(one(R"({"items":{"type":"integer"}})", "[-" + big + ",1]")
             == "[-" + big + ",1]");
  BOOST_TEST(one(R"({"type":"integer","maximum":5})", big)
             == "/args/x must be at most 5");
  BOOST_TEST(one(R"({"type":"string"})", big)
             == "/args/x must be string, not integer; put it in quotes");
  BOOST_TEST(one(R"({"uniqueItems":true})", "[" + big + "," + big + "]")
             == "/args/x has the same item twice");
  BOOST_TEST(*bind_arguments(R"({"x":)" + big + "}", "")
             == R"({"x":)" + big + "}");
}

BOOST_AUTO_TEST_CASE(tells_which_nulls_it_dropped) {
  std::vector<std::string> dropped;
  auto r = bind_arguments(R"({"a":null,"b":null,"c":{"d":null},"e":1})",
                          R"({"properties":{"a":{"type":"integer"},
                             "b":{"type":["integer","null"]},
                             "c":{"properties":{"d":{"type":"string"}}},
                             "e":{}}})",
                          {.dropped = &dropped});
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(*r == R"({"b":null,"c":{},"e":1})");
  BOOST_REQUIRE(dropped.size() == 1u);
  BOOST_TEST(dropped[0] == "a");
}

BOOST_AUTO_TEST_CASE(never_rewrites_a_text_where_text_is_allowed) {
  // Every value that Letta is known to damage, and more.
  for (auto value :
       {R"("123")", R"("1e5")", R"("true")", R"("null")", R"("\"quoted\"")",
        R"("{\"a\": 1}")", R"("1_000")", R"j("(1,2)")j", R"("[1]")", R"(" 5 ")",
        R"("None")", R"("")"})
    for (auto schema :
         {R"({"type":"string"})", "{}", "true", R"({"type":["string","null"]})",
          R"({"type":["integer","string"]})",
          R"({"anyOf":[{"type":"integer"},{"type":"string"}]})",
          R"({"anyOf":[{"type":"integer"},{"type":"array"},{}]})",
          R"({"oneOf":[{"type":"object"},{"type":"string"}]})",
          R"({"anyOf":[{"allOf":[{"type":"boolean"}]},{"type":"string"}]})",
          R"({"description":"no type"})"})
      BOOST_TEST_CONTEXT(schema << " " << value)
  BOOST_TEST(one(schema, value) == value);
  // A text that breaks another rule is refused, not rewritten.
  BOOST_TEST(one(R"({"type":"string","enum":["a"]})", R"("5")")
             == R"(/args/x is not one of the allowed values; one of "a")");
}

BOOST_AUTO_TEST_CASE(corrects_each_argument_on_its_own) {
  BOOST_TEST(bound(R"({"a":{"type":"integer"},"b":{"type":"integer"},
                       "c":{"type":"string"}})",
                   R"({"a":"1","b":"many","c":"2"})")
             == "/args/b must be integer, not string");
  BOOST_TEST(bound(R"({"a":{"type":"integer"},"b":{},"c":{"type":"string"}})",
                   R"({"a":"1","b":"many","c":"2"})")
             == R"({"a":1,"b":"many","c":"2"})");
}

BOOST_AUTO_TEST_CASE(reports_every_problem_with_a_pointer) {
  BOOST_TEST(bound(R"({"limit":{"type":"integer","minimum":1,"maximum":10},
              "name":{"type":"string","minLength":2,"maxLength":3,
                      "pattern":"^[a-z]+$"},
              "list":{"type":"array","items":{"type":"boolean"},
                      "minItems":3},"need":{}})",
                   R"({"limit":11,"name":"ABCD","list":[true,"x"]})",
                   R"(,"required":["need"])")
             == "/args/need is missing"
                " | /args/limit must be at most 10"
                " | /args/name must have at most 3 characters"
                " | /args/name does not match the pattern; it is ^[a-z]+$"
                " | /args/list must have at least 3 items"
                " | /args/list/1 must be boolean, not string");
}

BOOST_AUTO_TEST_CASE(knows_every_keyword_that_tool_schemas_use) {
  const char* rows[][3] = {
    {R"({"const":5})", "5", "5"},
    {R"({"const":5})", "6", "/args/x must be the only allowed value; 5"},
    {R"({"enum":[1.0]})", "1", "1"},
    {R"({"enum":[{"a":[1]}]})", R"({"a":[1]})", R"({"a":[1]})"},
    {R"({"exclusiveMinimum":1})", "1", "/args/x must be more than 1"},
    {R"({"exclusiveMaximum":1})", "1", "/args/x must be less than 1"},
    {R"({"minimum":1.5})", "1", "/args/x must be at least 1.5"},
    {R"({"multipleOf":0.1})", "0.3", "0.3"},
    {R"({"multipleOf":2})", "3", "/args/x must be a multiple of 2"},
    {R"({"minLength":1})", R"("é")", R"("é")"},
    {R"({"maxLength":1})", R"("é")", R"("é")"},
    {R"({"uniqueItems":true})", "[1,2]", "[1,2]"},
    {R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2,"a":1}])",
     "/args/x has the same item twice"},
    {R"({"maxItems":1})", "[1,2]", "/args/x must have at most 1 items"},
    {R"({"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})",
     R"(["1","2"])", R"([1,"2"])"},
    {R"({"prefixItems":[{"type":"integer"}],"items":false})", "[1,2]",
     "/args/x/1 is not allowed; remove it"},
    {R"({"allOf":[{"type":"integer"},{"minimum":3}]})", R"("5")", "5"},
    {R"({"allOf":[{"type":"integer"},{"minimum":3}]})", "1",
     "/args/x must be at least 3"},
    {R"({"oneOf":[{"type":"integer"},{"minimum":3}]})", "5",
     "/args/x matches more than one of the alternatives"},
    {R"({"oneOf":[{"type":"integer"},{"type":"null"}]})", "5", "5"},
    {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", R"("x")",
     "/args/x matches none of the alternatives; it may be null or integer"},
    {R"({"not":{"type":"integer"}})", "5",
     "/args/x is what the schema excludes"},
    {R"({"not":{"type":"integer"}})", R"("5")", R"("5")"},
    {R"({"if":{"type":"integer"},"then":{"minimum":3}})", "1",
     "/args/x must be at least 3"},
    {R"({"if":{"type":"integer"},"else":{"const":null}})", "true",
     "/args/x must be the only allowed value; null"},
    {R"({"type":"integer","nullable":true})", "null", "null"},
    {R"({"type":"string"})", "5",
     "/args/x must be string, not integer; put it in quotes"},
    {R"({"type":["string","number"]})", "true",
     "/args/x must be number or string, not boolean; put it in quotes"},
    {R"({"type":"object","required":["a/b"]})", "{}",
     "/args/x/a~1b is missing"},
    {R"({"type":"object","properties":{"abc":{}},
        "additionalProperties":false})",
     R"({"abd":1})", "/args/x/abd is not known; did you mean 'abc'?"},
    {R"({"type":"object","properties":{"abc":{}}})", R"({"other":1})",
     R"({"other":1})"},
    {R"({"type":"object","additionalProperties":{"type":"integer"}})",
     R"({"k":"7"})", R"({"k":7})"},
    {R"({"patternProperties":{"^n":{"type":"integer"}},
        "additionalProperties":false})",
     R"({"n1":"7"})", R"({"n1":7})"},
    {R"({"patternProperties":{"^n":{}},"additionalProperties":false})",
     R"({"m":1})", "/args/x/m is not known; remove it"},
    {R"({"minProperties":1})", "{}", "/args/x must have at least 1 members"},
    {R"({"maxProperties":0})", R"({"a":1})",
     "/args/x must have at most 0 members"},
    {R"({"type":"martian"})", "5", "5"},
    {R"j({"pattern":"(?=a)"})j", R"("b")", R"("b")"},
    {R"({"$ref":"https://elsewhere/x"})", "5", "5"},
  };
  for (auto& r : rows)
    BOOST_TEST_CONTEXT(r[0] << " " << r[1])
  BOOST_TEST(one(r[0], r[1]) == r[2]);
}

BOOST_AUTO_TEST_CASE(follows_references_inside_of_the_schema) {
  auto more = R"(,"$defs":{"Point":{"type":"object",
    "properties":{"x":{"type":"integer"},"next":{"$ref":"#/$defs/Point"}},
    "additionalProperties":false},"a/b":{"type":"boolean"}})";
  BOOST_TEST(bound(R"({"p":{"$ref":"#/$defs/Point"}})",
                   R"({"p":{"x":"1","next":{"x":"2","next":null}}})", more)
             == R"({"p":{"x":1,"next":{"x":2}}})");
  BOOST_TEST(bound(R"({"p":{"$ref":"#/$defs/Point"}})",
                   R"({"p":{"next":{"y":2}}})", more)
             == "/args/p/next/y is not known; it takes x and next");
  BOOST_TEST(bound(R"({"p":{"$ref":"#/$defs/a~1b"}})", R"({"p":"true"})", more)
             == R"({"p":true})");
  // From the tool's schema, where generators put definitions too.
  auto r = bind_arguments(R"({"n":"4"})",
                          R"({"name":"f","definitions":{"N":{"type":"integer"}},
        "parameters":{"properties":{"n":{"$ref":"#/definitions/N"}}}})");
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(*r == R"({"n":4})");
}

BOOST_AUTO_TEST_CASE(drops_nulls_that_mean_nothing_said) {
  auto properties = R"({"a":{"type":"integer"},
    "b":{"anyOf":[{"type":"string"},{"type":"null"}]},"c":{}})";
  BOOST_TEST(bound(properties, R"({"a":null,"b":null,"c":null})")
             == R"({"b":null,"c":null})");
  BOOST_TEST(bound(properties, R"({"a":null})", R"(,"required":["a"])")
             == "/args/a must be integer, not null");
}

BOOST_AUTO_TEST_CASE(refuses_unknown_arguments_with_the_nearest_name) {
  BOOST_TEST(bound(R"({"limit":{},"query":{}})", R"({"limt":1})")
             == "/args/limt is not known; did you mean 'limit'?");
  BOOST_TEST(bound("{}", R"({"x":1})") == "/args/x is not known; remove it");
  BOOST_TEST(
    bound(R"({"a":{}})", R"({"b":1})", R"(,"additionalProperties":true)")
    == R"({"b":1})");
  // A schema without properties says nothing about names.
  BOOST_TEST(*bind_arguments(R"({"x":1})", R"({"type":"object"})")
             == R"({"x":1})");
  BOOST_TEST(*bind_arguments(R"({"x":1})", "") == R"({"x":1})");
  BOOST_TEST(bind_arguments("[1]", "").has_error());
  BOOST_TEST(bind_arguments("{}", "[]").has_error());
  BOOST_TEST(bind_arguments("{", "{}").error().fields[0].pointer == "/args");
}

BOOST_AUTO_TEST_CASE(leaves_everything_alone_when_told_to) {
  bind_options o;
  o.coerce = false;
  o.pointer = "/body";
  auto r = bind_arguments(R"({"x":"5"})",
                          R"({"properties":{"x":{"type":"integer"}}})", o);
  BOOST_REQUIRE(r.has_error());
  BOOST_TEST(r.error().fields[0].pointer == "/body/x");
}

BOOST_AUTO_TEST_CASE(ends_soon_whatever_the_schema) {
  auto refused = [](std::string_view args, std::string_view schema) {
    auto r = bind_arguments(args, schema);
    return r.has_error()
      && r.error().text.find("too long") != std::string::npos;
  };
  BOOST_TEST(refused("{}", R"({"$ref":"#"})"));
  BOOST_TEST(refused("{}", R"({"$ref":"#/$defs/a","$defs":{
    "a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})"));
  // Alternatives of alternatives: 2^n ways.
  BOOST_TEST(refused(R"({"x":5})", R"({"properties":{"x":{"$ref":"#/$defs/a"}},
    "$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},
             "b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}})"));
  // A large list, copied for each of many alternatives.
  std::string list = "[0";
  for (int i = 0; i < 50'000; ++i)
    list += ",1";
  std::string schemas = R"({"items":{"type":"string"}})";
  for (int i = 0; i < 100; ++i)
    schemas += R"(,{"items":{"type":"string"}})";
  BOOST_TEST(refused(R"({"x":)" + list + "]}",
                     R"({"properties":{"x":{"anyOf":[)" + schemas + "]}}}"));
  // Patterns that are costly to compile, each another one, and to find.
  std::string rules, texts;
  for (int i = 0; i < 100; ++i) {
    rules += (i ? "," : "") + std::string{R"("x)"} + std::to_string(i)
      + R"(\\p{L}{1000}":true)";
    texts += (i ? "," : "") + std::string{R"("a)"} + std::string(10'000, 'b')
      + R"(")";
  }
  BOOST_TEST(refused(R"({"x":{"a":1}})",
                     R"({"properties":{"x":
    {"patternProperties":{)"
                       + rules + "}}}}"));
  BOOST_TEST(refused(R"({"x":[)" + texts + "]}", R"({"properties":{"x":
    {"items":{"pattern":"a[ab]{900}c|b$"}}}})"));
  // Many complaints are cut.
  auto r = bind_arguments(R"({"x":)" + list + "]}", R"({"properties":{"x":
    {"items":{"type":"string"}}}})");
  BOOST_REQUIRE(r.has_error());
  BOOST_TEST(r.error().fields.size() == 64u);
}

BOOST_AUTO_TEST_CASE(checks_a_large_ordinary_call) {
  std::string list = "[0";
  for (int i = 0; i < 100'000; ++i)
    list += ",1";
  BOOST_TEST(bind_arguments(R"({"x":)" + list + "]}", R"({"properties":{"x":
    {"type":"array","items":{"type":"integer"}}}})")
               .has_value());
  list = R"(["one")";
  for (int i = 0; i < 10'000; ++i)
    list += R"(,"b.c-d@example.org")";
  BOOST_TEST(bind_arguments(R"({"x":)" + list + "]}", R"({"properties":{"x":
    {"items":{"pattern":"^(one|[\\w.-]+@[\\w-]+(\\.\\w+)+)$"}}}})")
               .has_value());
}

BOOST_AUTO_TEST_SUITE_END()
