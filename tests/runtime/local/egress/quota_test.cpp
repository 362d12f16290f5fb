#include "runtime/local/egress/quota.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

using namespace troupe::network;
using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(network_quota)

namespace {

broker_options few() {
  broker_options o;
  o.of_a_run = {3, 10, 1'000, 2, 25};
  o.of_an_organization = {5, 10, 1'500, 3, 50};
  return o;
}

/// Two brokers of one organization.
struct pair {
  std::shared_ptr<shared<account>> organization
    = *shared<account>::make("test-account");
  std::shared_ptr<shared<broker_page>> page[2]
    = {*shared<broker_page>::make("test-page"),
       *shared<broker_page>::make("test-page")};
  quota first{page[0], organization, few()};
  quota second{page[1], organization, few()};
};

const quota::clock::time_point start{seconds{1'000}};

int sockets(quota& q, quota::clock::time_point now) {
  int count = 0;
  while (count < 100 && q.take_socket(now))
    ++count;
  return count;
}

} // namespace

BOOST_AUTO_TEST_CASE(gives_so_many_sockets_at_once_and_then_so_many_a_second) {
  pair p;
  BOOST_TEST(sockets(p.first, start) == 3);
  BOOST_TEST(sockets(p.first, start + milliseconds{99}) == 0);
  BOOST_TEST(sockets(p.first, start + milliseconds{100}) == 1);
  BOOST_TEST(sockets(p.first, start + seconds{60}) == 3); // no more are saved
}

BOOST_AUTO_TEST_CASE(holds_an_organization_to_what_all_of_its_runs_may_take) {
  pair p;
  BOOST_TEST(sockets(p.first, start) == 3);
  BOOST_TEST(sockets(p.second, start) == 2);
  p.second.begin_run(); // another run, and the same organization
  BOOST_TEST(sockets(p.second, start) == 0);
  BOOST_TEST(sockets(p.second, start + milliseconds{100}) == 1);
}

BOOST_AUTO_TEST_CASE(lets_so_many_calls_wait_with_so_many_bytes) {
  pair p;
  auto one = p.first.wait_with(900);
  BOOST_TEST(bool(one));
  BOOST_TEST(!p.first.wait_with(101)); // of the run
  auto two = p.first.wait_with(100);
  BOOST_TEST(bool(two));
  BOOST_TEST(!p.first.wait_with(0));    // the third call of the run
  BOOST_TEST(!p.second.wait_with(501)); // of the organization
  auto three = p.second.wait_with(500);
  BOOST_TEST(bool(three));
  BOOST_TEST(!p.second.wait_with(0)); // its fourth call
  two = {};
  BOOST_TEST(bool(p.second.wait_with(0)));
  one = {};
  three = {};
  BOOST_TEST((*p.organization)->held_bytes == 0);
  BOOST_TEST((*p.organization)->waiting_calls == 0);
  BOOST_TEST((*p.page[0])->held_bytes == 0);
  BOOST_TEST((*p.page[0])->waiting_calls == 0);
}

BOOST_AUTO_TEST_CASE(rests_when_more_time_was_used_than_its_share) {
  pair p;
  // Half a second is given; what follows costs four times as long.
  BOOST_TEST((p.first.charge(milliseconds{500}, start)).count() == 0);
  BOOST_TEST((p.first.charge(milliseconds{10}, start) == milliseconds{40}));
  BOOST_TEST((p.first.charge(milliseconds{0}, start + milliseconds{30})
              == milliseconds{10}));
  BOOST_TEST(p.first.charge(milliseconds{0}, start + milliseconds{40}).count()
             == 0);
}

BOOST_AUTO_TEST_CASE(makes_an_organization_rest_for_all_of_its_runs) {
  pair p;
  BOOST_TEST(p.first.charge(milliseconds{300}, start).count() == 0);
  // 600 ms of 500 that are given, at half a processor.
  BOOST_TEST((p.second.charge(milliseconds{300}, start) == milliseconds{200}));
}

BOOST_AUTO_TEST_SUITE_END()
