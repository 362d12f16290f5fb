#include "actors/state/ledger_queue.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(ledger_queue_suite)

namespace {

active_run_ptr somebody() {
  run_request request;
  request.id = run_id::make();
  return std::make_shared<active_run>(
    caller{}, std::make_shared<const run_request>(std::move(request)),
    event_bounds{});
}

ledger_entry begin_of(const active_run_ptr& run) {
  ledger_entry line;
  line.run = run;
  return line;
}

ledger_entry end_of(const active_run_ptr& run) {
  auto line = begin_of(run);
  line.audit = R"({"event":"run"})";
  return line;
}

/// What waited, as if it was written.
std::span<ledger_queue::waiting> drained(ledger_queue& q) {
  auto all = q.take();
  q.settle();
  return all;
}

using outcome = ledger_queue::outcome;

} // namespace

BOOST_AUTO_TEST_CASE(writes_a_run_once_that_ends_before_it_is_written) {
  ledger_queue q{{}};
  auto run = somebody();
  BOOST_TEST((q.push(begin_of(run)) == outcome::wake));
  BOOST_TEST((q.push(end_of(run)) == outcome::quiet));
  auto lines = drained(q);
  BOOST_REQUIRE(lines.size() == 1u);
  BOOST_TEST((lines[0].line.run == run));
  BOOST_TEST(lines[0].line.audit == end_of(run).audit);
  BOOST_TEST((q.push(end_of(run)) == outcome::wake));
  BOOST_TEST(drained(q).size() == 1u);
}

BOOST_AUTO_TEST_CASE(remembers_what_becomes_of_the_key_of_a_run) {
  ledger_queue q{{}};
  auto run = somebody();
  q.push(begin_of(run));
  auto end = end_of(run);
  end.key = key_disposition::settle;
  q.push(std::move(end));
  auto lines = drained(q);
  BOOST_REQUIRE(lines.size() == 1u);
  BOOST_TEST((lines[0].line.key == key_disposition::settle));
}

BOOST_AUTO_TEST_CASE(keeps_runs_and_rounds_apart) {
  ledger_queue q{{}};
  auto one = somebody(), other = somebody();
  q.push(begin_of(one));
  drained(q);
  q.push(begin_of(other)); // where the first one's line was
  q.push(end_of(one));
  auto all = drained(q);
  BOOST_REQUIRE(all.size() == 2u);
  BOOST_TEST((all[0].line.run == other));
  BOOST_TEST(all[0].line.audit.empty());
  BOOST_TEST((all[1].line.run == one));
}

BOOST_AUTO_TEST_CASE(hurries_once_when_somebody_waits) {
  ledger_queue q{{}};
  auto kept = [](bool) {};
  BOOST_TEST((q.push(begin_of(somebody())) == outcome::wake));
  BOOST_TEST((q.push(begin_of(somebody()), kept) == outcome::wake_now));
  BOOST_TEST((q.push(begin_of(somebody()), kept) == outcome::quiet));
}

BOOST_AUTO_TEST_CASE(hurries_once_when_there_are_many) {
  ledger_queue q{{.hurry_at = 3}};
  for (int round = 0; round < 2; ++round) {
    BOOST_TEST((q.push(begin_of(somebody())) == outcome::wake));
    BOOST_TEST((q.push(begin_of(somebody())) == outcome::quiet));
    BOOST_TEST((q.push(begin_of(somebody())) == outcome::wake_now));
    BOOST_TEST((q.push(begin_of(somebody())) == outcome::quiet));
    BOOST_TEST(drained(q).size() == 4u);
  }
}

BOOST_AUTO_TEST_CASE(gives_back_what_was_written_to_those_who_made_it) {
  ledger_queue q{{}};
  q.push(end_of(somebody()));
  drained(q); // the ledger has the slot, with its text
  q.push(begin_of(somebody()));
  drained(q); // now the queue has it
  auto line = begin_of(somebody());
  q.push(std::move(line));
  BOOST_TEST(line.audit == end_of(somebody()).audit);
  auto now = drained(q);
  BOOST_REQUIRE(now.size() == 1u);
  BOOST_TEST(now[0].line.audit.empty());
}

BOOST_AUTO_TEST_CASE(gives_again_what_was_taken_and_not_written) {
  ledger_queue q{{}};
  auto one = somebody(), other = somebody();
  q.push(begin_of(one));
  q.push(begin_of(other));
  auto all = q.take();
  q.push(begin_of(somebody()));
  std::swap(all[0], all[1]);
  q.settle(1); // the other one; the one was written
  BOOST_REQUIRE(q.has_rest());
  auto rest = drained(q);
  BOOST_REQUIRE(rest.size() == 1u);
  BOOST_TEST((rest[0].line.run == other));
  BOOST_TEST(!q.has_rest());
  BOOST_TEST(drained(q).size() == 1u);
}

BOOST_AUTO_TEST_CASE(keeps_the_line_that_somebody_waits_for) {
  ledger_queue q{{}};
  auto run = somebody();
  q.push(begin_of(run), [](bool) {});
  q.push(end_of(run));
  auto lines = drained(q);
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(static_cast<bool>(lines[0].kept));
  BOOST_TEST(!lines[1].kept);
}

BOOST_AUTO_TEST_CASE(has_no_room_for_new_runs_but_for_the_ends_of_old_ones) {
  ledger_queue q{{.entries = 2}};
  BOOST_TEST(q.room());
  for (int i = 0; i < 2; ++i)
    q.push(begin_of(somebody()));
  BOOST_TEST(!q.room());
  for (int i = 0; i < 2; ++i)
    BOOST_TEST((q.push(end_of(somebody())) != outcome::full));
  BOOST_TEST((q.push(end_of(somebody())) == outcome::full));
  drained(q);
  BOOST_TEST(q.room());
}

BOOST_AUTO_TEST_SUITE_END()
