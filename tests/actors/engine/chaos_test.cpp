// The engine over backends in memory that do everything a backend must not, in
// thousands of runs within seconds.
#include "tests/actors/engine/chaos.hpp"
#include "tests/actors/engine/flaky_backend.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(chaos_suite)

namespace {

/// One engine's whole life among the moody; how many runs succeeded.
std::size_t live_through(std::size_t count) {
  std::mt19937 random{chaos_seed()};
  auto webhook = std::make_shared<moody_webhook>(chaos_seed() + 1);
  engine_options options;
  options.threads = 2;
  options.webhook = webhook;
  options.journal = std::make_shared<slow_journal>(chaos_seed() + 4);
  options.credentials.keep_for = std::chrono::milliseconds{0};
  options.backends
    = {std::make_shared<moody_backend>(backend_kind::local, chaos_seed() + 2),
       std::make_shared<moody_backend>(backend_kind::e2b, chaos_seed() + 3)};
  options.admission.running = 64;
  options.admission.waiting = 512;
  options.breaker.failures = 50;
  options.breaker.pause = std::chrono::milliseconds{1};
  options.deadlines.grace = std::chrono::milliseconds{50};
  options.supervision.first_pause = std::chrono::milliseconds{1};
  chaos_tally t{count}; // whoever is still answered at the end is counted
  auto opened = open_engine(std::move(options));
  BOOST_REQUIRE(opened.has_value());
  auto& host = **opened;
  auto& e = host.engine();
  chaos_traffic traffic{host, t, random};
  for (std::size_t i = 0; i < count; ++i) {
    auto request = source_run();
    request.deadline = std::chrono::milliseconds{20 + random() % 1'000};
    traffic.submit(std::move(request));
    if (random() % 50 == 0)
      webhook->give_up();
  }
  // A hanging webhook must not keep a run beyond its deadline.
  t.wait(std::chrono::seconds{60});
  webhook->give_up();
  host.stop(); // what the supervisor still cleans up is clean after this
  t.check();
  check_counters_are_zero(e);
  BOOST_TEST(metric_of(e, "troupe_actor_restarts_total") > 0);
  return t.successes;
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_every_request_exactly_once_whatever_happens) {
  BOOST_TEST_MESSAGE("TROUPE_CHAOS_SEED=" << chaos_seed());
  // What is made once stays. So short a life may well be nothing but chaos.
  live_through(500);
  const auto before = heap_in_use();
  const auto count = chaos_number("TROUPE_CHAOS_REQUESTS", 10'000);
  BOOST_TEST(live_through(count) > 0u);
  const auto after = heap_in_use();
  // A run that is kept costs a kilobyte at least.
  BOOST_TEST(after < before + count * 100,
             "the heap grew from " << before << " to " << after << " bytes");
}

BOOST_AUTO_TEST_SUITE_END()
