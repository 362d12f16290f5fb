#include "actors/sandbox/sandbox_life.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using alarm = sandbox_life::alarm;
using state = sandbox_state;

struct life_at_zero {
  sandbox_rules rules;
  sandbox_life::clock::time_point now{};
  sandbox_life life = make();

  sandbox_life make() {
    sandbox_record r;
    r.id = sandbox_id::make();
    r.timeout = 300s;
    return {r, rules, now};
  }
  void run() {
    BOOST_REQUIRE(life.enter(state::creating, now));
    BOOST_REQUIRE(life.enter(state::running, now));
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_lives)

BOOST_AUTO_TEST_CASE(one_that_waits_too_long_is_told_so) {
  life_at_zero x;
  BOOST_TEST((x.life.look(x.now + 29s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 30s) == alarm::queue_expired));
}

BOOST_AUTO_TEST_CASE(a_timeout_counts_from_the_moment_it_runs) {
  life_at_zero x;
  x.life.enter(state::creating, x.now);
  x.now += 50s;
  BOOST_TEST((x.life.look(x.now) == alarm::none));
  x.life.enter(state::running, x.now);
  BOOST_TEST(x.life.record()->ends_at.has_value());
  x.life.told_expiring();
  BOOST_TEST((x.life.look(x.now + 299s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 300s) == alarm::expired));
}

BOOST_AUTO_TEST_CASE(a_creation_that_hangs_is_stuck) {
  life_at_zero x;
  x.life.enter(state::creating, x.now);
  BOOST_TEST((x.life.look(x.now + 60s) == alarm::stuck));
}

BOOST_AUTO_TEST_CASE(a_renewal_in_the_last_moment_counts) {
  life_at_zero x;
  x.run();
  x.now += 300s - 1ms;
  x.life.told_expiring();
  BOOST_TEST((x.life.look(x.now) == alarm::none));
  x.life.renew(10s, x.now);
  BOOST_TEST((x.life.look(x.now + 9s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 10s) == alarm::expired));
  x.life.renew(1s, x.now); // shorter is allowed
  BOOST_TEST((x.life.look(x.now + 1s) == alarm::expired));
}

BOOST_AUTO_TEST_CASE(its_end_is_told_a_minute_ahead_and_once) {
  life_at_zero x;
  x.run();
  BOOST_TEST((x.life.look(x.now + 239s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 240s) == alarm::expiring));
  BOOST_TEST((x.life.due() == x.now + 240s));
  x.life.told_expiring();
  BOOST_TEST((x.life.look(x.now + 299s) == alarm::none));
  x.life.renew(30s, x.now); // shorter than the notice: none
  BOOST_TEST((x.life.look(x.now + 29s) == alarm::none));
}

BOOST_AUTO_TEST_CASE(what_nothing_uses_becomes_idle) {
  life_at_zero x;
  sandbox_change idle;
  idle.idle_timeout = 10s;
  x.life.apply(idle);
  x.now += 5s;
  x.run();
  BOOST_TEST((x.life.due() == x.now + 10s));
  BOOST_TEST((x.life.look(x.now + 9s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 10s) == alarm::idle));
  x.life.activity()->touch(x.now + 10s);
  BOOST_TEST((x.life.look(x.now + 19s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 20s) == alarm::idle));
  idle.idle_timeout = 0s;
  x.life.apply(idle);
  BOOST_TEST((x.life.look(x.now + 200s) == alarm::none));
}

BOOST_AUTO_TEST_CASE(a_timeout_stands_still_while_it_is_paused) {
  life_at_zero x;
  x.run();
  x.now += 200s;
  x.life.enter(state::pausing, x.now);
  x.life.enter(state::paused, x.now);
  BOOST_TEST((x.life.look(x.now + 3'599s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 3'600s) == alarm::paused_too_long));
  x.now += 3'000s;
  x.life.enter(state::resuming, x.now);
  x.life.enter(state::running, x.now);
  x.life.told_expiring();
  BOOST_TEST((x.life.look(x.now + 99s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 100s) == alarm::expired));
}

BOOST_AUTO_TEST_CASE(one_that_was_paused_at_its_end_gets_its_timeout_again) {
  life_at_zero x;
  x.run();
  x.now += 300s;
  x.life.enter(state::pausing, x.now);
  x.life.enter(state::paused, x.now);
  x.life.enter(state::resuming, x.now);
  x.life.enter(state::running, x.now);
  x.life.told_expiring();
  BOOST_TEST((x.life.look(x.now + 299s) == alarm::none));
  BOOST_TEST((x.life.look(x.now + 300s) == alarm::expired));
}

BOOST_AUTO_TEST_CASE(a_deletion_that_fails_is_tried_again_less_and_less_often) {
  life_at_zero x;
  x.run();
  x.life.enter(state::deleting, sandbox_end::asked, x.now);
  auto why = std::make_shared<const error>(fail(ec::unavailable, "no"));
  std::chrono::milliseconds last{0};
  for (int i = 0; i < 10; ++i) {
    x.life.failed_to_delete(why, x.now);
    const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(
      x.life.due() - x.now);
    BOOST_TEST(pause.count() >= last.count());
    BOOST_TEST(pause.count() <= x.rules.longest_retry.count());
    BOOST_TEST((x.life.look(x.now + pause - 1ms) == alarm::none));
    BOOST_TEST((x.life.look(x.now + pause) == alarm::retry));
    x.life.retries();
    BOOST_TEST((x.life.look(x.now + 24h) == alarm::none));
    last = pause;
  }
  BOOST_TEST(last.count() == x.rules.longest_retry.count());
}

BOOST_AUTO_TEST_CASE(the_first_reason_of_an_end_stays) {
  life_at_zero x;
  x.run();
  x.life.enter(state::deleting, sandbox_end::timeout, x.now);
  x.life.enter(state::deleted, sandbox_end::asked, x.now);
  BOOST_TEST((x.life.record()->end == sandbox_end::timeout));
  BOOST_TEST((x.life.look(x.now + x.rules.kept) == alarm::forget));
}

BOOST_AUTO_TEST_CASE(random_wishes_keep_to_the_table) {
  std::mt19937 dice{3};
  for (int round = 0; round < 2'000; ++round) {
    life_at_zero x;
    bool ended = false;
    for (int i = 0; i < 40; ++i) {
      const auto before = x.life.state();
      const auto wish = static_cast<state>(dice() % sandbox_states);
      x.now += std::chrono::milliseconds{dice() % 10'000};
      const bool done = x.life.enter(wish, sandbox_end::asked, x.now);
      BOOST_REQUIRE(done == may_follow(before, wish));
      BOOST_REQUIRE((x.life.state() == (done ? wish : before)));
      // What has ended for good does not come back.
      BOOST_REQUIRE(!(ended && done));
      ended = x.life.state() == state::deleted;
      // What is on its way somewhere is looked at again some time.
      if (longest_in(x.life.state()) && x.life.state() != state::deleting)
        BOOST_REQUIRE(
          (x.life.look(x.now + *longest_in(x.life.state())) != alarm::none));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
