#include "app/assembly/engine_lock.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(engine_locks)

BOOST_AUTO_TEST_CASE(say_which_engine_has_the_data_and_where_it_serves) {
  const tests::temporary_directory folder;
  const auto data = folder / "data";
  const auto pid = "an engine (pid " + std::to_string(::getpid()) + ")";
  BOOST_TEST(!engine_using(data));
  {
    const auto held = engine_lock::take(data);
    BOOST_TEST_REQUIRE(!!held);
    BOOST_TEST(engine_using(data).value_or("") == pid);
    held->serves({"http://127.0.0.1:9000", "http://[::1]:9000"});
    const auto second = engine_lock::take(data);
    BOOST_TEST_REQUIRE(!second);
    BOOST_TEST((second.error().code == ec::conflict));
    const auto whole = pid + " at http://127.0.0.1:9000, http://[::1]:9000";
    BOOST_TEST(second.error().text.find(whole) != std::string::npos,
               second.error().text);
    BOOST_TEST(second.error().text.find("--server") != std::string::npos);
  }
  // What it wrote down is not true of anybody now.
  BOOST_TEST(!engine_using(data));
  BOOST_TEST(!!engine_lock::take(data));
}

BOOST_AUTO_TEST_SUITE_END()
