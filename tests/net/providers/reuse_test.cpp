// Sandboxes that serve more than one run, and those that are made ahead of it.
#include "net/providers/daytona/provider.hpp"
#include "net/providers/e2b/provider.hpp"
#include "net/providers/modal/provider.hpp"
#include "runtime/sandboxes/sandbox_pool.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/fake_modal.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <future>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using troupe::test::e2b_stand_in;
using troupe::test::remote_side;

namespace {

struct fixture {
  e2b_stand_in e2b;
  e2b_options options{.api_key = secret{e2b_stand_in::api_key},
                      .domain = "e2b.app",
                      .api_url = e2b.url(),
                      .sandbox_url = e2b.url()};
  provider_limits bounds;
  std::unique_ptr<remote_side> side;

  fixture() { open(); }
  void open() {
    side = std::make_unique<remote_side>();
    auto make = [this](auto client) { return make_e2b(client, options); };
    side->open(make, bounds);
  }
  prepared_run python(std::string source) const {
    auto run = test::python_run(backend_kind::e2b, std::move(source));
    run.config = std::make_shared<const sandbox_config>(config);
    return run;
  }
  /// As the API stores it, for the default organization.
  static sandbox_config reusing() {
    sandbox_config c;
    c.id = config_id::make();
    c.organization = default_organization();
    c.type = backend_kind::e2b;
    c.config = {{"reuse", true}, {"timeout", 300}};
    return c;
  }
  void check_counts(int created, int alive) {
    side->rest();
    BOOST_TEST(e2b.created() == created);
    BOOST_TEST(e2b.boxes().size() == static_cast<std::size_t>(alive));
    BOOST_TEST(side->leases->list(backend_kind::e2b).size()
               == static_cast<std::size_t>(alive));
    BOOST_TEST(e2b.created() - e2b.destroyed() == alive);
  }
  void check_nothing_is_left_after_the_end() {
    side->backend->stop();
    BOOST_TEST(e2b.boxes().empty());
    BOOST_TEST(side->leases->list(backend_kind::e2b).empty());
    BOOST_TEST(e2b.created() == e2b.destroyed());
  }

