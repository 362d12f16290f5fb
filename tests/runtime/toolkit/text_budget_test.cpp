#include "runtime/toolkit/text_budget.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::toolkit;

BOOST_AUTO_TEST_SUITE(text_for_models)

BOOST_AUTO_TEST_CASE(leaves_out_what_only_terminals_understand) {
  BOOST_TEST(plain_text("\x1b[31mred\x1b[0m \x1b]0;title\atext\x1b(B")
             == "red text");
  BOOST_TEST(plain_text("a\r\nb\tc\x01\x7f") == "a\nb\tc");
  BOOST_TEST(plain_text("\x1b[") == "");
  BOOST_TEST(plain_text("\x1b]never ended") == "");
  BOOST_TEST(plain_text("\xff"
                        "x")
             == "\xef\xbf\xbdx");
}

BOOST_AUTO_TEST_CASE(cuts_in_the_middle_at_ends_of_lines) {
  std::string text;
  for (int i = 1; i <= 1'000; ++i)
    text += "line " + std::to_string(i) + "\n";
  BOOST_TEST(cut_middle(text, 100'000) == text);
  const auto cut = cut_middle(text, 1'000, "ask for it");
  BOOST_TEST(cut.starts_with("line 1\n"));
  BOOST_TEST(cut.ends_with("line 1000\n"));
  BOOST_TEST(cut.find("left out; ask for it …]\n") != cut.npos, cut);
  BOOST_TEST(characters(cut) < 1'200u);
  for (std::size_t at = 0; at < cut.size();) {
    const auto end = cut.find('\n', at);
    const auto line = cut.substr(at, end - at);
    BOOST_TEST((line.starts_with("line ") || line.starts_with("[…")), line);
    at = end + 1;
  }
}

BOOST_AUTO_TEST_CASE(never_cuts_through_a_character) {
  std::string text;
  for (int i = 0; i < 5'000; ++i)
    text += "ä€";
  const auto cut = cut_middle(text, 999);
  BOOST_TEST(plain_text(cut) == cut);
  BOOST_TEST(plain_text(cut_line(text)) == cut_line(text));
  BOOST_TEST(cut_line(text).ends_with("… [+8,000 characters]"));
}

BOOST_AUTO_TEST_CASE(writes_numbers_for_people) {
  BOOST_TEST(with_commas(0) == "0");
  BOOST_TEST(with_commas(999) == "999");
  BOOST_TEST(with_commas(1'234'567) == "1,234,567");
  BOOST_TEST(size_text(1'023) == "1023 B");
  BOOST_TEST(size_text(1'536) == "1.5 KiB");
  BOOST_TEST(counted(1, "line") == "1 line");
  BOOST_TEST(counted(2'000, "line") == "2,000 lines");
}

BOOST_AUTO_TEST_SUITE_END()
