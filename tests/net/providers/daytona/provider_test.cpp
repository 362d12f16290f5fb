#include "net/providers/daytona/messages.hpp"
#include "net/providers/daytona/provider.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using troupe::test::daytona_stand_in;
using troupe::test::fault;
using troupe::test::remote_side;

namespace {

struct fixture {
  daytona_stand_in daytona;
  daytona_options options{.api_key = secret{daytona_stand_in::api_key},
                          .api_url = daytona.api_url(),
                          .poll_first = 5ms,
                          .poll_max = 20ms};
  std::unique_ptr<remote_side> side;

  fixture() { open(); }
  void open() {
    side = std::make_unique<remote_side>();
    side->open([this](auto client) { return make_daytona(client, options); });
  }
  static prepared_run python(std::string source) {
    return test::python_run(backend_kind::daytona, std::move(source));
  }
  void check_nothing_is_left() {
    side->rest();
    BOOST_TEST(daytona.alive() == 0);
    BOOST_TEST(side->leases->list(backend_kind::daytona).empty());
  }
};

const std::string one = "def tool():\n  return 1\n";

} // namespace

BOOST_FIXTURE_TEST_SUITE(daytona_backends, fixture)

BOOST_AUTO_TEST_CASE(keeps_the_contract_of_every_provider) {
  // Its sessions are shells: they tell of a signal by a number of their own.
  test::check_contract(*side, backend_kind::daytona,
                       [this] { check_nothing_is_left(); }, {"signals"});
}

BOOST_AUTO_TEST_CASE(says_what_becomes_of_a_sandbox_nobody_stops) {
  auto run = python(one);
  run.network = {network_mode::listed, {"example.org", "10.0.0.0/8"}};
  side->good(run);
  auto body = json::parse_object(daytona.creation());
  BOOST_REQUIRE(body.has_value());
  BOOST_TEST(body->at("autoDeleteInterval").as_int64() == 0);
  BOOST_TEST(body->at("autoStopInterval").as_int64() > 0);
  BOOST_TEST(!body->at("public").as_bool());
  BOOST_TEST(body->at("domainAllowList").as_string() == "example.org");
  BOOST_TEST(body->at("networkAllowList").as_string() == "10.0.0.0/8");
}

BOOST_AUTO_TEST_CASE(ends_a_sandbox_that_never_started) {
  daytona.server().add_fault({.path = "/api/sandbox/", .code = 409});
  auto outcome = side->run(python(one));
  BOOST_TEST(!outcome.answer.has_value()); // a conflict while it is created
  BOOST_TEST(daytona.created() == 1);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(finds_by_its_name_what_was_created_unheard) {
  daytona.server().add_fault(
    {.what = test::fault::kind::reset_after, .path = "/api/sandbox"});
  BOOST_TEST(side->good(python(one)).value_json == "1");
  BOOST_TEST(daytona.created() == 1);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(says_that_nothing_was_begun_when_a_file_was_refused) {
  daytona.server().add_fault({.path = "/toolbox/", .code = 400});
  auto outcome = side->run(python(one));
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(!outcome.may_have_started);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(shows_of_a_growing_log_what_is_whole) {
  std::size_t shown = 0;
  BOOST_TEST(daytona::new_output("ab\xef\xbf\xbd", shown, false) == "ab");
  BOOST_TEST(daytona::new_output("ab\xc3\xa9-", shown, false) == "\xc3\xa9-");
  BOOST_TEST(daytona::new_output("ab", shown, false).empty());
  BOOST_TEST(daytona::new_output("ab\xc3\xa9-\xef\xbf\xbd", shown, true)
             == "\xef\xbf\xbd");
}

BOOST_AUTO_TEST_CASE(refuses_ports_and_names_the_key_setting) {
  auto run = python(one);
  run.network = {network_mode::listed, {"example.org:443"}};
  BOOST_TEST(!side->run(run).answer.has_value());
  BOOST_TEST(daytona.created() == 0);
  options.api_key = secret{"wrong"};
  open();
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("DAYTONA_API_KEY")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
