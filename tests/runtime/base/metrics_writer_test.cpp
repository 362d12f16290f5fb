#include "runtime/base/metrics_writer.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(metrics_writer_suite)

BOOST_AUTO_TEST_CASE(writes_a_metric_and_its_lines) {
  metrics_writer page;
  page.counter("runs_total", "Runs.", 18'446'744'073'709'551'615u);
  page.head("took_seconds", "histogram", "How long.");
  page.line("took_seconds_bucket", metrics_writer::label("le", "+Inf"), 7);
  page.line("took_seconds_sum", "", 0.000125);
  page.gauge("load", "Load.", 1.5);
  BOOST_TEST(page.take()
             == "# HELP runs_total Runs.\n# TYPE runs_total counter\n"
                "runs_total 18446744073709551615\n"
                "# HELP took_seconds How long.\n# TYPE took_seconds histogram\n"
                "took_seconds_bucket{le=\"+Inf\"} 7\n"
                "took_seconds_sum 0.000125\n"
                "# HELP load Load.\n# TYPE load gauge\nload 1.5\n");
}

BOOST_AUTO_TEST_CASE(escapes_what_a_label_says) {
  BOOST_TEST(metrics_writer::label("path", "a\"b\\c\nd")
             == "path=\"a\\\"b\\\\c\\nd\"");
}

BOOST_AUTO_TEST_SUITE_END()
