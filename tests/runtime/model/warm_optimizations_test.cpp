#include "runtime/model/warm_optimizations.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(warm_optimization_names)

namespace {

int count_on(const warm_optimizations& on) {
  return static_cast<int>(std::ranges::count_if(
    warm_optimization_table, [&](const auto& one) { return on.*one.flag; }));
}

} // namespace

BOOST_AUTO_TEST_CASE(find_a_switch_each_and_no_other_one) {
  for (const auto& one : warm_optimization_table) {
    const auto on = only_named(one.name);
    BOOST_TEST((on.*one.flag), one.name);
    BOOST_TEST(count_on(on) == 1, one.name);
    BOOST_TEST(find_warm_optimization(one.name) == &one);
  }
  BOOST_TEST(find_warm_optimization("huge") == nullptr);
  BOOST_TEST(find_warm_optimization("") == nullptr);
}

/// A boot script looks for a name anywhere in the list.
BOOST_AUTO_TEST_CASE(are_no_parts_of_each_other) {
  for (const auto& one : warm_optimization_table)
    for (const auto& other : warm_optimization_table)
      BOOST_TEST(
        (&one == &other || one.name.find(other.name) == one.name.npos));
}

BOOST_AUTO_TEST_CASE(carry_a_choice_to_an_interpreter) {
  for (const auto& one : warm_optimization_table) {
    warm_optimizations chosen;
    chosen.*one.flag = false;
    const auto arrived = only_named(names_of(chosen, ",") + ",serve");
    for (const auto& other : warm_optimization_table)
      BOOST_TEST((arrived.*other.flag == chosen.*other.flag));
  }
  BOOST_TEST(count_on(only_named("")) == 0);
  BOOST_TEST(count_on(only_named(",,serve")) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
