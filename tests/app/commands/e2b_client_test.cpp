// E2B's official clients drive the real binary: tests/compat/e2b.
#include "tests/app/serving.hpp"
#include "tests/support/hosts/npm_client.hpp"

#include <cstdlib>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(e2b_client)

namespace {

const std::string folder = TROUPE_BINARY_DIR "/e2b_client";
const test::npm_client client{"e2b", folder};

} // namespace

BOOST_AUTO_TEST_CASE(drives_the_engine_below_its_prefix,
                     *boost::unit_test::precondition(client)) {
  temporary_folder data;
  serving engine{data};
  const auto script = "cd " + folder + " && node client_test.mjs http://"
    + engine.address() + "/compat/e2b";
  BOOST_TEST(std::system(script.c_str()) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
