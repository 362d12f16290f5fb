#include "actors/engine/engine_internals.hpp"
#include "actors/sandbox/sandbox_services.hpp"
#include "tests/support/sandboxes/sandbox_fixture.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <set>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;

const auto stranger = someone("org-11111111-1111-4111-8111-111111111111");

sandbox_spec not_waiting() {
  sandbox_spec s;
  s.wait_until_running = false;
  return s;
}

page<sandbox_record_ptr> listed(sandbox_fixture& house,
                                sandbox_filter which = {},
                                caller who = someone()) {
  sandbox_box<page<sandbox_record_ptr>> box;
  house.engine().list(std::move(who), std::move(which), box.handle());
  auto got = box.get();
  BOOST_REQUIRE(got);
  return *got;
}

} // namespace

BOOST_AUTO_TEST_SUITE(living_sandboxes)

BOOST_AUTO_TEST_CASE(one_is_made_found_listed_and_deleted) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.name = "web";
  spec.metadata = {{"chat", "42"}};
  auto made = house.create(spec);
  BOOST_REQUIRE(made);
  BOOST_TEST(((*made)->state == sandbox_state::running));
  BOOST_TEST((*made)->ends_at.has_value());
  const auto id = (*made)->id;
  BOOST_TEST(house.find(id).has_value());
  BOOST_TEST(listed(house).items.size() == 1u);
  BOOST_TEST(house.toy.provider->living() == 1u);
  BOOST_TEST(house.remove(id).has_value());
  BOOST_TEST(house.toy.provider->living() == 0u);
  BOOST_TEST(listed(house).items.empty());
  BOOST_TEST((house.find(id).error().problem == problem::sandbox_ended));
  BOOST_TEST(house.remove(id).has_value()); // gone already is fine
}

BOOST_AUTO_TEST_CASE(a_foreign_one_is_not_there) {
  sandbox_fixture house;
  const auto id = house.running();
  const auto foreign = house.find(id, stranger);
  const auto unknown = house.find(sandbox_id::make(), stranger);
  BOOST_REQUIRE(!foreign);
  BOOST_TEST((foreign.error().code == ec::not_found));
  BOOST_TEST((unknown.error().code == ec::not_found));
  BOOST_TEST((house.remove(id, stranger).error().code == ec::not_found));
  BOOST_TEST(listed(house, {}, stranger).items.empty());
  BOOST_TEST(house.find(id).has_value());
}

BOOST_AUTO_TEST_CASE(files_that_its_memory_cannot_hold_are_refused) {
  sandbox_fixture house;
  sandbox_spec small;
  small.resources.memory_bytes = 64u << 20;
  auto made = house.create(small);
  BOOST_REQUIRE(made);
  BOOST_TEST((*made)->resources.disk_bytes == 48u << 20); // not as usual
  small.resources.disk_bytes = 64u << 20;
  auto refused = house.create(small);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.error().fields.at(0).pointer == "/resources/disk_bytes");
}

BOOST_AUTO_TEST_CASE(a_repository_is_cloned_before_it_runs) {
  tests::temporary_directory made;
  const auto origin = (made / "origin").string();
  BOOST_REQUIRE(std::system(("git init -q " + origin + " && cd " + origin
                             + " && git -c user.name=a -c user.email=a@b.test "
                               "commit -q --allow-empty -m one")
                              .c_str())
                == 0);
  sandbox_fixture house;
  sandbox_spec spec;
  spec.git = git_source{"file://" + origin, "", "here", 1};
  const auto id = house.running(spec);
  auto process = house.start(id, "git -C here rev-list --count HEAD");
  BOOST_REQUIRE(process);
  BOOST_TEST(house.finish(*process).exit_code == 0);
  // One that cannot be had leaves no sandbox.
  const auto before = house.toy.provider->living();
  spec.git->url += "-none";
  auto refused = house.create(spec);
  BOOST_REQUIRE((!refused || (*refused)->state == sandbox_state::failed));
  BOOST_TEST(until([&] { return house.toy.provider->living() == before; }));
  spec.git->url = "https://example.org/a.git";
  spec.network = network_policy{network_mode::off, {}};
  auto closed = house.create(spec);
  BOOST_REQUIRE(!closed);
  BOOST_TEST(closed.error().fields.at(0).pointer == "/git");
}

