#include "actors/state/expiring_map.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(expiring_map_suite)

namespace {

using map = expiring_map<std::string, int>;
const auto start = map::clock::time_point{} + 1h;

} // namespace

BOOST_AUTO_TEST_CASE(forgets_after_its_time) {
  map m{1s, 10};
  m.put("a", 1, start);
  BOOST_REQUIRE(m.find("a", start + 999ms));
  BOOST_TEST(*m.find("a", start + 999ms) == 1);
  BOOST_TEST(!m.find("a", start + 1s));
  BOOST_TEST(m.size() == 0u);
}

BOOST_AUTO_TEST_CASE(makes_room_by_forgetting_the_oldest) {
  map m{1s, 2};
  m.put("a", 1, start);
  m.put("b", 2, start + 1ms);
  m.put("a", 3, start + 2ms);
  m.put("c", 4, start + 3ms);
  BOOST_TEST(!m.find("b", start + 4ms));
  BOOST_TEST(*m.find("a", start + 4ms) == 3);
  BOOST_TEST(m.size() == 2u);
}

BOOST_AUTO_TEST_CASE(sweeps_what_nobody_asks_for) {
  map m{1s, 10};
  m.put("a", 1, start);
  m.put("b", 2, start + 500ms);
  m.sweep(start + 1s);
  BOOST_TEST(m.size() == 1u);
}

BOOST_AUTO_TEST_CASE(keeps_nothing_when_told_so) {
  map m{0s, 10};
  m.put("a", 1, start);
  BOOST_TEST(!m.find("a", start));
}

BOOST_AUTO_TEST_SUITE_END()
