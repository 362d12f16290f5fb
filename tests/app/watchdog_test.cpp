#include "app/watchdog.hpp"

#include <boost/test/unit_test.hpp>

#include <future>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(watchdogs)

BOOST_AUTO_TEST_CASE(bites_whoever_takes_too_long) {
  std::promise<void> bitten;
  watchdog guard{1ms, [&] { bitten.set_value(); }};
  BOOST_TEST((bitten.get_future().wait_for(10s) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(leaves_those_alone_who_are_done_in_time) {
  auto bitten = false;
  auto begin = std::chrono::steady_clock::now();
  {
    watchdog guard{1h, [&] { bitten = true; }};
  }
  BOOST_TEST(!bitten);
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 10s));
}

BOOST_AUTO_TEST_SUITE_END()
