#include "runtime/model/schema/pattern.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using troupe::pattern;

BOOST_AUTO_TEST_SUITE(patterns)

BOOST_AUTO_TEST_CASE(finds_what_the_pattern_says) {
  struct row {
    const char* pattern;
    const char* text;
    bool found;
  };
  const row rows[] = {
    {"", "", true},
    {"", "x", true},
    {"b", "abc", true},
    {"d", "abc", false},
    {"^a", "abc", true},
    {"^b", "abc", false},
    {"c$", "abc", true},
    {"b$", "abc", false},
    {"^$", "", true},
    {"^$", "x", false},
    {"^abc$", "abc", true},
    {"^a.c$",
     "a\xc3\xa9"
     "c",
     true},
    {"^a.c$", "a\nc", false},
    {"^[a-c]+$", "abcabc", true},
    {"^[a-c]+$", "abd", false},
    {"^[^a-c]+$", "xyz", true},
    {"^[^a-c]+$", "xaz", false},
    {"^[\\w.-]+@[\\w-]+(\\.\\w+)+$", "a.b-c@d-e.org", true},
    {"^[\\w.-]+@[\\w-]+(\\.\\w+)+$", "a.b@d", false},
    {"^\\d{3}-\\d{4}$", "555-1234", true},
    {"^\\d{3}-\\d{4}$", "55-1234", false},
    {"^a{2,}$", "a", false},
    {"^a{2,}$", "aaaa", true},
    {"^a{0,2}$", "", true},
    {"^a{0,2}$", "aaa", false},
    {"^(foo|bar|)baz$", "barbaz", true},
    {"^(foo|bar|)baz$", "baz", true},
    {"^(foo|bar)baz$", "baz", false},
    {"^(?:ab)*$", "ababab", true},
    {"^(?:ab)*$", "aba", false},
    {"^x*?y$", "xxy", true},
    {"\\.", "a", false},
    {"\\.", ".", true},
    {"^\\S+\\s\\D$", "ab c", true},
    {"^\\S+\\s\\D$", "ab 1", false},
    {"^[]$", "x", false},
    {"^[a\\]\\-z]+$", "a]-z", true},
    {"^[a-]+$", "a-", true},
    {"^\xc3\xa9$", "\xc3\xa9", true},
    {"^[\xc3\xa0-\xc3\xbf]$", "\xc3\xa9", true},
    {"(a|b)(c|d)", "xxbdxx", true},
    {"a$|^b", "ba", true},
    {"(^a)+b", "ab", true},
    {"^[^]$", "\n", true},
    {"a{2}b", "aab", true},
    {"a}b]", "a}b]", true},
    {"^[\\s\\S]$", "\n", true},
    {"^[\\D]$", "x", true},
    {"^[\\D]$", "1", false},
    {"^[\\S]$", "\v", false},
    {"^\\S$", "\xe2\x80\x83", false}, // an em space
    {"^\\s$", "\xe2\x80\x83", true},
    {"^[\\d-x]+$", "1-x", true},
    {"^[+--]$", ",", true},
    {"^[[:alpha:]]$", "a]", true}, // two classes of POSIX to RE2 alone
    {"^[&&a]$", "&", true},
    {"^a$", "a\n", false},
    {"^a$", "b\na", false},
    {"^\\/\\_\\@\\-$", "/_@-", true},
    {"\\bcat\\b", "a cat.", true},
    {"\\bcat\\b", "concat", false},
    {"\\Bcat", "concat", true},
    {"^[\\b]$", "\b", true},
    {"^\\u00e9\\xe9$", "\xc3\xa9\xc3\xa9", true},
    {"^\\u{1f600}$", "\xf0\x9f\x98\x80", true},
    {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", true},
    {"^[\\u00e0-\\u00ff]$", "\xc3\xa9", true},
    {"^\\cA\\0$", "\1", false},
    {"^\\cA$", "\1", true},
    {"^\\p{Lu}\\P{Lu}[\\p{N}_]$",
     "\xc3\x89\xc3\xa9"
     "1",
     true},
    {"^\\p{Script=Greek}\\p{gc=Nd}$",
     "\xce\xb1"
     "1",
     true},
    {"^(?<year>\\d{4})-(?<month>\\d\\d)$", "2026-11", true},
  };
  for (auto& r : rows) {
    BOOST_TEST_CONTEXT(r.pattern << " in " << r.text) {
      auto p = pattern::compile(r.pattern);
      BOOST_REQUIRE(p.has_value());
      BOOST_TEST(p->found_in(r.text) == r.found);
    }
  }
}

BOOST_AUTO_TEST_CASE(declines_what_it_does_not_know) {
  for (std::string text : {"(",
                           ")",
                           "[",
                           "a)",
                           "*",
                           "+a",
                           "a**",
                           "a{2",
                           "a{3,2}",
                           "a{1001}",
                           "(?=a)",
                           "(?!a)",
                           "(?<=a)",
                           "(?<!a)",
                           "(?<>a)",
                           "(?P<n>a)",
                           "(?i)a",
                           "\\1",
                           "(?<n>a)\\k<n>",
                           "\\pL",
                           "\\p{",
                           "\\p{^L}",
                           "\\p{Emoji}",
                           "\\A",
                           "\\z",
                           "\\Qa\\E",
                           "\\012",
                           "\\u12",
                           "\\u{}",
                           "\\u{110000}",
                           "\\ud83d",
                           "\\ude00",
                           "[\\B]",
                           "[a-\\d]",
                           "a{,2}",
                           "a{2,3,4}",
                           "\xff",
                           "\xc3\xa9\\\xc3\xa9",
                           "\\",
                           "[b-a]",
                           "[a",
                           "((a{1000}){1000}){1000}",
                           "x{1000}{1000}"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(!pattern::compile(text).has_value());
  BOOST_TEST(!pattern::compile(std::string(5000, 'a')).has_value());
  BOOST_TEST(!pattern::compile(std::string(500, '(') + std::string(500, ')'))
                .has_value());
}

BOOST_AUTO_TEST_CASE(needs_linear_time_where_others_need_exponential) {
  auto text = std::string(50'000, 'a') + "!";
  for (auto hostile :
       {"^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*b", "^(a*)*$"}) {
    auto p = pattern::compile(hostile);
    BOOST_REQUIRE(p.has_value());
    // A backtracking matcher would not come back from this.
    BOOST_TEST(!p->found_in(text));
  }
}

BOOST_AUTO_TEST_CASE(says_what_a_pattern_costs) {
  std::size_t work = 0;
  BOOST_TEST(pattern::compile("(?=a)", work).has_value() == false);
  BOOST_TEST(work == 1u);
  auto p = pattern::compile("^[a-z]{1,100}$", work);
  BOOST_REQUIRE(p.has_value());
  BOOST_TEST(work == p->size());
  BOOST_TEST(work > 100u);
}

BOOST_AUTO_TEST_CASE(gives_up_what_would_not_fit_into_its_memory) {
  std::size_t work = 0;
  for (std::string hostile :
       {"\\p{L}{1000}", "(\\p{L}|\\p{N}){500}", "(((\\p{L}{10}){10}){10})"}) {
    BOOST_TEST(!pattern::compile(hostile, work).has_value());
    BOOST_TEST(work > 10'000u); // and it is no bargain
  }
}

BOOST_AUTO_TEST_SUITE_END()
