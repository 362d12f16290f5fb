// Boost.Test's main, but first of all the warden's: this binary is what the
// local backend executes again.
#include "runtime/local/warden/protocol.hpp"
#include "tests/runtime/local/sandbox/serve_sandboxes.hpp"
#include "tests/runtime/local/support.hpp"

#define BOOST_TEST_MODULE local
#define BOOST_TEST_NO_MAIN
#include "tests/support/watch.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view{argv[1]} == troupe::warden::command)
    return troupe::warden::warden_main(argc, argv);
  if (argc > 2 && std::string_view{argv[1]} == "--engine-with-a-sleeper")
    return troupe::test::serve_a_sleeper(argv[2]);
  if (argc > 2 && std::string_view{argv[1]} == "--engine-with-sandboxes")
    return troupe::test::serve_sandboxes(argv[2]);
  return troupe::test::watched_main(&init_unit_test, argc, argv);
}