BOOST_AUTO_TEST_CASE(records_of_what_has_ended_do_not_pile_up) {
  sandbox_rules rules;
  rules.kept_per_organization = 3;
  sandbox_fixture house{rules};
  for (int i = 0; i < 10; ++i)
    BOOST_REQUIRE(house.remove(house.running()).has_value());
  auto ended = [&] {
    sandbox_filter which;
    which.states = {sandbox_state::deleted};
    return listed(house, which).items.size();
  };
  BOOST_TEST(until([&] { return ended() == 3u; }));
}

BOOST_AUTO_TEST_CASE(a_name_is_taken_until_its_sandbox_has_ended) {
  sandbox_fixture house;
  sandbox_spec named;
  named.name = "web";
  const auto id = house.running(named);
  BOOST_TEST((house.create(named).error().code == ec::conflict));
  BOOST_TEST(house.create(named, stranger).has_value());
  BOOST_TEST(house.remove(id).has_value());
  BOOST_TEST(house.create(named).has_value());
}

BOOST_AUTO_TEST_CASE(pages_go_through_all_of_them_once) {
  sandbox_fixture house;
  std::set<sandbox_id> made;
  for (int i = 0; i < 7; ++i)
    made.insert(house.running());
  std::set<sandbox_id> seen;
  sandbox_filter which;
  which.limit = 3;
  for (int pages = 0; pages < 10; ++pages) {
    auto some = listed(house, which);
    for (const auto& each : some.items)
      BOOST_TEST(seen.insert(each->id).second);
    which.after = some.next;
    if (some.next.empty())
      break;
  }
  BOOST_TEST((seen == made));
}

BOOST_AUTO_TEST_CASE(its_time_ends_it) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.timeout = 10s;
  const auto id = house.running(spec);
  house.step(9s);
  BOOST_TEST(house.find(id).has_value());
  house.step(1s);
  BOOST_TEST(house.ended(id, sandbox_end::timeout));
  BOOST_TEST(until([&] { return house.toy.provider->living() == 0; }));
}

BOOST_AUTO_TEST_CASE(a_renewal_moves_its_end_and_the_place_hears_of_it) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.timeout = 10s;
  const auto id = house.running(spec);
  house.step(9s);
  sandbox_box<sandbox_record_ptr> box;
  house.engine().renew(someone(), id, 100s, box.handle());
  auto renewed = box.get();
  BOOST_REQUIRE(renewed);
  BOOST_TEST((*renewed)->timeout.count() == 100'000);
  BOOST_TEST(house.toy.provider->last_lifetime().count() >= 100);
  house.step(99s);
  BOOST_TEST(house.start(id, "true").has_value());
  house.step(1s);
  BOOST_TEST(house.ended(id, sandbox_end::timeout));
}

BOOST_AUTO_TEST_CASE(a_renewal_beyond_the_longest_life_is_refused) {
  sandbox_fixture house;
  const auto id = house.running();
  sandbox_box<sandbox_record_ptr> box;
  house.engine().renew(someone(), id, 25h, box.handle());
  auto renewed = box.get();
  BOOST_REQUIRE(!renewed);
  BOOST_TEST(renewed.error().fields.at(0).pointer == "/timeout");
}

BOOST_AUTO_TEST_CASE(where_a_place_cannot_renew_our_clock_does) {
  sandbox_rules rules;
  rules.max_life = 100s;
  sandbox_fixture house{rules};
  house.toy.provider->habits.renew = false;
  sandbox_spec spec;
  spec.timeout = 10s;
  const auto id = house.running(spec);
  BOOST_TEST(house.toy.provider->last_lifetime().count() >= 100);
  house.step(9s);
  auto renew = [&](std::chrono::milliseconds timeout) {
    sandbox_box<sandbox_record_ptr> box;
    house.engine().renew(someone(), id, timeout, box.handle());
    return box.get();
  };
  BOOST_TEST(renew(50s).has_value());
  BOOST_TEST((renew(95s).error().problem == problem::unsupported_here));
  house.step(50s);
  BOOST_TEST(house.ended(id, sandbox_end::timeout));
}

