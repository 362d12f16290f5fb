#include "storage/sealing/record_cipher.hpp"
#include "tests/storage/support.hpp"

#include <set>

using namespace troupe;
using namespace troupe::tests;

BOOST_AUTO_TEST_SUITE(record_ciphers)

namespace {

record_cipher cipher_with(const key_bytes& key, std::uint64_t per_salt) {
  return {key.clone(), system_random(), per_salt};
}

} // namespace

BOOST_AUTO_TEST_CASE(draw_a_salt_for_so_many_records_and_open_all) {
  const auto key = must(key_bytes::random(system_random()));
  const auto writer = cipher_with(key, 3);
  std::vector<std::string> sealed;
  std::set<std::string> salts;
  for (int i = 0; i < 10; ++i) {
    sealed.push_back(must(writer.seal(std::to_string(i), "place")));
    salts.insert(sealed.back().substr(0, record_cipher::salt_bytes));
  }
  BOOST_TEST(salts.size() == 4u);
  // Also by a later process, which has drawn another salt, or none.
  const auto reader = cipher_with(key, 3);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10; ++i)
      BOOST_TEST(
        must(reader.open(sealed[static_cast<std::size_t>(i)], "place")).reveal()
        == std::to_string(i));
    must(reader.seal("x", "place"));
  }
}

BOOST_AUTO_TEST_CASE(open_nothing_but_what_was_sealed) {
  const auto key = must(key_bytes::random(system_random()));
  const auto cipher = cipher_with(key, 3);
  const auto good = must(cipher.seal("text", "place"));
  BOOST_TEST((code_of(cipher.open(good, "elsewhere")) == ec::denied));
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= 1;
    BOOST_TEST((code_of(cipher.open(bad, "place")) == ec::denied));
    BOOST_TEST(
      (code_of(cipher.open(good.substr(0, at), "place")) == ec::denied));
  }
  const auto other = cipher_with(must(key_bytes::random(system_random())), 3);
  BOOST_TEST((code_of(other.open(good, "place")) == ec::denied));
}

BOOST_AUTO_TEST_CASE(seal_nothing_without_randomness) {
  const record_cipher cipher{must(key_bytes::random(system_random())),
                             [](auto) -> result<void> {
                               return error{ec::internal, "none", {}, {}};
                             }};
  BOOST_TEST((code_of(cipher.seal("text", "place")) == ec::internal));
}

BOOST_AUTO_TEST_SUITE_END()
