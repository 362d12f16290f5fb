// Every test executable's main: Boost.Test's, with the room's name from ctest.
#define BOOST_TEST_MODULE troupe
#include <boost/test/unit_test.hpp>
