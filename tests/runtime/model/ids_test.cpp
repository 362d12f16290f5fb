#include "runtime/model/ids.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <unordered_set>
#include <vector>

// Ids are kept as numbers and shown as text: nobody may see the difference.

using namespace troupe;

BOOST_AUTO_TEST_SUITE(ids)

namespace {

const std::string known = "run-0123abcd-4567-489a-b0de-f9876543210a";

} // namespace

BOOST_AUTO_TEST_CASE(read_as_they_were_written) {
  BOOST_TEST(run_id{known}.str() == known);
  BOOST_TEST(run_id{known}.is_sound());
  for (int i = 0; i < 100; ++i) {
    const auto made = run_id::make();
    BOOST_TEST(is_id(run_id::prefix, made.str()));
    BOOST_TEST((run_id::parse(made.str()).value() == made));
    BOOST_TEST(is_id("x", "x-" + make_uuid()));
  }
}

BOOST_AUTO_TEST_CASE(are_ordered_as_their_texts_are) {
  std::vector<run_id> all{run_id{}, run_id{"run-"}, run_id{"zebra"},
                          run_id{known}};
  while (all.size() < 200)
    all.push_back(run_id::make());
  std::vector<std::string> texts;
  for (const auto& one : all)
    texts.push_back(one.str());
  std::ranges::sort(all);
  std::ranges::sort(texts);
  for (std::size_t i = 0; i < all.size(); ++i)
    BOOST_TEST(all[i].str() == texts[i]);
}

BOOST_AUTO_TEST_CASE(keep_a_text_that_is_no_uuid) {
  for (const char* text :
       {"acme", "run-", "RUN-0123abcd-4567-489a-b0de-f9876543210a",
        "run-0123ABCD-4567-489a-b0de-f9876543210a",
        "run-00000000-0000-0000-0000-000000000000",
        "tool-0123abcd-4567-489a-b0de-f9876543210a"}) {
    const run_id odd{text};
    auto copy = odd;
    BOOST_TEST(odd.str() == text);
    BOOST_TEST((copy == odd));
    BOOST_TEST(copy.hash() == odd.hash());
    BOOST_TEST((copy != run_id{}));
    BOOST_TEST((run_id{} != copy));
    BOOST_TEST((copy != run_id{known}));
    BOOST_TEST(!odd.is_sound());
    BOOST_TEST(!odd.empty());
    BOOST_TEST(!run_id::parse(text).has_value());
    copy = run_id{known};
    BOOST_TEST(copy.str() == known);
    BOOST_TEST(odd.str() == text);
  }
}

BOOST_AUTO_TEST_CASE(are_nothing_until_they_are_made) {
  BOOST_TEST(run_id{}.empty());
  BOOST_TEST(run_id{""}.empty());
  BOOST_TEST(run_id{}.str() == "");
  BOOST_TEST((run_id{} == run_id{""}));
}

BOOST_AUTO_TEST_CASE(are_found_by_their_hash) {
  std::unordered_set<run_id> all;
  std::unordered_set<std::size_t> hashes;
  for (int i = 0; i < 1'000; ++i) {
    const auto made = run_id::make();
    all.insert(made);
    hashes.insert(made.hash());
    BOOST_TEST(all.contains(run_id{made.str()}));
  }
  BOOST_TEST(hashes.size() == all.size());
}

BOOST_AUTO_TEST_CASE(have_twins_of_other_kinds) {
  BOOST_TEST(tool_id::twin_of(run_id{known}).str()
             == "tool" + known.substr(run_id::prefix.size()));
}

BOOST_AUTO_TEST_SUITE_END()
