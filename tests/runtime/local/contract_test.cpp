#include "runtime/local/local_backend.hpp"
#include "tests/support/engine/backend_contract.hpp"
#include "tests/support/engine/result_rows.hpp"

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

BOOST_AUTO_TEST_CASE(the_local_backend_gives_the_documents_of_all) {
  boost::asio::thread_pool threads{1};
  local_options options;
  options.isolation = isolation_level::best_effort;
  auto local = local_backend::open(threads.get_executor(), options);
  BOOST_REQUIRE_MESSAGE(local.has_value(), to_string(local.error()));
  (void)(*local)->wait_until_probed();
  contract_subject subject;
  check_result_rows([&](const result_row& row) {
    auto run = subject.run(row.source);
    run->lang = row.lang;
    run->name = run->function = "tool";
    run->args_json = row.args;
    auto heard = std::make_shared<contract_observer>();
    (*local)->start(run, heard);
    return heard->result();
  });
  (*local)->stop();
  threads.join();
}

BOOST_AUTO_TEST_SUITE_END()