BOOST_AUTO_TEST_CASE(a_place_that_has_lost_one_ends_it) {
  sandbox_fixture house;
  const auto id = house.running();
  house.toy.provider->habits.forget = true;
  sandbox_box<sandbox_record_ptr> box;
  house.engine().renew(someone(), id, 100s, box.handle());
  BOOST_TEST((box.get().error().problem == problem::sandbox_ended));
  BOOST_TEST(house.ended(id, sandbox_end::lost));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_done_here_is_refused_before_anything_is) {
  sandbox_fixture house;
  house.toy.provider->habits.pause = false;
  sandbox_spec pausing;
  pausing.on_timeout = timeout_action::pause;
  BOOST_TEST(
    (house.create(pausing).error().problem == problem::unsupported_here));
  sandbox_spec elsewhere;
  elsewhere.place = backend_kind::e2b;
  BOOST_TEST(house.create(elsewhere).error().fields.at(0).pointer == "/place");
  sandbox_spec greedy;
  greedy.resources.memory_bytes = 1ull << 40;
  BOOST_TEST(house.create(greedy).error().fields.at(0).pointer
             == "/resources/memory_bytes");
  sandbox_spec long_one;
  long_one.timeout = 25h;
  BOOST_TEST(house.create(long_one).error().fields.at(0).pointer == "/timeout");
  BOOST_TEST(house.toy.provider->living() == 0u);
}

BOOST_AUTO_TEST_CASE(a_creation_that_fails_says_why_and_frees_its_room) {
  sandbox_rules rules;
  rules.max = 1;
  sandbox_fixture house{rules};
  house.toy.provider->habits.failing_creations = 1;
  auto made = house.create();
  BOOST_REQUIRE(!made);
  BOOST_TEST((made.error().problem == problem::start_failed));
  BOOST_TEST(made.error().text.find("the toy is broken") != std::string::npos);
  BOOST_TEST(house.create().has_value());
}

BOOST_AUTO_TEST_CASE(what_a_failed_creation_leaves_behind_goes) {
  sandbox_fixture house;
  house.toy.provider->habits.leave_behind = true;
  house.toy.provider->habits.failing_creations = 1;
  BOOST_TEST((house.create().error().problem == problem::start_failed));
  BOOST_TEST(until([&] { return house.toy.provider->living() == 0; }));
}

BOOST_AUTO_TEST_CASE(one_waits_for_room_and_gets_it) {
  sandbox_rules rules;
  rules.max = 1;
  sandbox_fixture house{rules};
  const auto first = house.running();
  sandbox_box<sandbox_record_ptr> second;
  house.engine().create(someone(), {}, second.handle());
  sandbox_filter waiting;
  waiting.states = {sandbox_state::queued};
  BOOST_TEST(until([&] { return listed(house, waiting).items.size() == 1; }));
  BOOST_TEST(!second.is_there());
  BOOST_TEST(house.remove(first).has_value());
  BOOST_TEST(second.get().has_value());
}

BOOST_AUTO_TEST_CASE(one_that_waits_in_vain_is_told_so) {
  sandbox_rules rules;
  rules.max = 1;
  sandbox_fixture house{rules};
  house.running();
  sandbox_box<sandbox_record_ptr> second;
  house.engine().create(someone(), {}, second.handle());
  sandbox_filter waiting;
  waiting.states = {sandbox_state::queued};
  BOOST_TEST(until([&] { return listed(house, waiting).items.size() == 1; }));
  house.step(30s);
  auto told = second.get();
  BOOST_REQUIRE(!told);
  BOOST_TEST((told.error().problem == problem::queue_full));
  BOOST_TEST((told.error().code == ec::exhausted));
}

BOOST_AUTO_TEST_CASE(deleting_wins_over_a_creation_that_is_under_way) {
  sandbox_fixture house;
  house.toy.provider->habits.hold_creations = true;
  auto made = house.create(not_waiting());
  BOOST_REQUIRE(made);
  BOOST_TEST(house.remove((*made)->id).has_value());
  BOOST_TEST(house.toy.provider->living() == 0u);
  house.toy.provider->habits.hold_creations = false;
  BOOST_TEST(house.create().has_value());
}

BOOST_AUTO_TEST_CASE(a_creation_that_hangs_is_given_up) {
  sandbox_fixture house;
  house.toy.provider->habits.hold_creations = true;
  auto made = house.create(not_waiting());
  BOOST_REQUIRE(made);
  BOOST_TEST(until([&] {
    return (*house.find((*made)->id))->state == sandbox_state::creating;
  }));
  house.step(60s);
  BOOST_TEST(house.ended((*made)->id, sandbox_end::start_failed));
}

BOOST_AUTO_TEST_CASE(one_that_waits_can_be_deleted) {
  sandbox_rules rules;
  rules.max = 1;
  sandbox_fixture house{rules};
  house.running();
  auto second = house.create(not_waiting());
  BOOST_REQUIRE(second);
  BOOST_TEST(house.remove((*second)->id).has_value());
  BOOST_TEST(house.toy.provider->living() == 1u);
}