  sandbox_config config = reusing();
};

const std::string one = "def tool():\n  return 1\n";
const std::string shown = "import os\ndef tool():\n"
                          "  return os.environ.get('TOKEN')\n";

bool says_used(const run_result& r) {
  return r.isolation.level == isolation_level::standard
    && std::ranges::any_of(r.notes, [](const std::string& note) {
           return note.find("was used before") != note.npos;
         });
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(sandbox_reuse, fixture)

BOOST_AUTO_TEST_CASE(serves_the_next_run_of_its_config_and_says_so) {
  auto first = side->good(python(one));
  BOOST_TEST(!says_used(first));
  BOOST_TEST((first.isolation.level == isolation_level::strict));
  check_counts(1, 1);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(says_used(side->good(python(one))));
  check_counts(1, 1);
  BOOST_TEST(e2b.rejoined() == 3);
  check_nothing_is_left_after_the_end();
}

BOOST_AUTO_TEST_CASE(carries_its_key_in_the_lease_and_at_the_provider) {
  side->good(python(one));
  auto held = side->leases->list(backend_kind::e2b);
  BOOST_REQUIRE(held.size() == 1u);
  BOOST_TEST(held[0].key.size() == 64u);
  BOOST_TEST((held[0].organization == default_organization()));
  auto boxes = e2b.boxes();
  BOOST_REQUIRE(boxes.size() == 1u);
  auto& labels = boxes.begin()->second.labels;
  BOOST_TEST(labels.at("troupe_key") == held[0].key);
  BOOST_TEST(labels.at("config_state") == fingerprint(config));
  BOOST_TEST(boxes.begin()->second.env.empty());
}

BOOST_AUTO_TEST_CASE(keeps_the_contract_of_every_provider) {
  test::check_contract(*side, backend_kind::e2b, [] {});
  check_nothing_is_left_after_the_end();
}

BOOST_AUTO_TEST_CASE(leaves_no_variable_of_one_run_to_the_next) {
  auto secretive = python(shown);
  secretive.env.emplace("TOKEN", secret{"s3cret"});
  BOOST_TEST(side->good(secretive).value_json == R"("s3cret")");
  auto next = side->good(python(shown));
  BOOST_TEST(says_used(next));
  BOOST_TEST(next.value_json == "null");
}

BOOST_AUTO_TEST_CASE(is_never_given_to_another_organization) {
  side->good(python(one));
  auto foreign = python(one);
  foreign.organization = organization_id::make();
  BOOST_TEST(!says_used(side->good(foreign)));
  check_counts(2, 2);
  auto theirs = config;
  theirs.organization = foreign.organization;
  foreign.config = std::make_shared<const sandbox_config>(theirs);
  BOOST_TEST(!says_used(side->good(foreign)));
  check_counts(3, 3);
  BOOST_TEST(says_used(side->good(python(one)))); // its own is still there
  check_nothing_is_left_after_the_end();
}

BOOST_AUTO_TEST_CASE(is_not_given_to_a_run_that_needs_another_one) {
  side->good(python(one));
  auto other = python(one);
  other.network.mode = network_mode::off;
  BOOST_TEST(!says_used(side->good(other)));
  auto alone = python(one);
  alone.isolation = isolation_level::strict;
  BOOST_TEST(!says_used(side->good(alone)));
  auto unasked = python(one);
  auto silent = config;
  silent.config = {{"timeout", 300}};
  unasked.config = std::make_shared<const sandbox_config>(silent);
  BOOST_TEST(!says_used(side->good(unasked)));
  check_counts(4, 2); // the strict one and the unasked one are gone
}

BOOST_AUTO_TEST_CASE(makes_a_fresh_one_when_it_died_meanwhile) {
  side->good(python(one));
  e2b.end_everything();
  auto r = side->good(python(one));
  BOOST_TEST(r.value_json == "1");
  BOOST_TEST(!says_used(r));
  check_counts(2, 1);
  BOOST_TEST(e2b.rejoined() == 0);
}

BOOST_AUTO_TEST_CASE(ends_one_whose_run_did_not_end_by_itself) {
  auto slow = python("import time\ndef tool():\n"
                     "  print('up', flush=True)\n  time.sleep(20)\n");
  auto watcher = side->begin(slow);
  watcher->wait_for_output("up");
  side->backend->cancel(slow.id, exit_reason::cancelled);
  watcher->wait();
  check_counts(1, 0);
  BOOST_TEST(!says_used(side->good(python(one))));
}

BOOST_AUTO_TEST_CASE(ends_one_that_nobody_wants_in_its_time) {
  bounds.lifetime = 1s;
  open();
  side->good(python(one));
  e2b.wait_until_empty();
  check_counts(1, 0);
}

BOOST_AUTO_TEST_CASE(gives_way_to_a_run_that_needs_the_room) {
  bounds.max_running = 1;
  open();
  side->good(python(one));
  auto other = python(one);
  other.organization = organization_id::make();
  BOOST_TEST(!says_used(side->good(other)));
  check_counts(2, 1);
}

BOOST_AUTO_TEST_CASE(serves_daytona_as_well) {
  test::daytona_stand_in daytona;
  daytona_options there{.api_key = secret{test::daytona_stand_in::api_key},
                        .api_url = daytona.api_url(),
                        .poll_first = 5ms,
                        .poll_max = 20ms};
  remote_side at_daytona;
  at_daytona.open([&](auto client) { return make_daytona(client, there); });
  config.type = backend_kind::daytona;
  auto secretive = python(shown);
  secretive.env.emplace("TOKEN", secret{"it's a s3cret\n"});
  BOOST_TEST(at_daytona.good(secretive).value_json == R"("it's a s3cret\n")");
  BOOST_TEST(daytona.creation().find("s3cret") == std::string::npos);
  auto next = at_daytona.good(python(shown));
  BOOST_TEST(says_used(next));
  BOOST_TEST(next.value_json == "null");
  BOOST_TEST(daytona.created() == 1);
  BOOST_TEST(daytona.rejoined() == 1);
  for (const auto& r : daytona.server().requests()) // no line tells a value
    BOOST_TEST((r.path.ends_with("/files/bulk-upload")
                || r.body.find("s3cret") == std::string::npos));
  daytona.stop_everything();
  BOOST_TEST(!says_used(at_daytona.good(python(shown))));
  BOOST_TEST(daytona.created() == 2);
  test::check_contract(at_daytona, backend_kind::daytona, [] {}, {"signals"});
  at_daytona.backend->stop();
  BOOST_TEST(daytona.alive() == 0);
  BOOST_TEST(at_daytona.leases->list(backend_kind::daytona).empty());
}

BOOST_AUTO_TEST_CASE(ends_those_of_an_engine_that_died) {
  side->good(python(one));
  auto book = side->leases;
  auto before = std::move(side); // as if it were dead: it says no word
  open();
  side->leases = book;
  side->open([this](auto client) { return make_e2b(client, options); }, bounds);
  std::promise<std::size_t> found;
  side->backend->reconcile(false,
                           [&](auto all) { found.set_value(all->size()); });
  BOOST_TEST(found.get_future().get() == 1u);
  check_counts(1, 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(sandboxes_made_ahead, fixture)

BOOST_AUTO_TEST_CASE(are_not_made_unless_the_setting_asks_for_it) {
  config.config = {{"timeout", 300}};
  side->good(python(one));
  check_counts(1, 0);
}

BOOST_AUTO_TEST_CASE(wait_for_the_next_run_and_serve_only_one) {
  config.config = {{"timeout", 300}};
  bounds.prewarmed = 2;
  open();
  side->good(python(one));
  check_counts(3, 2); // its own, gone; two that wait
  auto secretive = python(shown);
  secretive.env.emplace("TOKEN", secret{"s3cret"});
  auto r = side->good(secretive);
  BOOST_TEST(r.value_json == R"("s3cret")");
  BOOST_TEST(!says_used(r));
  check_counts(4, 2); // one taken and gone, one made in its place
  BOOST_TEST(e2b.rejoined() == 1);
  BOOST_TEST(side->good(python(shown)).value_json == "null");
  check_nothing_is_left_after_the_end();
}

BOOST_AUTO_TEST_CASE(have_a_lease_before_they_are_there) {
  config.config = {{"timeout", 300}};
  bounds.prewarmed = 1;
  open();
  side->good(python(one));
  auto held = side->leases->list(backend_kind::e2b);
  BOOST_REQUIRE(held.size() == 1u);
  BOOST_TEST(e2b.boxes().contains(held[0].sandbox));
  BOOST_TEST(e2b.boxes().at(held[0].sandbox).labels.at("troupe_lease")
             == held[0].tag);
  std::promise<std::size_t> found; // in use, to whoever looks for leftovers
  side->backend->reconcile(false,
                           [&](auto all) { found.set_value(all->size()); });
  BOOST_TEST(found.get_future().get() == 0u);
  check_counts(2, 1);
}

BOOST_AUTO_TEST_CASE(never_take_the_last_place_from_a_run) {
  bounds.prewarmed = 5;
  bounds.max_running = 3;
  open();
  side->good(python(one));
  side->rest();
  BOOST_TEST(e2b.boxes().size() <= 2u);
  check_nothing_is_left_after_the_end();
}

BOOST_AUTO_TEST_CASE(cost_nothing_when_they_cannot_be_made) {
  config.config = {{"timeout", 300}};
  bounds.prewarmed = 1;
  open();
  auto slow = python("import time\ndef tool():\n  time.sleep(1)\n  return 1\n");
  e2b.server().add_fault({.path = "/v2/sandboxes", .code = 400});
  auto outcome = side->run(slow); // whichever of the two is hit
  if (outcome.answer)
    BOOST_TEST(outcome.answer->value_json == "1");
  check_nothing_is_left_after_the_end();
}

BOOST_AUTO_TEST_CASE(serve_daytona_as_well) {
  test::daytona_stand_in daytona;
  daytona_options there{.api_key = secret{test::daytona_stand_in::api_key},
                        .api_url = daytona.api_url(),
                        .poll_first = 5ms,
                        .poll_max = 20ms};
  remote_side at_daytona;
  provider_limits ahead;
  ahead.prewarmed = 1;
  at_daytona.open([&](auto client) { return make_daytona(client, there); },
                  ahead);
  auto run = test::python_run(backend_kind::daytona, shown);
  BOOST_TEST(at_daytona.good(run).value_json == "null");
  BOOST_TEST(daytona.alive() == 1);
  run.id = run_id::make();
  run.env.emplace("TOKEN", secret{"s3cret"});
  BOOST_TEST(at_daytona.good(run).value_json == R"("s3cret")");
  BOOST_TEST(daytona.created() == 3);
  BOOST_TEST(daytona.rejoined() == 1);
  at_daytona.backend->stop();
  BOOST_TEST(daytona.alive() == 0);
}

BOOST_AUTO_TEST_CASE(serve_modal_as_well) {
  test::modal_stand_in modal;
  auto there = modal.options();
  remote_side at_modal;
  provider_limits ahead;
  ahead.prewarmed = 1;
  at_modal.open([&](auto client) { return make_modal(client, there); }, ahead);
  auto run = test::python_run(backend_kind::modal, shown);
  BOOST_TEST(at_modal.good(run).value_json == "null");
  BOOST_TEST(modal.created() == 2);
  BOOST_TEST(modal.alive() == 1);
  run.id = run_id::make();
  run.env.emplace("TOKEN", secret{"s3cret"});
  BOOST_TEST(at_modal.good(run).value_json == R"("s3cret")");
  BOOST_TEST(modal.created() == 3);
  BOOST_TEST(modal.alive() == 1);
  at_modal.backend->stop();
  BOOST_TEST(modal.alive() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
