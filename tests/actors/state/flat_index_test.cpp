#include "actors/state/flat_index.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <random>
#include <unordered_map>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(flat_index_suite)

namespace {

auto is(int wanted) {
  return [wanted](const std::shared_ptr<int>& x) { return *x == wanted; };
}

} // namespace

BOOST_AUTO_TEST_CASE(finds_what_shares_its_hash_with_others) {
  flat_index<std::shared_ptr<int>> index;
  for (int i = 0; i < 10; ++i)
    index.add(7, std::make_shared<int>(i));
  for (int i = 0; i < 10; ++i) {
    auto* found = index.find(7, is(i));
    BOOST_REQUIRE(found);
    BOOST_TEST(**found == i);
  }
  BOOST_TEST(!index.find(7, is(10)));
  BOOST_TEST(!index.find(8, is(1)));
}

BOOST_AUTO_TEST_CASE(takes_out_once) {
  flat_index<std::shared_ptr<int>> index;
  BOOST_TEST(!index.take(1, is(1)));
  auto one = std::make_shared<int>(1);
  index.add(1, one);
  BOOST_TEST((index.take(1, is(1)) == one));
  BOOST_TEST(!index.take(1, is(1)));
  BOOST_TEST(index.size() == 0u);
  BOOST_TEST(one.use_count() == 1);
}

// Few hashes, so that homes overlap, wrap around and leave gaps.
BOOST_AUTO_TEST_CASE(agrees_with_a_map_whatever_is_done_to_it) {
  std::mt19937 random{4711};
  flat_index<std::shared_ptr<int>> index;
  std::unordered_map<int, std::size_t> expected; // thing: its hash
  for (int step = 0; step < 50'000; ++step) {
    const auto thing = static_cast<int>(random() % 1'500);
    const auto hash = static_cast<std::size_t>(thing) * 2'654'435'761u % 97;
    const bool grow = step % 20'000 < 10'000;
    if (random() % 3 == (grow ? 0u : 1u) || (grow && random() % 3 == 0)) {
      if (expected.try_emplace(thing, hash).second)
        index.add(hash, std::make_shared<int>(thing));
    } else {
      BOOST_REQUIRE(static_cast<bool>(index.take(hash, is(thing)))
                    == (expected.erase(thing) == 1));
    }
    BOOST_REQUIRE(index.size() == expected.size());
  }
  for (const auto& [thing, hash] : expected)
    BOOST_TEST(index.find(hash, is(thing)));
  std::size_t seen = 0;
  index.each([&](const auto&) { ++seen; });
  BOOST_TEST(seen == expected.size());
}

BOOST_AUTO_TEST_SUITE_END()
