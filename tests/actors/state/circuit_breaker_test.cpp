#include "actors/state/circuit_breaker.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(circuit_breaker_suite)

namespace {

using state = circuit_breaker::state;

const auto start = circuit_breaker::clock::time_point{} + 1h;

} // namespace

BOOST_AUTO_TEST_CASE(opens_after_failures_in_a_row_only) {
  circuit_breaker b{{.failures = 3, .pause = 1s}};
  b.failed(start);
  b.failed(start);
  b.succeeded(start);
  b.failed(start);
  b.failed(start);
  BOOST_TEST(b.allow(start).given);
  b.failed(start);
  BOOST_TEST(!b.allow(start).given);
  BOOST_TEST((b.look(start).circuit == state::open));
}

BOOST_AUTO_TEST_CASE(lets_one_probe_through_and_closes_when_it_is_well) {
  circuit_breaker b{{.failures = 1, .pause = 1s}};
  b.failed(start);
  BOOST_TEST(!b.allow(start + 999ms).given);
  BOOST_TEST(b.allow(start + 1s).given);
  BOOST_TEST(!b.allow(start + 1s).given);
  b.succeeded(start);
  BOOST_TEST((b.look(start + 1s).circuit == state::closed));
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
  BOOST_TEST(b.look(start).score == 1.0);
  for (int i = 0; i < 20; ++i)
    b.failed(start);
  BOOST_TEST(b.look(start).score < 0.2);
  for (int i = 0; i < 20; ++i)
    b.succeeded(start);
  BOOST_TEST(b.look(start).score > 0.85);
}

/// Who is not asked cannot succeed, and would stay the one who failed.
BOOST_AUTO_TEST_CASE(forgives_with_time_alone) {
  circuit_breaker b{{.failures = 100, .half_life = 30s}};
  for (int i = 0; i < 20; ++i)
    b.failed(start); // a score of 0.12
  auto seen = b.look(start);
  BOOST_TEST(seen.is_sick());
  BOOST_TEST(seen.retry_in > 20s);
  BOOST_TEST(b.look(start + seen.retry_in - 100ms).is_sick());
  BOOST_TEST(!b.look(start + seen.retry_in).is_sick());
  BOOST_TEST(b.look(start + 1h).score > 0.99);
}

BOOST_AUTO_TEST_CASE(wants_the_next_run_as_a_probe_after_the_pause) {
  circuit_breaker b{{.failures = 1, .pause = 12s}};
  for (int i = 0; i < 30; ++i)
    b.failed(start); // however bad its score
  BOOST_TEST(b.look(start).is_sick());
  BOOST_TEST(b.look(start).retry_in == 12s);
  BOOST_TEST((b.look(start + 12s).circuit == state::half_open));
  BOOST_TEST(!b.look(start + 12s).is_sick());
  BOOST_REQUIRE(b.allow(start + 12s).given);
  BOOST_TEST(b.look(start + 12s).is_sick()); // for the others
  b.succeeded(start + 13s);
  BOOST_TEST(!b.look(start + 13s).is_sick());
}

BOOST_AUTO_TEST_CASE(tells_when_it_opens_and_closes) {
  using change = circuit_breaker::change;
  circuit_breaker b{{.failures = 2, .pause = 1s}};
  BOOST_TEST((b.succeeded(start) == change::none));
  BOOST_TEST((b.failed(start) == change::none));
  BOOST_TEST((b.failed(start) == change::opened));
  BOOST_TEST((b.failed(start) == change::none));
  BOOST_REQUIRE(b.allow(start + 1s).given);
  BOOST_TEST((b.failed(start + 1s) == change::none)); // it was open before
  BOOST_REQUIRE(b.allow(start + 3s).given);
  BOOST_TEST((b.succeeded(start + 3s) == change::closed));
  BOOST_TEST((b.entered() == std::array<std::uint64_t, 3>{1, 2, 2}));
}

BOOST_AUTO_TEST_CASE(says_in_words_why_and_until_when) {
  circuit_breaker b{{.failures = 5, .pause = 12s}};
  BOOST_TEST(why_passed_over(b.look(start)).empty());
  for (int i = 0; i < 5; ++i)
    b.failed(start);
  BOOST_TEST(why_passed_over(b.look(start))
             == "paused after 5 failures, next try in 12 s");
  BOOST_TEST(why_passed_over(b.look(start + 12s))
             == "paused after 5 failures, the next run is the probe");
  b.allow(start + 12s);
  BOOST_TEST(why_passed_over(b.look(start + 12s))
             == "paused after 5 failures, a probe run is in progress");
}

BOOST_AUTO_TEST_SUITE_END()
