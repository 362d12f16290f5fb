#include "actors/ledger_queue.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(ledger_queue_suite)

namespace {

journal_entry line_of(const run_id& id, run_phase phase) {
  journal_entry entry;
  run_record run;
  run.id = id;
  run.phase = phase;
  entry.run = std::move(run);
  return entry;
}

using outcome = ledger_queue::outcome;

} // namespace

BOOST_AUTO_TEST_CASE(writes_a_run_once_that_ends_before_it_is_written) {
  ledger_queue q{{}};
  auto id = run_id::make();
  BOOST_TEST((q.push(line_of(id, run_phase::queued)) == outcome::wake));
  BOOST_TEST((q.push(line_of(id, run_phase::ended)) == outcome::quiet));
  auto lines = q.drain();
  BOOST_REQUIRE(lines.size() == 1u);
  BOOST_TEST((lines[0].entry.run->phase == run_phase::ended));
  BOOST_TEST((q.push(line_of(id, run_phase::ended)) == outcome::wake));
}

BOOST_AUTO_TEST_CASE(hurries_once_when_somebody_waits) {
  ledger_queue q{{}};
  auto kept = [](bool) {};
  BOOST_TEST(
    (q.push(line_of(run_id::make(), run_phase::queued)) == outcome::wake));
  BOOST_TEST((q.push(line_of(run_id::make(), run_phase::queued), kept)
              == outcome::wake_now));
  BOOST_TEST((q.push(line_of(run_id::make(), run_phase::queued), kept)
              == outcome::quiet));
}

BOOST_AUTO_TEST_CASE(keeps_the_line_that_somebody_waits_for) {
  ledger_queue q{{}};
  auto id = run_id::make();
  q.push(line_of(id, run_phase::queued), [](bool) {});
  q.push(line_of(id, run_phase::ended));
  auto lines = q.drain();
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST((lines[0].entry.run->phase == run_phase::queued));
  BOOST_TEST((lines[1].entry.run->phase == run_phase::ended));
}

BOOST_AUTO_TEST_CASE(has_no_room_for_new_runs_but_for_the_ends_of_old_ones) {
  ledger_queue q{{.entries = 2}};
  BOOST_TEST(q.room());
  for (int i = 0; i < 2; ++i)
    q.push(line_of(run_id::make(), run_phase::queued));
  BOOST_TEST(!q.room());
  for (int i = 0; i < 2; ++i)
    BOOST_TEST(
      (q.push(line_of(run_id::make(), run_phase::ended)) != outcome::full));
  BOOST_TEST(
    (q.push(line_of(run_id::make(), run_phase::ended)) == outcome::full));
  q.drain();
  BOOST_TEST(q.room());
}

BOOST_AUTO_TEST_SUITE_END()