BOOST_AUTO_TEST_CASE(a_deletion_that_fails_is_repeated_until_it_is_true) {
  sandbox_fixture house;
  const auto id = house.running();
  house.toy.provider->habits.failing_deletions = 2;
  auto removed = house.remove(id);
  BOOST_REQUIRE(!removed);
  BOOST_TEST((removed.error().problem == problem::place_unavailable));
  BOOST_TEST(
    until([&] { return house.toy.provider->habits.failing_deletions == 1; }));
  BOOST_TEST(until([&] {
    house.step(1s);
    return house.toy.provider->living() == 0;
  }));
  BOOST_TEST(house.ended(id, sandbox_end::asked));
}

BOOST_AUTO_TEST_CASE(a_record_of_what_is_over_is_kept_for_a_while) {
  sandbox_fixture house;
  const auto id = house.running();
  BOOST_TEST(house.remove(id).has_value());
  house.step(599s);
  BOOST_TEST((house.find(id).error().problem == problem::sandbox_ended));
  house.step(2s);
  BOOST_TEST(
    until([&] { return house.find(id).error().problem == problem::none; }));
  BOOST_TEST((house.find(id).error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(an_engine_that_stops_takes_them_all_down) {
  test::toy_place* toy = nullptr;
  {
    sandbox_fixture house;
    toy = &house.toy;
    for (int i = 0; i < 5; ++i)
      house.running();
    BOOST_TEST(toy->provider->living() == 5u);
    house.troop->host->stop();
    BOOST_TEST(toy->provider->living() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_controller_that_dies_leaves_them_to_the_next_one) {
  sandbox_rules rules;
  rules.max = 2;
  sandbox_fixture house{rules};
  sandbox_spec spec;
  spec.timeout = 10s;
  const auto id = house.running(spec);
  auto context = context_of(*house.troop->host);
  caf::anon_send_exit(context->routes.load()->sandboxes,
                      caf::exit_reason::kill);
  BOOST_TEST(until([&] { return !context->routes.load()->sandboxes; }));
  BOOST_TEST(house.start(id, "true").has_value()); // calls go past it
  BOOST_TEST(until([&] { return !!context->routes.load()->sandboxes; }));
  house.running();
  sandbox_box<sandbox_record_ptr> third; // both count
  house.engine().create(someone(), {}, third.handle());
  house.step(10s); // and the clock goes on
  BOOST_TEST(house.ended(id, sandbox_end::timeout));
  BOOST_TEST(third.get().has_value());
}

BOOST_AUTO_TEST_CASE(the_sandbox_of_an_actor_that_dies_is_taken_down) {
  sandbox_rules rules;
  rules.max = 1;
  sandbox_fixture house{rules};
  const auto id = house.running();
  auto context = context_of(*house.troop->host);
  caf::anon_send_exit(context->sandboxes->index.find(id)->actor,
                      caf::exit_reason::kill);
  BOOST_TEST(until([&] { return !house.find(id); }));
  BOOST_TEST(until([&] { return house.toy.provider->living() == 0; }));
  BOOST_TEST(house.create().has_value()); // its room is free
}

BOOST_AUTO_TEST_CASE(metrics_tell_how_many_there_are) {
  sandbox_fixture house;
  const auto id = house.running();
  auto page = house.troop->engine().metrics();
  BOOST_TEST(page.find(R"(troupe_sandboxes{state="running",place="local"} 1)")
             != std::string::npos);
  house.remove(id);
  page = house.troop->engine().metrics();
  BOOST_TEST(page.find(R"(troupe_sandboxes_ended_total{reason="deleted"} 1)")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_audit_tells_of_their_beginning_and_end) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.env.emplace("TOKEN", secret{"swordfish"});
  const auto id = house.running(spec);
  house.remove(id);
  std::string all;
  BOOST_TEST(until([&] {
    answer<page<audit_entry>> box;
    house.troop->engine().list_audit(someone(), 0, 100, box.handle());
    const auto found = box.get();
    BOOST_REQUIRE(found);
    all.clear();
    for (const auto& each : found->items)
      all += json::to_text(each.what);
    return all.find("sandbox_ended") != std::string::npos;
  }));
  BOOST_TEST(all.find("sandbox_created") != std::string::npos);
  BOOST_TEST(all.find(id.str()) != std::string::npos);
  BOOST_TEST(all.find("swordfish") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_a_place_nothing_can_be_made) {
  engine_fixture troop;
  sandbox_box<sandbox_record_ptr> box;
  troop.host->sandboxes().create(someone(), {}, box.handle());
  auto made = box.get();
  BOOST_REQUIRE(!made);
  BOOST_TEST((made.error().problem == problem::place_unavailable));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
