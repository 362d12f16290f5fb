// Letta's official client drives the facade: tests/compat/letta. Here over the
// engine in memory, whose runs give their arguments back.
#include "net/compat/letta/letta.hpp"
#include "tests/support/hosts/npm_client.hpp"
#include "tests/support/http/http_server.hpp"

#include <cstdlib>
using namespace troupe;

BOOST_AUTO_TEST_SUITE(letta_client)

namespace {

const std::string folder = TROUPE_BINARY_DIR "/letta_client";
const test::npm_client client{"letta", folder};

} // namespace

BOOST_AUTO_TEST_CASE(drives_the_facade_twice_in_a_row,
                     *boost::unit_test::precondition(client)) {
  test::fake_engine engine;
  net::server_options options;
  options.listen = {"127.0.0.1:0"};
  options.threads = 1;
  net::http_server server{engine, options};
  net::letta::add_letta(server.routes(), engine);
  BOOST_REQUIRE(server.start());
  auto script = "cd " + folder + " && node client_test.mjs http://127.0.0.1:"
    + std::to_string(server.port()) + "/compat/letta";
  BOOST_TEST(std::system(script.c_str()) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
