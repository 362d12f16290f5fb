#include "runtime/engine/kept_files.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(keeping_files)

namespace {

run_result with_files(std::vector<std::size_t> sizes) {
  run_result r;
  r.id = run_id::make();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    r.files.push_back({std::to_string(i), "text/plain", sizes[i],
                       std::string(sizes[i], 'x'), false});
  return r;
}

const auto ours = default_organization();

} // namespace

BOOST_AUTO_TEST_CASE(small_ones_stay_in_the_answer) {
  kept_files kept{{.inline_bytes = 10, .bytes = 1'000}};
  auto r = with_files({10, 11, 10, 10, 10, 10});
  kept.take(ours, r);
  BOOST_TEST(!r.files[0].is_kept);
  BOOST_TEST(r.files[1].is_kept);
  BOOST_TEST(r.files[1].content == "");
  BOOST_TEST(!r.files[4].is_kept);
  BOOST_TEST(r.files[5].is_kept); // all together are bounded, too
  BOOST_TEST(*kept.find(ours, r.id, "1") == std::string(11, 'x'));
  BOOST_TEST(!kept.find(ours, r.id, "0"));
  BOOST_TEST(!kept.find(organization_id::make(), r.id, "1"));
  BOOST_TEST(!kept.find(ours, run_id::make(), "1"));
}

BOOST_AUTO_TEST_CASE(they_go_after_their_time) {
  kept_files kept{{.inline_bytes = 0, .bytes = 1'000, .keep_for = 60s}};
  const kept_files::clock::time_point now{};
  auto r = with_files({5});
  kept.take(ours, r, now);
  BOOST_TEST(!!kept.find(ours, r.id, "0", now + 59s));
  BOOST_TEST(!kept.find(ours, r.id, "0", now + 60s));
  BOOST_TEST(kept.bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_the_oldest_go_first) {
  kept_files kept{{.inline_bytes = 0, .bytes = 10}};
  auto first = with_files({6});
  auto second = with_files({6});
  auto huge = with_files({11});
  kept.take(ours, first);
  kept.take(ours, second);
  BOOST_TEST(!kept.find(ours, first.id, "0"));
  BOOST_TEST(!!kept.find(ours, second.id, "0"));
  BOOST_TEST(kept.bytes() == 6u);
  kept.take(ours, huge);
  BOOST_TEST(!kept.find(ours, huge.id, "0"));
  BOOST_TEST(huge.notes.size() == 1u);
  BOOST_TEST(kept.bytes() <= 10u);
}

BOOST_AUTO_TEST_SUITE_END()
