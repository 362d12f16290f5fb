#include "actors/state/fair_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(fair_queue_suite)

namespace {

const organization_id big{"org-1"};
const organization_id small{"org-2"};
const organization_id third{"org-3"};

auto everybody = [](const organization_id&) { return true; };

} // namespace

BOOST_AUTO_TEST_CASE(lets_a_small_organization_pass_a_crowd) {
  fair_queue<int> q;
  for (int i = 0; i < 1'000; ++i)
    q.push(big, 0, 1, i);
  q.push(small, 0, 1, -1);
  BOOST_TEST(*q.pop(everybody) == 0);
  BOOST_TEST(*q.pop(everybody) == -1);
  BOOST_TEST(*q.pop(everybody) == 1);
  BOOST_TEST(q.size() == 998u);
}

BOOST_AUTO_TEST_CASE(shares_by_weight) {
  fair_queue<std::string> q;
  for (int i = 0; i < 30; ++i) {
    q.push(big, 0, 3, "big");
    q.push(small, 0, 1, "small");
  }
  int bigs = 0;
  for (int i = 0; i < 20; ++i)
    bigs += *q.pop(everybody) == "big" ? 1 : 0;
  BOOST_TEST(bigs == 15);
}

BOOST_AUTO_TEST_CASE(takes_the_most_urgent_first_then_the_oldest) {
  fair_queue<std::string> q;
  q.push(big, 0, 1, "first");
  q.push(big, 0, 1, "second");
  q.push(big, 5, 1, "urgent");
  q.push(big, -5, 1, "late");
  std::vector<std::string> order;
  while (auto x = q.pop(everybody))
    order.push_back(*x);
  const std::vector<std::string> expected{"urgent", "first", "second", "late"};
  BOOST_TEST(order == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(passes_over_who_may_not_go_and_keeps_their_place) {
  fair_queue<int> q;
  q.push(big, 0, 1, 1);
  q.push(small, 0, 1, 2);
  q.push(third, 0, 1, 3);
  auto not_big = [](const organization_id& who) { return who != big; };
  BOOST_TEST(*q.pop(not_big) == 2);
  BOOST_TEST(*q.pop(not_big) == 3);
  BOOST_TEST(!q.pop(not_big).has_value());
  BOOST_TEST(*q.pop(everybody) == 1);
}

BOOST_AUTO_TEST_CASE(takes_out_what_gives_up) {
  fair_queue<int> q;
  auto first = q.push(big, 0, 1, 1);
  q.push(big, 0, 1, 2);
  BOOST_TEST(*q.take(first) == 1);
  BOOST_TEST(!q.take(first).has_value());
  BOOST_TEST(q.size(big) == 1u);
  BOOST_TEST(*q.pop(everybody) == 2);
  BOOST_TEST(q.size() == 0u);
  BOOST_TEST(!q.pop(everybody).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
