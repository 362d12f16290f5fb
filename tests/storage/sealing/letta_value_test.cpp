#include "storage/sealing/letta_value.hpp"
#include "tests/storage/support.hpp"

using namespace troupe;
using namespace troupe::tests;

BOOST_AUTO_TEST_SUITE(letta_value)

namespace {

// Made by a Letta server's own code with salt 00..0f and IV 64..6f.
const secret master{"letta-test-key"};
const std::string stored = "AAECAwQFBgcICQoLDA0OD2RlZmdoaWprbG1ubyK4vS30Yeq/"
                           "uxjs2Z9050ozg/1txo1hDH4lyvvN";

} // namespace

BOOST_AUTO_TEST_CASE(opens_what_letta_stored) {
  BOOST_TEST(must(open_letta_value(stored, master)).reveal()
             == "s3cret-v\xc3\xa4lue");
}

BOOST_AUTO_TEST_CASE(takes_the_text_for_the_value_without_a_key) {
  BOOST_TEST(must(open_letta_value(stored, secret{})).reveal() == stored);
  BOOST_TEST(must(open_letta_value("plain", secret{})).reveal() == "plain");
}

BOOST_AUTO_TEST_CASE(takes_a_text_that_cannot_be_sealed_for_the_value) {
  for (const auto& plain :
       {std::string{}, std::string{"plain"}, std::string{"sk-"} + stored,
        std::string{"Bearer "} + stored, std::string{"AKIAIOSFODNN7EXAMPLE"}})
    BOOST_TEST(must(open_letta_value(plain, master)).reveal() == plain);
}

BOOST_AUTO_TEST_CASE(refuses_a_sealed_text_that_does_not_open) {
  BOOST_TEST(
    (code_of(open_letta_value(stored, secret{"other"})) == ec::denied));
  auto changed = stored;
  changed[50] = changed[50] == 'A' ? 'B' : 'A';
  BOOST_TEST((code_of(open_letta_value(changed, master)) == ec::denied));
}

BOOST_AUTO_TEST_CASE(judges_looks_as_letta_does) {
  BOOST_TEST(looks_sealed_by_letta(stored));
  BOOST_TEST(looks_sealed_by_letta("  " + stored + "\n"));
  // 45 bytes are 60 letters; one group less is too short.
  BOOST_TEST(looks_sealed_by_letta(std::string(60, 'A')));
  BOOST_TEST(!looks_sealed_by_letta(std::string(56, 'A')));
  BOOST_TEST(!looks_sealed_by_letta(std::string(61, 'A')));
  BOOST_TEST(!looks_sealed_by_letta("token-" + std::string(100, 'A')));
  BOOST_TEST(!looks_sealed_by_letta(""));
}

BOOST_AUTO_TEST_SUITE_END()
