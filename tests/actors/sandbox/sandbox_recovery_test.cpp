// What an engine does with the sandboxes of an engine before it.
#include "runtime/model/codec/codec.hpp"
#include "tests/support/sandboxes/place_contract.hpp"
#include "tests/support/sandboxes/sandbox_fixture.hpp"

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;
using state = sandbox_state;

stored_sandbox left_in(state s) {
  stored_sandbox left;
  auto& r = left.record;
  r.id = sandbox_id::make();
  r.organization = default_organization();
  r.state = s;
  r.name = "left";
  r.timeout = 300s;
  r.created_at = now();
  r.ends_at = now() + 100s;
  return left;
}

/// A sandbox at the toy, as an engine before this one has made it.
sandbox_handle made_before(sandbox_fixture& house, const stored_sandbox& of) {
  auto& toy = *house.toy.provider;
  sandbox_request wanted;
  wanted.tag = of.record.id.str();
  place_under_test at{toy, house.toy.executor()};
  std::optional<sandbox_creation> made;
  at.wait([&]() -> boost::asio::awaitable<void> {
    auto limit = place_under_test::scope();
    made.emplace(co_await toy.create(wanted, limit));
  });
  BOOST_REQUIRE(made->sandbox);
  return *made->sandbox;
}

/// An engine that finds these records when it starts.
struct second_engine {
  sandbox_fixture house;

  explicit second_engine(std::function<void(sandbox_fixture&)> before,
                         sandbox_rules rules = fast())
      : house{rules, std::move(before)} {}
  static sandbox_rules fast() {
    sandbox_rules rules;
    rules.look_again = 1ms;
    return rules;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(sandboxes_of_an_engine_before)

BOOST_AUTO_TEST_CASE(one_of_this_machine_is_lost_and_says_so) {
  const auto left = left_in(state::running);
  const auto asleep = left_in(state::paused);
  second_engine x{[&](sandbox_fixture& house) {
    (void)house.store->put(left, true);
    (void)house.store->put(asleep, true);
  }};
  for (const auto& id : {left.record.id, asleep.record.id}) {
    auto found = x.house.find(id);
    BOOST_REQUIRE(found);
    BOOST_TEST(((*found)->state == state::failed));
    BOOST_TEST(((*found)->end == sandbox_end::lost));
    BOOST_TEST((*found)->failure->text.find("restarted") != std::string::npos);
    BOOST_TEST(
      (x.house.start(id, "true").error().problem == problem::sandbox_ended));
  }
  // The name is free, and so is the room.
  sandbox_spec again;
  again.name = "left";
  BOOST_TEST(x.house.create(again).has_value());
  x.house.step(601s);
  BOOST_TEST(until([&] { return !x.house.find(left.record.id); }));
  BOOST_TEST(
    until([&] { return !x.house.store->all().contains(left.record.id); }));
}

BOOST_AUTO_TEST_CASE(one_that_outlived_the_engine_goes_on) {
  auto left = left_in(state::running);
  second_engine x{[&](sandbox_fixture& house) {
    house.toy.provider->habits.outlives_engine = true;
    left.box = made_before(house, left);
    (void)house.store->put(left, true);
  }};
  auto found = x.house.find(left.record.id);
  BOOST_REQUIRE(found);
  BOOST_TEST(((*found)->state == state::running));
  auto process = x.house.start(left.record.id, "echo here");
  BOOST_REQUIRE(process);
  BOOST_TEST(x.house.finish(*process).exit_code == 0);
  // What was left of its time counts on.
  x.house.step(99s);
  BOOST_TEST(x.house.connect(left.record.id).has_value());
  x.house.step(1s);
  BOOST_TEST(x.house.ended(left.record.id, sandbox_end::timeout));
  BOOST_TEST(until([&] { return x.house.toy.provider->living() == 0; }));
  BOOST_TEST(until([&] { return x.house.store->all().empty(); }));
}

BOOST_AUTO_TEST_CASE(one_that_its_place_has_ended_meanwhile_is_lost) {
  auto left = left_in(state::running);
  second_engine x{[&](sandbox_fixture& house) {
    house.toy.provider->habits.outlives_engine = true;
    house.toy.provider->habits.failing_lists = 2;
    left.box.id = "toy-99";
    (void)house.store->put(left, true);
  }};
  BOOST_TEST(x.house.ended(left.record.id, sandbox_end::lost));
}

BOOST_AUTO_TEST_CASE(
  one_whose_making_was_cut_off_is_found_by_its_tag_and_goes) {
  const auto left = left_in(state::creating);
  const auto nothing = left_in(state::creating);
  second_engine x{[&](sandbox_fixture& house) {
    house.toy.provider->habits.outlives_engine = true;
    made_before(house, left); // its name was never heard
    BOOST_TEST(house.toy.provider->living() == 1u);
    (void)house.store->put(left, true);
    (void)house.store->put(nothing, true);
  }};
  BOOST_TEST(x.house.ended(left.record.id, sandbox_end::lost));
  BOOST_TEST(x.house.ended(nothing.record.id, sandbox_end::lost));
  BOOST_TEST(x.house.toy.provider->living() == 0u);
}

BOOST_AUTO_TEST_CASE(a_deletion_that_was_cut_off_is_carried_out) {
  auto left = left_in(state::deleting);
  left.record.end = sandbox_end::asked;
  second_engine x{[&](sandbox_fixture& house) {
    house.toy.provider->habits.outlives_engine = true;
    left.box = made_before(house, left);
    (void)house.store->put(left, true);
  }};
  BOOST_TEST(x.house.ended(left.record.id, sandbox_end::asked));
  BOOST_TEST(x.house.toy.provider->living() == 0u);
}

BOOST_AUTO_TEST_CASE(sandboxes_of_others_at_the_same_place_are_left_alone) {
  const auto strange = left_in(state::running);
  second_engine x{[&](sandbox_fixture& house) {
    house.toy.provider->habits.outlives_engine = true;
    made_before(house, strange); // without a record of ours
    auto mine = left_in(state::creating);
    (void)house.store->put(mine, true);
  }};
  BOOST_TEST(until([&] { return x.house.store->all().empty(); }));
  BOOST_TEST(x.house.toy.provider->living() == 1u);
  BOOST_TEST(!x.house.find(strange.record.id));
}

BOOST_AUTO_TEST_CASE(nothing_is_made_that_could_not_be_written_down) {
  second_engine x{[](sandbox_fixture& house) {
    house.toy.provider->habits.outlives_engine = true;
    house.store->full = true;
  }};
  auto made = x.house.create();
  BOOST_REQUIRE(!made);
  BOOST_TEST((made.error().problem == problem::start_failed));
  BOOST_TEST(x.house.toy.provider->living() == 0u);
}

BOOST_AUTO_TEST_CASE(a_record_stands_while_its_sandbox_does) {
  sandbox_fixture house;
  const auto id = house.running();
  BOOST_TEST(until([&] {
    auto all = house.store->all();
    return all.contains(id) && all.at(id).record.state == state::running;
  }));
  BOOST_TEST(house.pause(id).has_value());
  BOOST_TEST(until(
    [&] { return house.store->all().at(id).record.state == state::paused; }));
  BOOST_TEST(house.remove(id).has_value());
  BOOST_TEST(until([&] { return house.store->all().empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
