#include "actors/state/admission.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <random>
#include <vector>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(admission_suite)

namespace {

const organization_id one{"org-1"};
const organization_id two{"org-2"};

struct waiter {
  int number = 0;
  admission::ticket ticket;
};
using guest_ptr = std::shared_ptr<waiter>;

guest_ptr make(int number) {
  auto g = std::make_shared<waiter>();
  g->number = number;
  return g;
}

result<admission::verdict> enter(admission& a, const guest_ptr& g,
                                 const organization_id& who,
                                 backend_kind kind = backend_kind::local) {
  return a.enter(g->ticket, who, kind, 0, g);
}

std::vector<int> numbers(const std::vector<admission::waiter>& waiters) {
  std::vector<int> all;
  for (const auto& g : waiters)
    all.push_back(std::static_pointer_cast<waiter>(g)->number);
  return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(runs_waits_and_refuses_at_its_bounds) {
  admission_limits limits;
  limits.running = 1;
  limits.waiting = 1;
  admission a{limits};
  auto first = make(1), second = make(2), third = make(3);
  BOOST_TEST((*enter(a, first, one) == admission::verdict::run));
  BOOST_TEST((*enter(a, second, one) == admission::verdict::wait));
  auto refused = enter(a, third, one);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::exhausted));
  BOOST_TEST(refused.error().retry_after.count() >= 100);
  auto next = numbers(a.leave(first->ticket));
  BOOST_REQUIRE(next.size() == 1u);
  BOOST_TEST(next[0] == 2);
  BOOST_TEST((second->ticket.now == admission::ticket::state::running));
  BOOST_TEST(a.leave(second->ticket).empty());
  BOOST_TEST(a.now().running == 0u);
  BOOST_TEST(a.now().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(names_the_longest_queues_first) {
  admission_limits limits;
  limits.running = 1;
  admission a{limits};
  std::vector<guest_ptr> all;
  auto come = [&](const organization_id& who, int times) {
    for (int i = 0; i < times; ++i)
      BOOST_TEST(enter(a, all.emplace_back(make(0)), who).has_value());
  };
  come(one, 2); // the first of them runs
  come(two, 3);
  come(organization_id{"org-3"}, 2);
  using lines = std::vector<std::pair<organization_id, std::uint32_t>>;
  BOOST_TEST(
    (a.longest_queues(2) == lines{{two, 3}, {organization_id{"org-3"}, 2}}));
  BOOST_TEST(a.longest_queues(9).size() == 3u);
  for (auto i = all.rbegin(); i != all.rend(); ++i)
    a.leave((*i)->ticket);
  BOOST_TEST(a.longest_queues(9).empty());
}

BOOST_AUTO_TEST_CASE(bounds_each_organization_for_itself) {
  admission_limits limits;
  limits.running_per_organization = 1;
  limits.waiting_per_organization = 1;
  admission a{limits};
  auto a1 = make(1), a2 = make(2), a3 = make(3), b1 = make(4);
  BOOST_TEST((*enter(a, a1, one) == admission::verdict::run));
  BOOST_TEST((*enter(a, a2, one) == admission::verdict::wait));
  BOOST_TEST(!enter(a, a3, one).has_value());
  BOOST_TEST((*enter(a, b1, two) == admission::verdict::run));
}

BOOST_AUTO_TEST_CASE(bounds_each_backend_and_moves_between_them) {
  admission_limits limits;
  limits.running_per_backend[backend_kind::e2b] = 1;
  admission a{limits};
  auto first = make(1), second = make(2), third = make(3);
  BOOST_TEST(
    (*enter(a, first, one, backend_kind::e2b) == admission::verdict::run));
  BOOST_TEST(
    (*enter(a, second, one, backend_kind::e2b) == admission::verdict::wait));
  BOOST_TEST((*enter(a, third, one) == admission::verdict::run));
  std::vector<admission::waiter> woken;
  BOOST_TEST(a.move(first->ticket, backend_kind::local, woken));
  BOOST_TEST(numbers(woken) == std::vector<int>{2},
             boost::test_tools::per_element());
  woken.clear();
  BOOST_TEST(!a.move(third->ticket, backend_kind::e2b, woken));
  BOOST_TEST((third->ticket.now == admission::ticket::state::outside));
  BOOST_TEST(a.now().running == 2u);
}

BOOST_AUTO_TEST_CASE(forgets_who_gives_up_waiting) {
  admission_limits limits;
  limits.running = 1;
  admission a{limits};
  auto first = make(1), second = make(2), third = make(3);
  (void)enter(a, first, one);
  (void)enter(a, second, one);
  (void)enter(a, third, one);
  BOOST_TEST(a.leave(second->ticket).empty());
  BOOST_TEST(numbers(a.leave(first->ticket)) == std::vector<int>{3},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(counts_nothing_twice_whatever_happens) {
  admission_limits limits;
  limits.running = 7;
  limits.running_per_organization = 4;
  limits.running_per_other_backend = 5;
  limits.waiting = 20;
  admission a{limits};
  std::mt19937 random{20261118};
  std::vector<guest_ptr> inside;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 || inside.empty()) {
      auto g = make(step);
      auto kind = random() % 3 == 0 ? backend_kind::e2b : backend_kind::local;
      if (enter(a, g, random() % 2 ? one : two, kind))
        inside.push_back(g);
    } else {
      auto i = random() % inside.size();
      auto g = inside[i];
      if (random() % 8 == 0
          && g->ticket.now == admission::ticket::state::running) {
        std::vector<admission::waiter> woken;
        if (!a.move(g->ticket, backend_kind::e2b, woken))
          inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        (void)a.leave(g->ticket);
        inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    std::uint32_t running = 0, waiting = 0;
    for (const auto& g : inside) {
      running += g->ticket.now == admission::ticket::state::running;
      waiting += g->ticket.now == admission::ticket::state::waiting;
    }
    BOOST_REQUIRE(a.now().running == running);
    BOOST_REQUIRE(a.now().waiting == waiting);
    BOOST_REQUIRE(running <= limits.running);
  }
  for (const auto& g : inside)
    (void)a.leave(g->ticket);
  BOOST_TEST(a.now().running == 0u);
  BOOST_TEST(a.now().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(keeps_places_for_others_beside_two_that_flood) {
  admission_limits limits;
  limits.running = 1;
  limits.waiting = 100;
  limits.waiting_per_organization = 60;
  admission a{limits};
  std::vector<guest_ptr> waiters;
  auto flood = [&](const organization_id& who) {
    do
      waiters.push_back(make(0));
    while (enter(a, waiters.back(), who));
  };
  flood(one);
  flood(two);
  auto lonely = make(1);
  auto verdict = enter(a, lonely, organization_id{"org-3"});
  BOOST_REQUIRE(verdict.has_value());
  BOOST_TEST((*verdict == admission::verdict::wait));
  a.leave(lonely->ticket);
}

BOOST_AUTO_TEST_CASE(wakes_others_beside_a_backend_that_is_full) {
  admission_limits limits;
  limits.running = 2;
  limits.running_per_backend[backend_kind::e2b] = 1;
  admission a{limits};
  auto far = make(1), near = make(2), far_too = make(3), near_too = make(4);
  BOOST_TEST(
    (*enter(a, far, one, backend_kind::e2b) == admission::verdict::run));
  BOOST_TEST((*enter(a, near, one) == admission::verdict::run));
  BOOST_TEST(
    (*enter(a, far_too, one, backend_kind::e2b) == admission::verdict::wait));
  BOOST_TEST((*enter(a, near_too, one) == admission::verdict::wait));
  BOOST_TEST((numbers(a.leave(near->ticket)) == std::vector{4}));
  BOOST_TEST((numbers(a.leave(far->ticket)) == std::vector{3}));
}

BOOST_AUTO_TEST_SUITE_END()
