#include "runtime/settings/ini_lines.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(ini_lines)

BOOST_AUTO_TEST_CASE(finds_the_line_of_every_key) {
  auto found = scan_ini("; a comment with key = 1\n"
                        "[http]\n"
                        "listen = \"a;b\" ; not part of it\n"
                        "\n"
                        "  max-body=4096\n"
                        "[ log ]\n"
                        "level = 'debug'\n");
  BOOST_TEST_REQUIRE(found.size() == 5u);
  BOOST_TEST(found[0].group == "http");
  BOOST_TEST(found[0].name == "");
  BOOST_TEST(found[1].name == "listen");
  BOOST_TEST(found[1].raw == "\"a;b\"");
  BOOST_TEST(found[1].line == 3u);
  BOOST_TEST(found[2].name == "max-body");
  BOOST_TEST(found[2].raw == "4096");
  BOOST_TEST(found[2].line == 5u);
  BOOST_TEST(found[4].group == "log");
  BOOST_TEST(found[4].line == 7u);
}

BOOST_AUTO_TEST_CASE(follows_a_list_over_several_lines) {
  auto found = scan_ini("[a]\nx = [\"1\", ; one ]\n  \"]\"\n]\ny = 2");
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[1].name == "x");
  BOOST_TEST(found[1].line == 2u);
  BOOST_TEST(found[2].name == "y");
  BOOST_TEST(found[2].line == 5u);
  BOOST_TEST(found[2].raw == "2");
}

BOOST_AUTO_TEST_CASE(ends_on_any_text) {
  for (auto text : {"", "[", "[a", "a", "a=", "a=\"", "a=[", "a=[\"\\", "=",
                    "{", "]", "a={;", "\n\n;"})
    BOOST_TEST(scan_ini(text).size() <= 1u, text);
}

BOOST_AUTO_TEST_SUITE_END()
