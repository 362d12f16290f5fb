#include "runtime/model/tool.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(tools)

BOOST_AUTO_TEST_CASE(hashes_source_and_packages_as_letta_does) {
  tool t;
  t.source_code = "def f():\n    return 1\n";
  BOOST_TEST(tool_hash(t) == "f3c5e04f87b1");
  t.pip_requirements.push_back(*parse_pip("requests==2.31.0"));
  BOOST_TEST(tool_hash(t) == "ec3020c853b4");
  auto before = tool_hash(t);
  t.npm_requirements.push_back(*parse_npm("left-pad"));
  BOOST_TEST(tool_hash(t) != before);
  before = tool_hash(t);
  t.source_type = language::typescript;
  BOOST_TEST(tool_hash(t) != before);
  before = tool_hash(t);
  t.description = "not covered";
  BOOST_TEST(tool_hash(t) == before);
}

BOOST_AUTO_TEST_CASE(takes_the_function_from_the_schema) {
  tool t;
  t.name = "stored";
  BOOST_TEST(function_name(t) == "stored");
  t.json_schema = *json::parse_object(R"({"name":5})");
  BOOST_TEST(function_name(t) == "stored");
  t.json_schema = *json::parse_object(R"({"name":"inside"})");
  BOOST_TEST(function_name(t) == "inside");
}

BOOST_AUTO_TEST_CASE(spells_languages_both_ways) {
  for (auto l : {language::python, language::typescript, language::javascript,
                 language::shell})
    BOOST_TEST((*parse_language(to_string(l)) == l));
  BOOST_TEST(parse_language("cobol").has_error());
  BOOST_TEST(parse_language("").has_error());
}

BOOST_AUTO_TEST_SUITE_END()
