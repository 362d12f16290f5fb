#include "app/cli/metrics_parser.hpp"
#include "app/daemon/process_metrics.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(process_metrics_suite)

BOOST_AUTO_TEST_CASE(tell_of_this_process_by_the_usual_names) {
  const metrics_parser page{process_metrics()};
  BOOST_TEST(page.sum("troupe_build_info") == 1);
  const auto resident = page.value("process_resident_memory_bytes");
  BOOST_TEST(resident > 1e6);
  BOOST_TEST(page.value("process_virtual_memory_bytes") >= resident);
  BOOST_TEST(page.value("process_threads") >= 1);
  const auto open = page.value("process_open_fds");
  BOOST_TEST(open >= 3);
  BOOST_TEST(page.value("process_max_fds") >= open);
  const auto now = std::chrono::duration<double>(
    std::chrono::system_clock::now().time_since_epoch());
  const auto started = page.value("process_start_time_seconds");
  BOOST_TEST(started <= now.count() + 2); // the machine's start is in seconds
  BOOST_TEST(started > now.count() - 24 * 3'600);
}

BOOST_AUTO_TEST_CASE(count_the_processor_time_that_was_used) {
  const auto used = [] {
    return metrics_parser{process_metrics()}.value("process_cpu_seconds_total");
  };
  const auto before = used();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (used() == before && std::chrono::steady_clock::now() < end)
    ;
  BOOST_TEST(used() > before);
}

BOOST_AUTO_TEST_SUITE_END()
