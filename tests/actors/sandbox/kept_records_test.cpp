#include "actors/sandbox/kept_records.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe {

BOOST_AUTO_TEST_SUITE(kept_records_of_sandboxes)

namespace {

const organization_id one = default_organization();
const organization_id other{"org-11111111-1111-4111-8111-111111111111"};

} // namespace

BOOST_AUTO_TEST_CASE(the_oldest_of_an_organization_goes_for_a_new_one) {
  kept_records kept{2, 10};
  const auto first = sandbox_id::make();
  const auto second = sandbox_id::make();
  BOOST_TEST(!kept.add(first, one));
  BOOST_TEST(!kept.add(second, one));
  BOOST_TEST(!kept.add(second, one)); // told twice
  BOOST_TEST(!kept.add(sandbox_id::make(), other));
  BOOST_TEST((kept.add(sandbox_id::make(), one) == first));
  BOOST_TEST((kept.add(sandbox_id::make(), one) == second));
}

BOOST_AUTO_TEST_CASE(the_oldest_of_all_goes_when_there_are_too_many) {
  kept_records kept{10, 2};
  const auto first = sandbox_id::make();
  BOOST_TEST(!kept.add(first, one));
  BOOST_TEST(!kept.add(sandbox_id::make(), other));
  BOOST_TEST((kept.add(sandbox_id::make(), other) == first));
}

BOOST_AUTO_TEST_CASE(what_was_forgotten_makes_room) {
  kept_records kept{1, 10};
  const auto first = sandbox_id::make();
  BOOST_TEST(!kept.add(first, one));
  kept.forget(first);
  kept.forget(first);
  BOOST_TEST(!kept.add(sandbox_id::make(), one));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
