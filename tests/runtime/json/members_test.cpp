#include "runtime/json/members.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(json_members_suite)

BOOST_AUTO_TEST_CASE(reads_a_text_and_takes_nothing_else_for_one) {
  auto o = *json::parse_object(R"({"a":"text","b":1,"c":null,"d":"\u0000"})");
  BOOST_TEST(json::text_or_empty(o, "a") == "text");
  BOOST_TEST(json::text_or_empty(o, "b") == "");
  BOOST_TEST(json::text_or_empty(o, "c") == "");
  BOOST_TEST(json::text_or_empty(o, "d") == std::string(1, '\0'));
  BOOST_TEST(json::text_or_empty(o, "e") == "");
}

BOOST_AUTO_TEST_SUITE_END()
