#include "runtime/toolkit/edit.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::toolkit;

BOOST_AUTO_TEST_SUITE(edits_of_text)

namespace {

std::string done(std::string_view text, std::string_view old_piece,
                 std::string_view fresh, bool all = false) {
  auto made = replace_piece(text, old_piece, fresh, all);
  BOOST_REQUIRE_MESSAGE(made, made.error().text);
  return made->text;
}

std::string refused(std::string_view text, std::string_view old_piece,
                    std::string_view fresh) {
  auto made = replace_piece(text, old_piece, fresh, false);
  BOOST_REQUIRE(!made);
  return made.error().text;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(replaces_what_occurs_once) {
  BOOST_TEST(done("a = 1\nb = 2\n", "b = 2", "b = 3") == "a = 1\nb = 3\n");
  BOOST_TEST(done("price: 5", "5", "$1\\0") == "price: $1\\0");
  BOOST_TEST(done("aXbXc", "X", "-", true) == "a-b-c");
}

BOOST_AUTO_TEST_CASE(says_where_it_occurs_more_than_once) {
  const auto why = refused("x\ny\nx\n", "x", "z");
  BOOST_TEST(has(why, "2 times, in lines 1, 3"), why);
  BOOST_TEST(has(why, "all=true"), why);
}

BOOST_AUTO_TEST_CASE(forgives_blanks_at_ends_of_lines) {
  auto made
    = replace_piece("if x:  \n  go()\n", "if x:\n  go()", "pass", false);
  BOOST_REQUIRE(made);
  BOOST_TEST(made->text == "pass\n");
  BOOST_TEST(made->matched == "blanks at ends of lines");
}

BOOST_AUTO_TEST_CASE(forgives_indentation_and_keeps_that_of_the_place) {
  auto made = replace_piece("def f():\n        a()\n        b()\n",
                            "a()\nb()\n", "a()\n  c()\n", false);
  BOOST_REQUIRE(made);
  BOOST_TEST(made->text == "def f():\n        a()\n          c()\n");
  BOOST_TEST(made->matched == "indentation");
}

BOOST_AUTO_TEST_CASE(keeps_the_line_ends_of_the_file) {
  BOOST_TEST(done("a\r\nb\r\nc\r\n", "a\nb", "x\ny") == "x\r\ny\r\nc\r\n");
}

BOOST_AUTO_TEST_CASE(takes_whole_lines_out) {
  BOOST_TEST(done("a \nb \nc\n", "a\nb\n", "") == "c\n");
}

BOOST_AUTO_TEST_CASE(tells_what_is_alike_where_nothing_matches) {
  const auto why = refused("def add(a, b):\n\treturn a + b\n",
                           "def add(a, c):\n    return a + c", "x");
  BOOST_TEST(has(why, "1\tdef add(a, b):"), why);
  BOOST_TEST(has(refused("abc\n", "     7\tabc", "x"), "line numbers"));
  BOOST_TEST(
    has(refused("new text\n", "old text!", "new text"), "made already"));
  BOOST_TEST(has(refused("a", "same", "same"), "the same"));
  BOOST_TEST(has(refused("a", "", "x"), "empty"));
}

BOOST_AUTO_TEST_CASE(bounds_what_comparing_costs) {
  std::string large(1u << 20, '\n');
  const auto why = refused(large, std::string(1u << 16, '\n') + "x", "y");
  BOOST_TEST(has(why, "not in the file"), why.substr(0, 200));
}

BOOST_AUTO_TEST_CASE(shows_the_change_with_three_lines_around_it) {
  std::string before, after;
  for (int i = 1; i <= 9; ++i) {
    before += std::to_string(i) + "\n";
    after += i == 5 ? "five\n" : std::to_string(i) + "\n";
  }
  BOOST_TEST(unified_diff(before, after, "n.txt")
             == "--- n.txt\n+++ n.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n"
                " 6\n 7\n 8\n");
  BOOST_TEST(unified_diff(before, before, "n.txt") == "");
  const auto bounded = unified_diff("", before + before, "n", 5);
  BOOST_TEST(has(bounded, "more of the diff"), bounded);
}

BOOST_AUTO_TEST_SUITE_END()
