// E2B's official client against the stand-in that our provider is tested with:
// tests/compat/e2b_stand_in.
#include "tests/support/e2b_stand_in.hpp"
#include "tests/support/npm_client.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(e2b_client)

BOOST_AUTO_TEST_CASE(takes_our_stand_in_for_e2b) {
  const std::string folder = TROUPE_BINARY_DIR "/e2b_client";
  if (!test::install_npm_client("e2b_stand_in", folder))
    return;
  test::e2b_stand_in e2b;
  auto script = "cd " + folder + " && node client_test.mjs " + e2b.url() + " "
    + test::e2b_stand_in::api_key;
  BOOST_TEST(std::system(script.c_str()) == 0);
  BOOST_TEST(e2b.boxes().empty());
  BOOST_TEST(e2b.created() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
