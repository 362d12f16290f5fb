#include "runtime/base/text.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(text_suite)

BOOST_AUTO_TEST_CASE(trims_blanks_on_both_sides_and_none_inside) {
  BOOST_TEST(trim(" \t a b\r\n") == "a b");
  BOOST_TEST(trim("a") == "a");
  BOOST_TEST(trim(" \n ") == "");
  BOOST_TEST(trim("") == "");
  BOOST_TEST(trim("\na ", " ") == "\na");
}

BOOST_AUTO_TEST_SUITE_END()
