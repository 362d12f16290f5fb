#include "actors/sandbox/sandbox_admission.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <set>

namespace troupe {

namespace {

using verdict = sandbox_admission::verdict;

sandbox_options bounded(std::uint32_t max, std::uint32_t starting,
                        std::uint32_t per_organization,
                        std::uint32_t queue = 1'000) {
  sandbox_options o;
  o.rules.max = max;
  o.rules.starting = starting;
  o.rules.max_per_organization = per_organization;
  o.rules.queue = queue;
  o.places.push_back({backend_kind::local, nullptr, {}, 1'000});
  return o;
}

const organization_id ours = default_organization();
const organization_id theirs{"org-11111111-1111-4111-8111-111111111111"};

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_admissions)

BOOST_AUTO_TEST_CASE(only_so_many_are_made_at_once) {
  sandbox_admission a{bounded(10, 1, 10)};
  const auto first = sandbox_id::make();
  const auto second = sandbox_id::make();
  BOOST_TEST((a.enter(first, ours, 0) == verdict::now));
  BOOST_TEST((a.enter(second, ours, 0) == verdict::waits));
  BOOST_TEST(!a.next());
  a.made(first);
  BOOST_TEST((a.next() == second));
  BOOST_TEST(a.living() == 2u);
}

BOOST_AUTO_TEST_CASE(one_organization_does_not_keep_another_waiting) {
  sandbox_admission a{bounded(10, 10, 1)};
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::now));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::waits));
  BOOST_TEST((a.enter(sandbox_id::make(), theirs, 0) == verdict::now));
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses) {
  sandbox_admission a{bounded(1, 1, 1, 1)};
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::now));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::waits));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::queue_full));
  BOOST_TEST((a.enter(sandbox_id::make(), theirs, 0) == verdict::queue_full));
}

BOOST_AUTO_TEST_CASE(one_organization_does_not_fill_the_queue) {
  auto rules = bounded(1, 1, 1, 10);
  rules.rules.queue_per_organization = 2;
  sandbox_admission a{rules};
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::now));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::waits));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::waits));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::share_full));
  BOOST_TEST((a.enter(sandbox_id::make(), theirs, 0) == verdict::waits));
}

BOOST_AUTO_TEST_CASE(one_that_waits_can_leave) {
  sandbox_admission a{bounded(1, 1, 1)};
  const auto first = sandbox_id::make();
  const auto second = sandbox_id::make();
  a.enter(first, ours, 0);
  a.enter(second, ours, 0);
  a.left(second);
  BOOST_TEST(a.waiting() == 0u);
  a.left(first);
  BOOST_TEST(!a.next());
  BOOST_TEST(a.living() == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_place_does_not_keep_another_waiting) {
  auto o = bounded(10, 10, 10);
  o.places[0].limit = 1;
  o.places.push_back({backend_kind::e2b, nullptr, {}, 1});
  sandbox_admission a{o};
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::now));
  BOOST_TEST((a.enter(sandbox_id::make(), ours, 0) == verdict::waits));
  BOOST_TEST((a.enter(sandbox_id::make(), theirs, 1) == verdict::now));
}

BOOST_AUTO_TEST_CASE(random_comings_and_goings_never_pass_a_bound) {
  std::mt19937 dice{7};
  sandbox_admission a{bounded(8, 3, 5, 20)};
  std::map<sandbox_id, organization_id> inside;
  std::set<sandbox_id> starting, waiting;
  for (int i = 0; i < 20'000; ++i) {
    const auto& who = dice() % 2 ? ours : theirs;
    switch (dice() % 4) {
    case 0:
    case 1: {
      const auto id = sandbox_id::make();
      const auto said = a.enter(id, who, 0);
      if (said == verdict::queue_full)
        break;
      inside[id] = who;
      (said == verdict::now ? starting : waiting).insert(id);
      break;
    }
    case 2:
      if (!starting.empty()) {
        a.made(*starting.begin());
        starting.erase(starting.begin());
      }
      break;
    case 3:
      if (!inside.empty()) {
        auto gone = inside.begin();
        std::advance(gone, dice() % inside.size());
        a.left(gone->first);
        starting.erase(gone->first);
        waiting.erase(gone->first);
        inside.erase(gone);
      }
    }
    while (auto next = a.next()) {
      BOOST_REQUIRE(waiting.erase(*next) == 1u);
      starting.insert(*next);
    }
    std::map<organization_id, std::size_t> living;
    for (const auto& [id, of] : inside)
      if (!waiting.contains(id))
        ++living[of];
    BOOST_REQUIRE(a.living() == inside.size() - waiting.size());
    BOOST_REQUIRE(a.living() <= 8u);
    BOOST_REQUIRE(a.starting() == starting.size());
    BOOST_REQUIRE(a.starting() <= 3u);
    BOOST_REQUIRE(a.waiting() == waiting.size());
    for (const auto& [of, count] : living)
      BOOST_REQUIRE(count <= 5u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
