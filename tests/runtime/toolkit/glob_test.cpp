#include "runtime/toolkit/glob.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::toolkit;

BOOST_AUTO_TEST_SUITE(patterns_of_paths)

namespace {

bool matches(std::string_view pattern, std::string_view path) {
  auto made = glob::parse(pattern);
  BOOST_REQUIRE(made);
  return made->matches(path);
}

} // namespace

BOOST_AUTO_TEST_CASE(without_a_slash_it_is_about_names_at_any_depth) {
  BOOST_TEST(matches("*.py", "a.py"));
  BOOST_TEST(matches("*.py", "src/deep/a.py"));
  BOOST_TEST(!matches("*.py", "a.pyc"));
  BOOST_TEST(matches("a?c", "x/abc"));
  BOOST_TEST(!matches("a?c", "ac"));
}

BOOST_AUTO_TEST_CASE(two_stars_stand_for_folders) {
  BOOST_TEST(matches("src/**/*.ts", "src/a.ts"));
  BOOST_TEST(matches("src/**/*.ts", "src/x/y/a.ts"));
  BOOST_TEST(!matches("src/**/*.ts", "lib/src/a.ts"));
  BOOST_TEST(!matches("src/*.ts", "src/x/a.ts"));
  BOOST_TEST(matches("/a.ts", "a.ts"));
  BOOST_TEST(!matches("/a.ts", "src/a.ts"));
}

BOOST_AUTO_TEST_CASE(knows_sets_and_alternatives) {
  BOOST_TEST(matches("[a-c]x", "bx"));
  BOOST_TEST(!matches("[!a-c]x", "bx"));
  BOOST_TEST(matches("*.{js,ts}", "a.ts"));
  BOOST_TEST(matches("{src,lib}/*.{js,ts}", "lib/a.js"));
  BOOST_TEST(!matches("*.{js,ts}", "a.py"));
  BOOST_TEST(matches("[x", "[x"));
}

BOOST_AUTO_TEST_CASE(a_dot_in_front_is_only_matched_by_a_dot) {
  BOOST_TEST(!matches("*", ".env"));
  BOOST_TEST(matches(".*", ".env"));
  BOOST_TEST(!matches("*.py", ".venv/a.py"));
}

BOOST_AUTO_TEST_CASE(hostile_patterns_end_soon) {
  BOOST_TEST(!glob::parse(""));
  BOOST_TEST(!glob::parse("{a"));
  BOOST_TEST(!glob::parse(std::string(2'000, 'a')));
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += "{a,b}";
  BOOST_TEST(!glob::parse(many));
  std::string stars;
  for (int i = 0; i < 100; ++i)
    stars += "*a";
  BOOST_TEST(!matches(stars, std::string(4'000, 'a') + "b"));
  std::string folders, path;
  for (int i = 0; i < 100; ++i) {
    folders += "**/a/";
    path += "a/";
  }
  BOOST_TEST(!matches(folders + "x", path + path + path + "y"));
}

BOOST_AUTO_TEST_SUITE_END()
