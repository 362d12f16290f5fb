// Snapshots, forks, the way back, and sandboxes that their place loses.
#include "tests/support/sandboxes/sandbox_fixture.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;

struct snapshot_house : sandbox_fixture {
  using sandbox_fixture::sandbox_fixture;

  sandbox_result<snapshot_record_ptr> take(const sandbox_id& id,
                                           std::string name = {}) {
    sandbox_box<snapshot_record_ptr> box;
    engine().snapshot(someone(), id, std::move(name), box.handle());
    return box.get();
  }
  std::size_t listed(caller who = someone()) {
    sandbox_box<std::vector<snapshot_record_ptr>> box;
    engine().list_snapshots(std::move(who), box.handle());
    return box.get()->size();
  }
  sandbox_result<void> forget(std::string which, caller who = someone()) {
    sandbox_box<void> box;
    engine().remove_snapshot(std::move(who), std::move(which), box.handle());
    return box.get();
  }
  record_result roll_back(const sandbox_id& id, std::string which) {
    return told(
      [&](auto done) { engine().rollback(someone(), id, which, done); });
  }
  sandbox_result<sandbox_engine::forks> fork(const sandbox_id& id,
                                             fork_spec what) {
    sandbox_box<sandbox_engine::forks> box;
    engine().fork(someone(), id, std::move(what), box.handle());
    return box.get();
  }
  void write(const sandbox_id& id, std::string path, std::string text) {
    sandbox_box<void> box;
    engine().write_file(someone(), id, std::move(path), std::move(text),
                        box.handle());
    BOOST_REQUIRE(box.get());
  }
  std::string read(const sandbox_id& id, std::string path) {
    sandbox_box<std::string> box;
    engine().read_file(someone(), id, std::move(path), box.handle());
    auto got = box.get();
    return got ? *got : "nothing";
  }
  sandbox_spec from(const snapshot_record_ptr& snapshot) {
    sandbox_spec s;
    s.snapshot = snapshot->id.str();
    return s;
  }
};

const auto other_tenant = someone("org-11111111-1111-4111-8111-111111111111");

} // namespace

BOOST_AUTO_TEST_SUITE(snapshots_of_sandboxes)

BOOST_AUTO_TEST_CASE(another_one_begins_with_the_files_of_a_snapshot) {
  snapshot_house house;
  const auto id = house.running();
  house.write(id, "/tmp/a", "before");
  auto snapshot = house.take(id, "clean");
  BOOST_REQUIRE(snapshot);
  house.write(id, "/tmp/a", "after");
  auto made = house.create(house.from(*snapshot));
  BOOST_REQUIRE(made);
  BOOST_TEST((*made)->snapshot == (*snapshot)->id.str());
  BOOST_TEST(house.read((*made)->id, "/tmp/a") == "before");
  BOOST_TEST(house.read(id, "/tmp/a") == "after");
  sandbox_spec by_name;
  by_name.snapshot = "clean";
  BOOST_TEST(house.create(by_name).has_value());
  BOOST_TEST(house.listed() == 1u);
  BOOST_TEST(house.forget("clean").has_value());
  BOOST_TEST(until([&] { return house.toy.provider->kept_snapshots() == 0; }));
  BOOST_TEST((house.create(by_name).error().code == ec::not_found));
  BOOST_TEST(house.read((*made)->id, "/tmp/a") == "before"); // it stays
}

BOOST_AUTO_TEST_CASE(a_foreign_snapshot_is_not_there) {
  snapshot_house house;
  auto snapshot = house.take(house.running(), "clean");
  BOOST_REQUIRE(snapshot);
  BOOST_TEST(house.listed(other_tenant) == 0u);
  BOOST_TEST(
    (house.forget("clean", other_tenant).error().code == ec::not_found));
  BOOST_TEST((house.create(house.from(*snapshot), other_tenant).error().code
              == ec::not_found));
}

BOOST_AUTO_TEST_CASE(names_and_numbers_of_snapshots_are_bounded) {
  sandbox_rules rules;
  rules.snapshots = 2;
  snapshot_house house{rules};
  const auto id = house.running();
  BOOST_TEST(house.take(id, "a").has_value());
  BOOST_TEST((house.take(id, "a").error().code == ec::conflict));
  BOOST_TEST(house.take(id).has_value());
  BOOST_TEST((house.take(id).error().problem == problem::quota));
  BOOST_TEST(house.fork(id, {}).has_value()); // it counts for a moment only
  BOOST_TEST(house.forget("a").has_value());
  BOOST_TEST(house.take(id).has_value());
}

