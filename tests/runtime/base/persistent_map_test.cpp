#include "runtime/base/persistent_map.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace troupe {

BOOST_AUTO_TEST_SUITE(persistent_maps)

namespace {

using tree = persistent_map<std::string, int>;
using model = std::map<std::string, int>;

bool same(const tree& ours, const model& theirs) {
  return ours.size() == theirs.size()
    && std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end());
}

} // namespace

BOOST_AUTO_TEST_CASE(hold_what_a_map_holds_and_leave_their_copies_alone) {
  std::mt19937 random{7};
  tree ours;
  model theirs;
  std::vector<std::pair<tree, model>> copies;
  for (int i = 0; i < 6'000; ++i) {
    auto key = std::to_string(random() % 700);
    if (random() % 3 == 0)
      BOOST_TEST(ours.erase(key) == theirs.erase(key));
    else
      ours[key] = theirs[key] = i;
    if (i % 500 == 0)
      copies.emplace_back(ours, theirs);
  }
  BOOST_TEST(same(ours, theirs));
  for (const auto& [before, as_it_was] : copies)
    BOOST_TEST(same(before, as_it_was));
  for (int key = 0; key < 701; ++key) {
    auto k = std::to_string(key);
    BOOST_TEST(ours.contains(k) == theirs.contains(k));
    auto from = ours.lower_bound(k);
    auto behind = ours.upper_bound(k);
    BOOST_TEST(
      std::equal(from, ours.end(), theirs.lower_bound(k), theirs.end()));
    BOOST_TEST(
      std::equal(behind, ours.end(), theirs.upper_bound(k), theirs.end()));
  }
}

BOOST_AUTO_TEST_CASE(stay_shallow_when_keys_come_in_order) {
  persistent_map<int, int> rising;
  persistent_map<int, int> falling;
  // Walking a list of so many would overflow the iterator's path.
  constexpr int many = 20'000;
  for (int i = 0; i < many; ++i) {
    rising[i] = i;
    falling[many - i] = i;
  }
  BOOST_TEST(std::distance(rising.begin(), rising.end()) == many);
  BOOST_TEST(std::distance(falling.begin(), falling.end()) == many);
  for (int i = 0; i < many - 1; ++i)
    rising.erase(i);
  BOOST_TEST(rising.size() == 1u);
  BOOST_TEST(rising.begin()->first == many - 1);
}

BOOST_AUTO_TEST_CASE(keep_what_is_there_and_find_nothing_where_there_is_none) {
  tree ours{{"a", 1}, {"c", 3}};
  BOOST_TEST(!ours.emplace("a", 2).second);
  BOOST_TEST(ours.emplace("b", 2).second);
  BOOST_TEST(same(ours, {{"a", 1}, {"b", 2}, {"c", 3}}));
  BOOST_TEST(ours.at("c") == 3);
  BOOST_CHECK_THROW(ours.at("d"), std::out_of_range);
  BOOST_TEST((ours.find("bb") == ours.end()));
  BOOST_TEST((ours.find(std::string_view{"b"}) == ++ours.begin()));
  BOOST_TEST(ours.erase("bb") == 0u);
  ours.clear();
  BOOST_TEST((ours.empty() && ours.begin() == ours.end()));
}

BOOST_AUTO_TEST_CASE(are_copied_inside_of_each_other) {
  persistent_map<std::string, tree> outer;
  outer["x"]["a"] = 1;
  auto before = outer;
  outer["x"]["b"] = 2;
  BOOST_TEST(before.at("x").size() == 1u);
  BOOST_TEST(outer.at("x").size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
