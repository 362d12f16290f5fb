#include "runtime/base/secret.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(secrets)

BOOST_AUTO_TEST_CASE(prints_a_mask_instead_of_its_text) {
  secret key{"hunter2"};
  std::ostringstream out;
  out << key;
  BOOST_TEST(out.str() == "***");
  BOOST_TEST(to_string(key) == "***");
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_where_it_was_moved_from) {
  secret from{"short"};
  const char* place = from.reveal().data();
  secret to{std::move(from)};
  BOOST_TEST(to.reveal() == "short");
  BOOST_TEST(std::string(place, 5) == std::string(5, '\0'));
}

BOOST_AUTO_TEST_CASE(makes_room_and_keeps_the_text) {
  std::string text = "short";
  for (std::size_t more : {1, 16, 1'000}) {
    reserve_wiping(text, more);
    BOOST_TEST(text == "short");
    BOOST_TEST(text.capacity() >= text.size() + more);
  }
  const auto* before = text.data();
  reserve_wiping(text, 1'000);
  BOOST_TEST((text.data() == before)); // nothing moves for room that is there
  wipe(text);
  BOOST_TEST(text.empty());
  BOOST_TEST(std::string(before, 5) == std::string(5, '\0'));
}

BOOST_AUTO_TEST_CASE(compares_by_text) {
  BOOST_TEST((secret{"a"} == secret{"a"}));
  BOOST_TEST((secret{"a"} != secret{"b"}));
  BOOST_TEST((secret{"a"} != secret{"ab"}));
}

BOOST_AUTO_TEST_SUITE_END()
