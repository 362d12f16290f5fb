#include "app/cli/metrics_parser.hpp"
#include "app/cli/table.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(tables)

BOOST_AUTO_TEST_CASE(align_columns_by_letters_not_bytes) {
  table t{{"NAME", "N"}};
  t.add({"größe", "1"});
  t.add({"x", "22"});
  std::ostringstream out;
  t.print(out);
  BOOST_TEST(out.str() == "NAME   N\ngröße  1\nx      22\n");
}

BOOST_AUTO_TEST_CASE(keep_a_hostile_name_on_its_line) {
  table t{{"NAME"}};
  t.add({"a\nb\x1b[2Jc"});
  t.add({std::string(200, 'y')}); // whole, for who reads a pipe
  std::ostringstream out;
  t.print(out);
  BOOST_TEST(out.str() == "NAME\na b [2Jc\n" + std::string(200, 'y') + "\n");
  BOOST_TEST(one_line("gr\xc3\xb6\xc3\x9f\xc3\x65", 3) == "gr\xc3\xb6…");
  BOOST_TEST(one_line("abc", 3) == "abc");
}

BOOST_AUTO_TEST_CASE(show_any_json_in_a_cell) {
  json::value v{{"s", "text"}, {"n", 3}, {"l", {"a", "b"}}, {"z", nullptr}};
  BOOST_TEST(cell(v, "s") == "text");
  BOOST_TEST(cell(v, "n") == "3");
  BOOST_TEST(cell(v, "l") == "a,b");
  BOOST_TEST(cell(v, "z") == "");
  BOOST_TEST(cell(v, "none") == "");
}

BOOST_AUTO_TEST_CASE(read_samples_sums_and_quantiles) {
  metrics_parser before{"# HELP a x\na{l=\"1\"} 2\na{l=\"2\"} 3\nab 9\n"
                        "t_bucket{le=\"0.1\"} 1\nt_bucket{le=\"+Inf\"} 1\n"};
  metrics_parser now{"a{l=\"1\"} 4\nt_bucket{le=\"0.1\"} 2\n"
                     "t_bucket{le=\"0.5\"} 10\nt_bucket{le=\"+Inf\"} 11\n"};
  BOOST_TEST(before.sum("a") == 5);
  BOOST_TEST(before.value("ab") == 9);
  BOOST_TEST((before.by_label("a")
              == std::map<std::string, double>{{"1", 2}, {"2", 3}}));
  BOOST_TEST(before.value("none") == 0);
  BOOST_TEST(now.quantile("t", 0.5, before) == 0.5);
  BOOST_TEST(now.quantile("t", 0.05, before) == 0.1);
  BOOST_TEST(now.quantile("none", 0.5, before) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
