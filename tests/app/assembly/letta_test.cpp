// Letta's official client drives a serving engine, unmodified: the script of
// tests/compat/letta, twice in a row on one store, with real runs.
#include "tests/app/serving.hpp"
#include "tests/support/hosts/npm_client.hpp"

#include <cstdlib>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(served_letta)

namespace {

const std::string folder = TROUPE_BINARY_DIR "/letta_client_served";
const test::npm_client client{"letta", folder};

} // namespace

BOOST_AUTO_TEST_CASE(answers_the_official_client_twice_in_a_row,
                     *boost::unit_test::precondition(client)) {
  temporary_folder place;
  serving engine{place};
  auto script = "cd " + folder + " && node client_test.mjs http://"
    + address_in(engine.greeting()) + "/compat/letta served";
  BOOST_TEST(std::system(script.c_str()) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
