#include "actors/sandbox/sandbox_event_log.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe {

BOOST_AUTO_TEST_SUITE(sandbox_event_logs)

using kind = sandbox_event::kind;

BOOST_AUTO_TEST_CASE(numbers_have_no_holes_and_old_events_go) {
  sandbox_event_log log{3};
  for (int i = 0; i < 5; ++i)
    log.tell(kind::state, std::to_string(i));
  auto all = log.read(0, 100);
  BOOST_REQUIRE(all.size() == 3u);
  for (std::size_t i = 0; i < 3; ++i)
    BOOST_TEST(all[i].number == i + 3);
  BOOST_TEST(log.read(4, 100).size() == 1u);
  BOOST_TEST(log.read(3, 1).front().number == 4u);
  BOOST_TEST(log.read(5, 100).empty());
  BOOST_TEST(log.read(~0ull, 100).empty());
}

BOOST_AUTO_TEST_CASE(a_reader_is_told_once_of_what_comes_or_that_nothing_will) {
  sandbox_event_log log{10};
  int told = 0;
  const auto count = [&told] { ++told; };
  BOOST_TEST(log.when_more(0, count).has_value());
  BOOST_TEST(told == 0);
  log.tell(kind::expiring);
  log.tell(kind::expiring);
  BOOST_TEST(told == 1);
  BOOST_TEST(log.when_more(1, count).has_value()); // there is more already
  BOOST_TEST(told == 2);
  BOOST_TEST(log.when_more(2, count).has_value());
  log.close();
  BOOST_TEST(told == 3);
  BOOST_TEST(log.over());
  BOOST_TEST(log.when_more(2, count).has_value());
  BOOST_TEST(told == 4);
}

BOOST_AUTO_TEST_CASE(readers_are_bounded) {
  sandbox_event_log log{10};
  for (int i = 0; i < 16; ++i)
    BOOST_TEST(log.when_more(0, [] {}).has_value());
  BOOST_TEST((log.when_more(0, [] {}).error().code == ec::exhausted));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
