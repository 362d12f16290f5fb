#include "tests/support/engine/engine_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(shutdown_suite)

namespace {

using mode = scripted_backend::mode;

engine_options impatient() {
  engine_options options;
  options.drain_timeout = std::chrono::milliseconds{20};
  return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_everybody_when_it_stops_under_load) {
  const char* given = std::getenv("TROUPE_SHUTDOWN_ROUNDS");
  const int rounds = given ? std::atoi(given) : 100;
  for (int round = 0; round < rounds; ++round) {
    const auto how = round % 2 == 0 ? mode::hold : mode::answer;
    engine_fixture f{how, impatient()};
    constexpr int count = 300;
    std::atomic<int> answers{0};
    for (int i = 0; i < count; ++i)
      f.engine().submit(someone(), source_run(), [&](auto) { ++answers; }, {});
    f.host->stop();
    BOOST_REQUIRE(answers == count);
  }
}

BOOST_AUTO_TEST_CASE(lets_runs_finish_while_it_drains) {
  engine_fixture f{mode::hold};
  run_answer_box running;
  f.engine().submit(someone(), source_run(), running.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  f.host->drain(std::chrono::steady_clock::now() + std::chrono::hours{1});
  auto refused = f.run(source_run());
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::unavailable));
  f.local->release_all();
  auto r = running.get();
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(((*r)->status == run_status::success));
}

BOOST_AUTO_TEST_CASE(does_not_wait_again_for_what_was_drained_already) {
  engine_options patient;
  patient.drain_timeout = std::chrono::hours{1};
  engine_fixture f{mode::hold, std::move(patient)};
  run_answer_box box;
  f.engine().submit(someone(), source_run(), box.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  f.host->drain(std::chrono::steady_clock::now());
  f.host->stop();
  BOOST_TEST(!box.get().has_value());
}

BOOST_AUTO_TEST_CASE(answers_whoever_submits_while_it_stops) {
  for (int round = 0; round < 20; ++round) {
    engine_fixture f{mode::answer, impatient()};
    std::atomic<int> asked{0}, answered{0};
    std::atomic<bool> enough{false};
    std::vector<std::thread> crowd;
    for (int i = 0; i < 3; ++i)
      crowd.emplace_back([&] {
        while (!enough) {
          ++asked;
          f.engine().submit(someone(), source_run(), [&](auto) { ++answered; },
                            {});
          f.engine().metrics();
        }
      });
    while (answered < 10)
      std::this_thread::yield();
    f.host->stop();
    enough = true;
    for (auto& one : crowd)
      one.join();
    BOOST_REQUIRE(answered == asked);
  }
}

BOOST_AUTO_TEST_CASE(ends_the_events_of_every_run_it_stops) {
  engine_fixture f{mode::hold, impatient()};
  std::atomic<int> ends{0};
  run_answer_box box;
  f.engine().submit(someone(), source_run(), box.handle(),
                    [&](const run_event& e) {
                      ends += e.kind == run_event_kind::end ? 1 : 0;
                      return true;
                    });
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  f.host->stop();
  BOOST_TEST(ends == 1);
  BOOST_TEST(!box.get().has_value());
}

BOOST_AUTO_TEST_CASE(stops_on_another_thread_than_it_was_opened_on) {
  engine_fixture f{mode::answer, impatient()};
  std::thread{[&] { f.host->stop(); }}.join();
  BOOST_TEST(!f.run(source_run()).has_value());
}

BOOST_AUTO_TEST_CASE(does_nothing_when_it_is_stopped_twice) {
  engine_fixture f;
  f.host->stop();
  f.host->stop();
  BOOST_TEST(!f.run(source_run()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
