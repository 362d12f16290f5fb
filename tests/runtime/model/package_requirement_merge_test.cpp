#include "runtime/model/package_requirement_merge.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(requirements_suite)

namespace {

pip_requirement pip(std::string name, std::string specifier = {}) {
  return {std::move(name), {}, std::move(specifier)};
}

result<std::vector<pip_requirement>> both(pip_requirement a,
                                          pip_requirement b) {
  return merge(std::vector{std::move(a)}, "the tool", std::vector{std::move(b)},
               "the sandbox config");
}

} // namespace

BOOST_AUTO_TEST_CASE(knows_one_package_by_all_its_spellings) {
  auto all = both(pip("Foo.Bar"), pip("foo-bar", "==1.0"));
  BOOST_REQUIRE(all.has_value());
  BOOST_REQUIRE(all->size() == 1u);
  BOOST_TEST(to_string(all->front()) == "Foo.Bar==1.0");
}

BOOST_AUTO_TEST_CASE(joins_ranges_and_keeps_equal_ones) {
  auto joined = both(pip("numpy", ">=1.26"), pip("numpy", "<2"));
  BOOST_REQUIRE(joined.has_value());
  BOOST_TEST(joined->front().specifier == ">=1.26,<2");
  auto equal = both(pip("numpy", "==1.26"), pip("numpy", "==1.26"));
  BOOST_REQUIRE(equal.has_value());
  BOOST_TEST(equal->front().specifier == "==1.26");
}

BOOST_AUTO_TEST_CASE(names_both_sides_of_a_conflict) {
  auto bad = both(pip("numpy", "==1.26"), pip("numpy", "==2.0"));
  BOOST_REQUIRE(!bad.has_value());
  const auto text = bad.error().text;
  BOOST_TEST(text.find("the tool needs numpy==1.26") != std::string::npos);
  BOOST_TEST(text.find("the sandbox config needs numpy==2.0")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuses_two_versions_of_one_npm_package) {
  std::vector<npm_requirement> a{{"left-pad", "1.3.0"}}, b{{"left-pad", "2"}};
  BOOST_TEST(!merge(a, "the tool", b, "the run").has_value());
  b[0].version.clear();
  auto all = merge(a, "the tool", b, "the run");
  BOOST_REQUIRE(all.has_value());
  BOOST_TEST(all->front().version == "1.3.0");
}

BOOST_AUTO_TEST_SUITE_END()
