#include "actors/state/object_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <set>
#include <thread>

using namespace troupe;

namespace {

struct large {
  std::array<std::uint64_t, 128> numbers{};
};

using large_ptr = std::shared_ptr<large>;

std::vector<large_ptr> some(std::size_t how_many) {
  std::vector<large_ptr> all;
  for (std::size_t i = 0; i < how_many; ++i) {
    all.push_back(make_recycled<large>());
    all.back()->numbers.fill(i);
  }
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recycled)

BOOST_AUTO_TEST_CASE(hands_the_memory_of_one_object_to_the_next) {
  const auto* first = make_recycled<large>().get();
  const auto next = make_recycled<large>();
  BOOST_TEST(next.get() == first);
  BOOST_TEST(next->numbers[7] == 0u); // a new object all the same
}

BOOST_AUTO_TEST_CASE(never_gives_one_block_to_two) {
  for (int round = 0; round < 3; ++round) {
    const auto all = some(1'000); // more than is kept
    std::set<const large*> places;
    for (std::size_t i = 0; i < all.size(); ++i) {
      places.insert(all[i].get());
      BOOST_TEST_REQUIRE(all[i]->numbers[99] == i);
    }
    BOOST_TEST(places.size() == all.size());
  }
}

BOOST_AUTO_TEST_CASE(lets_one_thread_free_what_another_made) {
  std::atomic<std::size_t> wrong{0};
  std::vector<large_ptr> made;
  for (int round = 0; round < 20; ++round) {
    std::thread maker{[&] { made = some(100); }};
    maker.join();
    std::thread breaker{[&] {
      for (std::size_t i = 0; i < made.size(); ++i)
        wrong += made[i]->numbers[0] != i;
      made.clear();
    }};
    breaker.join();
  }
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(lets_an_object_outlive_the_other_things_of_its_thread) {
  std::thread{[] {
    // Made before the blocks at hand are, so it goes after them.
    thread_local large_ptr last;
    last = std::make_shared<large>();
    last = make_recycled<large>();
  }}.join();
  BOOST_TEST(make_recycled<large>()->numbers[0] == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
