#include "net/providers/aio/messages.hpp"
#include "net/providers/aio/provider.hpp"
#include "runtime/json/json.hpp"
#include "runtime/sandboxes/install_commands.hpp"
#include "runtime/sandboxes/sandbox_for_run.hpp"
#include "tests/support/providers/fake_aio.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <future>

using namespace troupe;
using namespace troupe::net;
using troupe::test::aio_stand_in;
using troupe::test::fault;
using troupe::test::remote_side;

namespace {

struct fixture {
  aio_stand_in aio;
  aio_options options{.host = "127.0.0.1",
                      .port = aio.port(),
                      .api_key = secret{aio_stand_in::api_key}};
  std::unique_ptr<remote_side> side;

  fixture() { open(); }
  void open() {
    side = std::make_unique<remote_side>();
    side->open([this](auto client) { return make_aio(client, options); });
  }
  static prepared_run python(std::string source) {
    return test::python_run(backend_kind::aio, std::move(source));
  }
  void check_nothing_is_left() {
    side->rest();
    BOOST_TEST(aio.directories() == 0);
    BOOST_TEST(aio.wait_until_sessions_are_closed());
    BOOST_TEST(side->leases->list(backend_kind::aio).empty());
  }
};

const std::string one = "def tool():\n  return 1\n";

} // namespace

BOOST_FIXTURE_TEST_SUITE(aio_backends, fixture)

BOOST_AUTO_TEST_CASE(keeps_the_contract_of_every_provider) {
  // Its commands are run by a shell, which tells of a signal by a number.
  test::check_contract(*side, backend_kind::aio,
                       [this] { check_nothing_is_left(); }, {"signals"});
}

BOOST_AUTO_TEST_CASE(takes_success_false_for_a_failure) {
  aio.server().add_fault({.path = "/v1/file/write", .code = 200});
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("did not write a file")
             != std::string::npos);
  BOOST_TEST(!outcome.may_have_started);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(takes_no_status_it_does_not_know_for_an_end) {
  auto ended_as = [](std::string_view status) {
    json::object o{{"session_id", "s"}, {"command_id", "c"}, {"exit_code", 0}};
    o["status"] = status;
    return aio::parse_report(o);
  };
  BOOST_TEST(ended_as("completed").has_value());
  BOOST_TEST(ended_as("killed").has_value());
  for (auto odd : {"no_change_timeout", "hard_timeout", "terminated", ""})
    BOOST_TEST(ended_as(odd).has_error(), odd);
}

// One container for all: what one run installs is not the next one's.
BOOST_AUTO_TEST_CASE(gives_each_run_packages_of_its_own) {
  auto run = python("import sys\ndef tool():\n"
                    "  return [p for p in sys.path if 'site-packages' in p"
                    " and 'troupe-' in p or p == '/mine']\n");
  run.env.emplace("PYTHONPATH", secret{"/mine"});
  auto seen = json::parse(side->good(run).value_json);
  BOOST_REQUIRE((seen && seen->is_array() && seen->as_array().size() > 1u));
  BOOST_TEST(seen->as_array().front().as_string() == "/mine");
  std::string folder{seen->as_array().back().as_string()};
  BOOST_TEST(folder.ends_with("/site-packages"));
  run.pip_requirements = {{"requests", {}, ""}};
  auto line = installers(sandbox_for(run), folder).at(0);
  auto target = std::ranges::find(line, "--target");
  BOOST_REQUIRE((target != line.end()));
  BOOST_TEST(*++target == folder);
  BOOST_TEST(line.back() == "requests");
}

BOOST_AUTO_TEST_CASE(cannot_keep_a_run_from_the_network_and_says_so) {
  auto run = python(one);
  run.network.mode = network_mode::off;
  auto outcome = side->run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::invalid_request));
}

BOOST_AUTO_TEST_CASE(finds_directories_that_were_left_behind) {
  aio.server().add_fault(
    {.what = fault::kind::reset_before, .path = "/v1/bash/output"});
  // The kill, then the removal, break as well: the directory stays.
  aio.server().add_fault(
    {.what = fault::kind::reset_before, .path = "/v1/bash/kill"});
  auto run = python("import time\ndef tool():\n  time.sleep(0.2)\n");
  auto outcome = side->run(run);
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(outcome.may_have_started);
  std::promise<bool> done;
  side->backend->reconcile(
    false, [&](auto found) { done.set_value(found.has_value()); });
  BOOST_TEST(done.get_future().get());
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(is_not_ready_without_a_host) {
  options.host.clear();
  open();
  BOOST_TEST(!side->backend->ready().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
