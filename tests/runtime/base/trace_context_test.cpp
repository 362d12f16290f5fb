#include "runtime/base/trace_context.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(trace_contexts)

namespace {

const std::string good
  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

} // namespace

BOOST_AUTO_TEST_CASE(are_read_and_written_alike) {
  auto read = parse_traceparent(good);
  BOOST_TEST_REQUIRE(!!read);
  BOOST_TEST(read->sampled);
  BOOST_TEST(to_traceparent(*read) == good);
  auto later = "cc" + good.substr(2) + "-what-comes-later";
  BOOST_TEST(!!parse_traceparent(later));
}

BOOST_AUTO_TEST_CASE(are_not_made_of_anything_else) {
  std::vector<std::string> bad{
    "",
    "00",
    good.substr(0, 54),
    good + "-more",
    "ff" + good.substr(2),
    "0x" + good.substr(2),
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "cc" + good.substr(2) + "x",
    good.substr(0, 40) + "\r\n" + good.substr(42),
  };
  for (const auto& text : bad)
    BOOST_TEST(!parse_traceparent(text), text);
}

BOOST_AUTO_TEST_CASE(go_on_in_the_same_trace) {
  auto parent = *parse_traceparent(good);
  auto next = next_span(parent, 0);
  BOOST_TEST((next.trace == parent.trace));
  BOOST_TEST((next.span != parent.span));
  BOOST_TEST(next.sampled); // whoever began has decided
}

BOOST_AUTO_TEST_CASE(are_sampled_by_their_share) {
  int sampled = 0;
  constexpr int all = 10'000;
  for (int i = 0; i < all; ++i)
    sampled += next_span({}, 0.25).sampled ? 1 : 0;
  BOOST_TEST(sampled > all / 5); // 2500 +- 12 standard deviations
  BOOST_TEST(sampled < all * 3 / 10);
  BOOST_TEST(next_span({}, 1).sampled);
  BOOST_TEST(!next_span({}, 0).sampled);
}

BOOST_AUTO_TEST_SUITE_END()
