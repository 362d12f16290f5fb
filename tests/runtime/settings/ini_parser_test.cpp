#include "runtime/settings/ini_parser.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(ini_parsing)

namespace {

/// The only value of a text.
file_entry only(std::string_view text) {
  auto found = parse_ini(text);
  BOOST_REQUIRE_MESSAGE(found.problems.empty(), text);
  BOOST_REQUIRE(found.entries.size() == 1u);
  return found.entries.front();
}

std::string problem(std::string_view text) {
  auto found = parse_ini(text);
  std::string all;
  for (auto& p : found.problems)
    all += std::to_string(p.line) + ": " + p.reason + "; " + p.hint + "\n";
  return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(finds_the_line_of_every_key) {
  auto found = parse_ini("; a comment with key = 1\n"
                         "# and another\n"
                         "[http]\n"
                         "listen = \"a;b\" ; not part of it\n"
                         "\n"
                         "  max-body=4096\n"
                         "[ log ] # here as well\n"
                         "level = 'debug'\n");
  BOOST_TEST(found.problems.empty());
  BOOST_TEST_REQUIRE(found.entries.size() == 5u);
  BOOST_TEST(found.entries[0].group == "http");
  BOOST_TEST(found.entries[0].name == "");
  BOOST_TEST(found.entries[1].name == "listen");
  BOOST_TEST(found.entries[1].text == "a;b");
  BOOST_TEST(found.entries[1].line == 4u);
  BOOST_TEST(found.entries[2].name == "max-body");
  BOOST_TEST(found.entries[2].text == "4096");
  BOOST_TEST(found.entries[2].line == 6u);
  BOOST_TEST(found.entries[4].group == "log");
  BOOST_TEST(found.entries[4].line == 8u);
}

BOOST_AUTO_TEST_CASE(takes_bare_words_up_to_a_comment) {
  BOOST_TEST(only("a = 127.0.0.1:9000").text == "127.0.0.1:9000");
  BOOST_TEST(only("a = 5m ; short").text == "5m");
  BOOST_TEST(only("a = two words\t# and no more").text == "two words");
  BOOST_TEST(only("a = https://x/#part;1").text == "https://x/#part;1");
  BOOST_TEST(only("a=b=c").text == "b=c");
}

BOOST_AUTO_TEST_CASE(takes_quoted_texts_as_they_are) {
  BOOST_TEST(only(R"(a = "with # and ; in it")").text == "with # and ; in it");
  BOOST_TEST(only(R"(a = "a \"b\" \\ \t")").text == "a \"b\" \\ \t");
  BOOST_TEST(only(R"(a = 'C:\new "x"')").text == R"(C:\new "x")");
  BOOST_TEST(only("a = \"\"").text == "");
}

BOOST_AUTO_TEST_CASE(follows_a_list_over_several_lines) {
  auto found
    = parse_ini("[a]\nx = [\"1\", ; one ]\n  \"]\" # two\n, three\n]\ny = 2");
  BOOST_TEST(found.problems.empty());
  BOOST_TEST_REQUIRE(found.entries.size() == 3u);
  BOOST_TEST(found.entries[1].is_list);
  BOOST_TEST(
    (found.entries[1].items == std::vector<std::string>{"1", "]", "three"}));
  BOOST_TEST(found.entries[1].line == 2u);
  BOOST_TEST(found.entries[2].name == "y");
  BOOST_TEST(found.entries[2].line == 6u);
  BOOST_TEST(only("a = []").items.empty());
  BOOST_TEST(only("a = [b,]").items.size() == 1u);
}

BOOST_AUTO_TEST_CASE(tells_every_broken_line_and_reads_the_others) {
  auto found = parse_ini("[log\nlevel\nqueue =\n[http]\na = \"x\nb = [1 2]\n"
                         "c = \"x\" y\n= 3\nd = 4\n");
  std::vector<std::size_t> lines;
  for (auto& p : found.problems)
    lines.push_back(p.line);
  BOOST_TEST((lines == std::vector<std::size_t>{1, 2, 3, 5, 7, 8}),
             problem("[log\nlevel\nqueue =\n[http]\na = \"x\nb = [1 2]\n"
                     "c = \"x\" y\n= 3\nd = 4\n"));
  BOOST_TEST(found.entries.back().name == "d");
}

BOOST_AUTO_TEST_CASE(ends_an_open_list_where_the_next_group_begins) {
  BOOST_TEST(problem("[local]\npreload = [\"a\",\n\"b\"\n\n[log]\nqueue = 1\n")
             == "2: local.preload has no closing bracket; add a ]\n");
  BOOST_TEST(problem("a = [\"x\" \"y\"]\n")
             == "1: global.a has entries without a comma between them; write "
                "[\"a\", \"b\"]\n");
}

BOOST_AUTO_TEST_CASE(ends_on_any_text) {
  for (auto text : {"", "[", "[a", "a", "a=", "a=\"", "a=[", "a=[\"\\", "=",
                    "{", "]", "a={;", "\n\n;", "a=[[", "a=[,", "a=[b c"})
    BOOST_TEST(parse_ini(text).entries.size() <= 1u, text);
}

BOOST_AUTO_TEST_SUITE_END()
