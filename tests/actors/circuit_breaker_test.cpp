#include "actors/circuit_breaker.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;
using state = circuit_breaker::state;

BOOST_AUTO_TEST_SUITE(circuit_breaker_suite)

namespace {

const auto start = circuit_breaker::clock::time_point{} + 1h;

} // namespace

BOOST_AUTO_TEST_CASE(opens_after_failures_in_a_row_only) {
  circuit_breaker b{{.failures = 3, .pause = 1s}};
  b.failed(start);
  b.failed(start);
  b.succeeded();
  b.failed(start);
  b.failed(start);
  BOOST_TEST(b.allow(start).given);
  b.failed(start);
  BOOST_TEST(!b.allow(start).given);
  BOOST_TEST((b.now(start) == state::open));
}

BOOST_AUTO_TEST_CASE(lets_one_probe_through_and_closes_when_it_is_well) {
  circuit_breaker b{{.failures = 1, .pause = 1s}};
  b.failed(start);
  BOOST_TEST(!b.allow(start + 999ms).given);
  BOOST_TEST(b.allow(start + 1s).given);
  BOOST_TEST(!b.allow(start + 1s).given);
  b.succeeded();
  BOOST_TEST((b.now(start + 1s) == state::closed));
  BOOST_TEST(b.allow(start + 1s).given);
}

BOOST_AUTO_TEST_CASE(waits_longer_after_every_failed_probe) {
  circuit_breaker b{{.failures = 1, .pause = 1s, .longest_pause = 3s}};
  auto t = start;
  b.failed(t);
  for (auto pause : {1'000ms, 2'000ms, 3'000ms, 3'000ms}) {
    BOOST_TEST(!b.allow(t + pause - 1ms).given);
    t += pause;
    BOOST_TEST(b.allow(t).given);
    b.failed(t);
  }
}

BOOST_AUTO_TEST_CASE(lets_another_probe_go_when_one_said_nothing) {
  circuit_breaker b{{.failures = 1, .pause = 1s}};
  b.failed(start);
  const auto probe = b.allow(start + 1s);
  BOOST_TEST(probe.given);
  b.abandoned(probe);
  BOOST_TEST(b.allow(start + 1s).given);
}

BOOST_AUTO_TEST_CASE(keeps_one_probe_whatever_becomes_of_older_runs) {
  circuit_breaker b{{.failures = 1, .pause = 1s}};
  const auto older = b.allow(start);
  b.failed(start);
  BOOST_TEST(b.allow(start + 1s).given);
  b.abandoned(older);
  BOOST_TEST(!b.allow(start + 1s).given);
}

BOOST_AUTO_TEST_CASE(is_not_prolonged_by_runs_that_were_under_way) {
  circuit_breaker b{{.failures = 1, .pause = 1s}};
  b.failed(start);
  b.failed(start + 500ms);
  BOOST_TEST(b.allow(start + 1s).given);
}

BOOST_AUTO_TEST_CASE(scores_what_happened_lately) {
  circuit_breaker b;
  BOOST_TEST(b.score() == 1.0);
  for (int i = 0; i < 20; ++i)
    b.failed(start);
  BOOST_TEST(b.score() < 0.2);
  for (int i = 0; i < 20; ++i)
    b.succeeded();
  BOOST_TEST(b.score() > 0.85);
}

BOOST_AUTO_TEST_SUITE_END()
