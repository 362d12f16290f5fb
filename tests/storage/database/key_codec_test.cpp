#include "storage/database/key_codec.hpp"
#include "tests/storage/support.hpp"

#include <algorithm>
#include <set>

using namespace troupe;
using namespace troupe::tests;

BOOST_AUTO_TEST_SUITE(keys_suite)

namespace {

using components = std::vector<std::string>;

// Few letters, short, with the bytes that borders are made of: near misses.
components random_components(std::mt19937_64& random) {
  static const std::string letters{"\0\0\0\1\2\3ab:\xff", 10};
  components all(1 + random() % 4);
  for (auto& c : all)
    for (auto n = random() % 7; n > 0; --n)
      c += letters[random() % letters.size()];
  return all;
}

std::string spell(const components& all) {
  std::string key;
  for (const auto& c : all)
    key += key_codec::encode({c});
  return key;
}

} // namespace

BOOST_AUTO_TEST_CASE(spells_and_splits_any_components) {
  std::mt19937_64 random{seed()};
  for (int round = 0; round < 20'000; ++round) {
    auto all = random_components(random);
    auto key = spell(all);
    auto split = must(key_codec::split(key));
    BOOST_REQUIRE(components(split.begin(), split.end()) == all);
  }
}

BOOST_AUTO_TEST_CASE(lets_no_id_imitate_another) {
  std::mt19937_64 random{seed()};
  std::map<std::string, components> seen;
  for (int round = 0; round < 50'000; ++round) {
    auto all = random_components(random);
    auto [place, is_new] = seen.emplace(spell(all), all);
    BOOST_REQUIRE(is_new || place->second == all);
  }
  BOOST_TEST(key_codec::encode({"a", "b"}) != key_codec::encode({"ab"}));
  BOOST_TEST(key_codec::encode({"ab", ""}) != key_codec::encode({"a", "b"}));
}

BOOST_AUTO_TEST_CASE(begins_with_a_prefix_exactly_when_its_components_do) {
  std::mt19937_64 random{seed()};
  for (int round = 0; round < 50'000; ++round) {
    auto prefix = random_components(random);
    auto all = random_components(random);
    if (random() % 2 == 0) // make true ones frequent
      std::copy_n(prefix.begin(), std::min(prefix.size(), all.size()),
                  all.begin());
    bool expected = all.size() >= prefix.size()
      && std::equal(prefix.begin(), prefix.end(), all.begin());
    auto key = spell(all);
    auto begin = spell(prefix);
    BOOST_REQUIRE(key.starts_with(begin) == expected);
    // The same by comparing with both ends, as a scan does.
    BOOST_REQUIRE((key >= begin && key < key_codec::prefix_end(begin))
                  == expected);
  }
}

BOOST_AUTO_TEST_CASE(puts_the_organization_first) {
  organization_id org{"org-a"};
  BOOST_TEST(key_codec::encode(org, {"x"})
             == key_codec::encode({"org-a", "x"}));
  BOOST_TEST(key_codec::encode_global({"x"}) == key_codec::encode({"", "x"}));
  BOOST_TEST(
    !key_codec::encode_global({"x"}).starts_with(key_codec::encode(org)));
}

BOOST_AUTO_TEST_CASE(refuses_keys_that_it_did_not_spell) {
  auto key = key_codec::encode({"abc", "de"});
  for (std::size_t n = 1; n < key.size(); ++n)
    if (n != key_codec::encode({"abc"}).size())
      BOOST_TEST((code_of(key_codec::split(key.substr(0, n))) == ec::internal));
  BOOST_TEST(!key_codec::split("\xff\xff\xff\xff"));
}

BOOST_AUTO_TEST_CASE(sorts_numbers_as_numbers) {
  std::mt19937_64 random{seed()};
  for (int round = 0; round < 10'000; ++round) {
    auto a = random() >> random() % 64;
    auto b = random() >> random() % 64;
    BOOST_REQUIRE((key_codec::number(a) < key_codec::number(b)) == (a < b));
    BOOST_REQUIRE(must(key_codec::read_number(key_codec::number(a))) == a);
  }
  BOOST_TEST(!key_codec::read_number("1234567"));
}

BOOST_AUTO_TEST_CASE(ends_a_prefix_after_its_last_key) {
  BOOST_TEST(key_codec::prefix_end("ab") == "ac");
  BOOST_TEST(key_codec::prefix_end("a\xff") == "b");
  BOOST_TEST(key_codec::prefix_end("\xff\xff") == "");
  BOOST_TEST(key_codec::prefix_end("") == "");
}

BOOST_AUTO_TEST_SUITE_END()
