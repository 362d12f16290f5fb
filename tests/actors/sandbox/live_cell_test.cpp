#include "actors/sandbox/live_cell.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe {

BOOST_AUTO_TEST_SUITE(live_cells)

namespace {

cell_event event_of(cell_event::kind what, std::size_t bytes = 1) {
  cell_event e;
  e.what = what;
  e.data = {{"text/plain", std::string(bytes, 'x')}};
  return e;
}

constexpr auto display = cell_event::kind::display;
constexpr auto failure = cell_event::kind::error;

} // namespace

BOOST_AUTO_TEST_CASE(so_many_events_are_kept_and_one_error_more) {
  live_cell cell{"c_1", {}, {}};
  for (std::size_t i = 0; i < bounds::cell_events + 5; ++i)
    cell.append(event_of(display));
  for (int i = 0; i < 5; ++i)
    cell.append(event_of(failure));
  BOOST_TEST(cell.record().dropped_events == 9u);
  BOOST_TEST(cell.event(bounds::cell_events).has_value());
  BOOST_TEST(!cell.event(bounds::cell_events + 1).has_value());
}

BOOST_AUTO_TEST_CASE(so_many_bytes_of_events_are_kept) {
  live_cell cell{"c_1", {}, {}};
  const auto third = bounds::cell_event_bytes / 3;
  for (int i = 0; i < 4; ++i)
    cell.append(event_of(display, third));
  BOOST_TEST(cell.record().dropped_events == 2u); // with their names: over it
  cell.append(event_of(display));
  BOOST_TEST(cell.record().dropped_events == 2u);
}

BOOST_AUTO_TEST_CASE(an_event_knows_what_output_came_before_it) {
  live_cell cell{"c_1", {}, {}};
  cell.append(output_stream::out, "abc");
  cell.append(event_of(display));
  cell.append(output_stream::err, "d");
  cell.append(event_of(display));
  BOOST_TEST(cell.event(0)->after.out == 3u);
  BOOST_TEST(cell.event(0)->after.err == 0u);
  BOOST_TEST(cell.event(1)->after.err == 1u);
}

BOOST_AUTO_TEST_CASE(readers_are_told_of_more_and_of_the_end_once) {
  live_cell cell{"c_1", {}, {}};
  int told = 0, ended = 0;
  const auto more = [&told] { ++told; };
  BOOST_TEST(cell.when_more({}, more).has_value());
  BOOST_TEST(told == 0);
  cell.append(event_of(display));
  BOOST_TEST(told == 1);
  cell_offsets read;
  read.events = 1;
  BOOST_TEST(cell.when_more(read, more).has_value());
  cell.when_ended([&ended] { ++ended; });
  cell.finish(cell_status::ok, 1);
  cell.finish_lost(cell_status::lost, "too late");
  BOOST_TEST(told == 2);
  BOOST_TEST(ended == 1);
  BOOST_TEST((cell.record().status == cell_status::ok));
  BOOST_TEST(!cell.record().state_lost);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
