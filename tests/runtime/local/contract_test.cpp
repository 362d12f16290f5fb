#include "runtime/local/local_backend.hpp"
#include "tests/support/backend_contract.hpp"

#include <boost/asio/thread_pool.hpp>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(local_contract_suite)

BOOST_AUTO_TEST_CASE(the_local_backend_keeps_the_contract) {
  boost::asio::thread_pool threads{1};
  contract_subject subject;
  subject.make = [&]() -> std::shared_ptr<backend> {
    local_options options;
    options.isolation = isolation_level::best_effort;
    auto opened = local_backend::open(threads.get_executor(), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), to_string(opened.error()));
    (void)(*opened)->wait_until_probed();
    return *opened;
  };
  check_contract(subject);
  threads.join();
}

BOOST_AUTO_TEST_SUITE_END()
