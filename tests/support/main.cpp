// Every test executable's main: Boost.Test's, with the room's name from ctest.
// A local backend executes this binary again, as its warden.
#include "runtime/local/warden/protocol.hpp"

#define BOOST_TEST_MODULE troupe
#define BOOST_TEST_NO_MAIN
#include "tests/support/watch.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view{argv[1]} == troupe::warden::command)
    return troupe::warden::warden_main(argc, argv);
  return troupe::test::watched_main(&init_unit_test, argc, argv);
}