BOOST_AUTO_TEST_CASE(a_place_that_cannot_says_so) {
  snapshot_house house;
  const auto id = house.running();
  house.toy.provider->habits.failing_snapshots = 1;
  BOOST_TEST((house.take(id).error().problem == problem::disk_limit));
  BOOST_TEST(house.take(id).has_value());
  house.toy.provider->habits.snapshots = false;
  BOOST_TEST((house.take(id).error().problem == problem::unsupported_here));
}

BOOST_AUTO_TEST_CASE(what_comes_during_a_snapshot_waits_for_it) {
  snapshot_house house;
  const auto id = house.running();
  house.toy.provider->habits.hold_snapshots = true;
  sandbox_box<snapshot_record_ptr> taking;
  house.engine().snapshot(someone(), id, {}, taking.handle());
  sandbox_box<sandbox_program_ptr> starting;
  process_spec what;
  what.command = "true";
  house.engine().start(someone(), id, what, starting.handle());
  BOOST_TEST((house.take(id).error().code == ec::conflict));
  BOOST_TEST(!starting.is_there());
  house.toy.provider->habits.hold_snapshots = false;
  BOOST_TEST(taking.get().has_value());
  BOOST_TEST(starting.get().has_value());
}

BOOST_AUTO_TEST_CASE(the_files_go_back_and_processes_end) {
  snapshot_house house;
  const auto id = house.running();
  house.write(id, "/tmp/a", "before");
  auto snapshot = house.take(id);
  house.write(id, "/tmp/a", "after");
  auto process = house.start(id, "sleep 1000");
  BOOST_REQUIRE(process);
  BOOST_TEST(house.roll_back(id, (*snapshot)->id.str()).has_value());
  BOOST_TEST(house.read(id, "/tmp/a") == "before");
  BOOST_TEST((house.finish(*process).reason == process_reason::killed));
  const auto other = house.running();
  BOOST_TEST((house.roll_back(other, (*snapshot)->id.str()).error().code
              == ec::not_found)); // it is of another one
}

BOOST_AUTO_TEST_CASE(forks_have_files_variables_and_bounds_of_the_first) {
  snapshot_house house;
  sandbox_spec spec;
  spec.metadata = {{"a", "1"}};
  spec.env.emplace("WHO", secret{"parent"});
  spec.resources.memory_bytes = 64u << 20;
  spec.timeout = 77s;
  const auto id = house.running(spec);
  house.write(id, "/tmp/a", "shared");
  fork_spec what;
  what.count = 3;
  what.env.emplace("TRY", secret{"one"});
  auto forks = house.fork(id, what);
  BOOST_REQUIRE(forks);
  BOOST_REQUIRE(forks->size() == 3u);
  std::set<sandbox_id> ids{id};
  for (const auto& each : *forks) {
    BOOST_REQUIRE(each);
    const auto& r = **each;
    BOOST_TEST(ids.insert(r.id).second);
    BOOST_TEST(r.resources.memory_bytes == 64u << 20);
    BOOST_TEST(r.timeout.count() == 77'000);
    BOOST_TEST(r.metadata.at("a") == "1");
    BOOST_TEST(house.read(r.id, "/tmp/a") == "shared");
    auto process = house.start(r.id, "echo $WHO $TRY");
    BOOST_REQUIRE(process);
    house.finish(*process);
    BOOST_TEST((*process)->read(output_stream::out, 0, 100).bytes
               == "parent one\n");
  }
  BOOST_TEST(until([&] { return house.toy.provider->kept_snapshots() == 0; }));
  BOOST_TEST(house.listed() == 0u);
}

BOOST_AUTO_TEST_CASE(a_fork_that_fails_does_not_take_the_others_along) {
  sandbox_rules rules;
  rules.starting = 1;
  snapshot_house house{rules};
  const auto id = house.running();
  house.toy.provider->habits.failing_creations = 1;
  fork_spec what;
  what.count = 2;
  auto forks = house.fork(id, what);
  BOOST_REQUIRE(forks);
  BOOST_TEST(std::ranges::count_if(
               *forks, [](const auto& each) { return each.has_value(); })
             == 1);
  BOOST_TEST(house.toy.provider->living() == 2u);
}

BOOST_AUTO_TEST_CASE(one_that_its_place_loses_says_so_at_once) {
  snapshot_house house;
  const auto id = house.running();
  auto process = house.start(id, "sleep 1000");
  BOOST_REQUIRE(process);
  house.toy.provider->lose("toy-1");
  BOOST_TEST(house.is_in(id, sandbox_state::failed));
  auto now = house.find(id);
  BOOST_TEST(((*now)->end == sandbox_end::lost));
  BOOST_TEST((*now)->failure->text == "the toy broke it");
  BOOST_TEST(
    (house.start(id, "true").error().problem == problem::sandbox_ended));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
