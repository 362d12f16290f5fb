#include "tests/support/sandboxes/place_contract.hpp"
#include "tests/support/sandboxes/toy_provider.hpp"

namespace troupe {

BOOST_AUTO_TEST_SUITE(place_contract)

BOOST_AUTO_TEST_CASE(holds_for_the_toy_of_the_tests) {
  test::toy_place toy;
  test::check_place(*toy.provider, toy.executor());
  BOOST_TEST(toy.provider->living() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
