// Sandboxes that stand still, end when nothing uses them, and are changed.
#include "tests/support/sandboxes/sandbox_fixture.hpp"

#include <algorithm>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;
using state = sandbox_state;

sandbox_spec idle_after(std::chrono::milliseconds longest,
                        timeout_action how = timeout_action::remove) {
  sandbox_spec s;
  s.idle_timeout = longest;
  s.on_idle = how;
  return s;
}

sandbox_spec of_session(std::string name) {
  sandbox_spec s;
  s.session = std::move(name);
  return s;
}

std::vector<std::string> states_told(sandbox_fixture& house,
                                     const sandbox_id& id) {
  std::vector<std::string> all;
  for (const auto& each : house.events(id))
    if (each.what == sandbox_event::kind::state)
      all.push_back(each.subject);
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(sandboxes_that_stand_still)

BOOST_AUTO_TEST_CASE(one_is_paused_and_goes_on_where_it_was) {
  sandbox_fixture house;
  const auto id = house.running();
  auto paused = house.pause(id);
  BOOST_REQUIRE(paused);
  BOOST_TEST(((*paused)->state == state::paused));
  BOOST_TEST(house.toy.provider->last_lifetime().count() >= 3'600);
  BOOST_TEST(house.pause(id).has_value()); // it is so already
  BOOST_TEST(
    (house.start(id, "true").error().problem == problem::sandbox_paused));
  auto resumed = house.resume(id);
  BOOST_REQUIRE(resumed);
  BOOST_TEST(((*resumed)->state == state::running));
  BOOST_TEST(house.resume(id).has_value());
  BOOST_TEST(house.start(id, "true").has_value());
  const std::vector<std::string> wanted{"creating", "running",  "pausing",
                                        "paused",   "resuming", "running"};
  BOOST_TEST(states_told(house, id) == wanted,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_needs_it_resumes_one_that_says_so) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.auto_resume = true;
  const auto id = house.running(spec);
  BOOST_TEST(house.pause(id).has_value());
  auto process = house.start(id, "echo hi");
  BOOST_REQUIRE(process);
  BOOST_TEST(house.finish(*process).exit_code == 0);
  BOOST_TEST(house.pause(id).has_value());
  sandbox_box<void> box;
  house.engine().write_file(someone(), id, "/tmp/a", "x", box.handle());
  BOOST_TEST(box.get().has_value());
  BOOST_TEST(((*house.find(id))->state == state::running));
}

BOOST_AUTO_TEST_CASE(a_place_that_fails_is_told_and_nothing_hangs) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.auto_resume = true;
  const auto id = house.running(spec);
  house.toy.provider->habits.failing_pauses = 1;
  BOOST_TEST((house.pause(id).error().problem == problem::place_unavailable));
  BOOST_TEST(((*house.find(id))->state == state::running));
  BOOST_TEST(house.pause(id).has_value());
  house.toy.provider->habits.failing_pauses = 1;
  BOOST_TEST(
    (house.start(id, "true").error().problem == problem::place_unavailable));
  BOOST_TEST(((*house.find(id))->state == state::paused));
  BOOST_TEST(house.resume(id).has_value());
}

BOOST_AUTO_TEST_CASE(a_place_without_it_refuses) {
  sandbox_fixture house;
  house.toy.provider->habits.pause = false;
  const auto id = house.running();
  BOOST_TEST((house.pause(id).error().problem == problem::unsupported_here));
  sandbox_change change;
  change.on_idle = timeout_action::pause;
  BOOST_TEST(
    (house.change(id, change).error().problem == problem::unsupported_here));
}

BOOST_AUTO_TEST_CASE(a_deletion_wins_over_a_pause_and_ends_one_that_is_paused) {
  sandbox_fixture house;
  const auto id = house.running();
  BOOST_TEST(house.pause(id).has_value());
  BOOST_TEST(house.remove(id).has_value());
  BOOST_TEST(house.toy.provider->living() == 0u);
  BOOST_TEST((house.resume(id).error().problem == problem::sandbox_ended));
}

BOOST_AUTO_TEST_CASE(its_timeout_pauses_one_that_says_so) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.timeout = 10s;
  spec.on_timeout = timeout_action::pause;
  const auto id = house.running(spec);
  house.step(10s);
  BOOST_TEST(house.is_in(id, state::paused));
  BOOST_TEST(house.toy.provider->living() == 1u);
  BOOST_TEST(house.connect(id).has_value());
  house.step(9s);
  BOOST_TEST(house.start(id, "true").has_value());
  house.step(1s);
  BOOST_TEST(house.is_in(id, state::paused));
  house.step(1h);
  BOOST_TEST(house.ended(id, sandbox_end::paused_too_long));
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_paused_at_its_end_is_deleted) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.timeout = 10s;
  spec.on_timeout = timeout_action::pause;
  const auto id = house.running(spec);
  house.toy.provider->habits.failing_pauses = 1;
  house.step(10s);
  BOOST_TEST(house.ended(id, sandbox_end::timeout));
}

BOOST_AUTO_TEST_CASE(what_nothing_uses_ends_and_what_is_used_stays) {
  sandbox_fixture house;
  const auto id = house.running(idle_after(10s));
  house.step(9s);
  BOOST_TEST(house.connect(id).has_value());
  house.step(9s);
  auto process = house.start(id, "cat");
  BOOST_REQUIRE(process);
  house.finish(*process);
  house.step(9s);
  sandbox_box<std::vector<sandbox_entry>> box;
  house.engine().list_files(someone(), id, "/", box.handle());
  BOOST_TEST(box.get().has_value());
  house.step(9s);
  BOOST_TEST(((*house.find(id))->state == state::running));
  house.step(1s);
  BOOST_TEST(house.ended(id, sandbox_end::idle));
}

BOOST_AUTO_TEST_CASE(a_process_with_a_timeout_of_its_own_keeps_it_busy) {
  sandbox_fixture house;
  const auto id = house.running(idle_after(10s));
  process_spec sleeps;
  sleeps.command = "sleep 1000";
  sleeps.timeout = 60s;
  auto process = house.start(id, sleeps);
  BOOST_REQUIRE(process);
  house.step(59s);
  BOOST_TEST(((*house.find(id))->state == state::running));
  house.step(1s);
  BOOST_TEST((house.finish(*process).reason == process_reason::timeout));
  BOOST_TEST(house.connect(id).has_value()); // it has heard of that
  house.step(10s);
  BOOST_TEST(house.ended(id, sandbox_end::idle));
}

BOOST_AUTO_TEST_CASE(a_process_does_not_run_out_of_time_while_it_stands_still) {
  sandbox_fixture house;
  const auto id = house.running();
  process_spec waits;
  waits.command = "cat";
  waits.open_input = true;
  waits.timeout = 60s;
  auto process = house.start(id, waits);
  BOOST_REQUIRE(process);
  BOOST_TEST(house.pause(id).has_value());
  house.step(100s);
  BOOST_TEST(house.resume(id).has_value());
  BOOST_TEST(!(*process)->record().ended());
  house.step(59s);
  BOOST_TEST(house.connect(id).has_value());
  BOOST_TEST(!(*process)->record().ended());
  house.step(1s);
  BOOST_TEST((house.finish(*process).reason == process_reason::timeout));
}

BOOST_AUTO_TEST_CASE(a_session_has_one_sandbox_until_it_is_idle) {
  sandbox_fixture house;
  auto first = house.create(of_session("chat-1"));
  BOOST_REQUIRE(first);
  auto again = house.create(of_session("chat-1"));
  BOOST_REQUIRE(again);
  BOOST_TEST(((*again)->id == (*first)->id));
  auto other = house.create(of_session("chat-2"));
  BOOST_TEST(((*other)->id != (*first)->id));
  const auto stranger = someone("org-11111111-1111-4111-8111-111111111111");
  BOOST_TEST(
    ((*house.create(of_session("chat-1"), stranger))->id != (*first)->id));
  BOOST_TEST(house.pause((*first)->id).has_value());
  auto resumed = house.create(of_session("chat-1"));
  BOOST_REQUIRE(resumed);
  BOOST_TEST(((*resumed)->id == (*first)->id));
  BOOST_TEST(((*resumed)->state == state::running));
  BOOST_TEST(house.remove((*first)->id).has_value());
  BOOST_TEST(((*house.create(of_session("chat-1")))->id != (*first)->id));
}

BOOST_AUTO_TEST_CASE(a_session_that_says_nothing_ends) {
  sandbox_rules rules;
  rules.session_idle = 20s;
  sandbox_fixture house{rules};
  const auto id = house.running(of_session("chat-1"));
  house.step(19s);
  BOOST_TEST(house.create(of_session("chat-1")).has_value());
  house.step(19s);
  BOOST_TEST(house.find(id).has_value());
  house.step(1s);
  BOOST_TEST(house.ended(id, sandbox_end::idle));
}

BOOST_AUTO_TEST_CASE(labels_and_clocks_can_be_changed) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.metadata = {{"a", "1"}, {"b", "2"}};
  const auto id = house.running(spec);
  sandbox_change change;
  change.metadata["a"] = "3";
  change.metadata["b"] = std::nullopt;
  change.idle_timeout = 10s;
  change.timeout = 100s;
  auto changed = house.change(id, change);
  BOOST_REQUIRE(changed);
  const std::map<std::string, std::string> wanted{{"a", "3"}};
  BOOST_TEST(((*changed)->metadata == wanted));
  BOOST_TEST((*changed)->timeout.count() == 100'000);
  house.step(10s);
  BOOST_TEST(house.ended(id, sandbox_end::idle));
  BOOST_TEST(
    (house.change(id, change).error().problem == problem::sandbox_ended));
}

BOOST_AUTO_TEST_CASE(its_network_is_another_while_it_lives) {
  sandbox_fixture house;
  const auto id = house.running();
  sandbox_change change;
  change.metadata["a"] = "1";
  change.network = network_policy{network_mode::listed, {"a.test"}};
  auto changed = house.change(id, change);
  BOOST_REQUIRE(changed);
  BOOST_TEST(((*changed)->network == *change.network));
  BOOST_TEST((*changed)->metadata.at("a") == "1");
  BOOST_TEST(house.toy.provider->networks() == 1);
  // What its place refuses changes nothing.
  house.toy.provider->habits.failing_networks = 1;
  change.metadata["a"] = "2";
  change.network = network_policy{network_mode::off, {}};
  auto refused = house.change(id, change);
  BOOST_TEST((refused.error().code == ec::conflict));
  BOOST_TEST(((*house.find(id))->network.mode == network_mode::listed));
  BOOST_TEST((*house.find(id))->metadata.at("a") == "1");
  // Also while it stands still.
  BOOST_TEST(house.pause(id).has_value());
  BOOST_TEST(house.change(id, change).has_value());
  BOOST_TEST(((*house.find(id))->network.mode == network_mode::off));
}

BOOST_AUTO_TEST_CASE(a_place_that_cannot_change_a_network_says_so) {
  sandbox_fixture house;
  house.toy.provider->habits.set_network = false;
  const auto id = house.running();
  sandbox_change change;
  change.network = network_policy{network_mode::off, {}};
  BOOST_TEST(
    (house.change(id, change).error().problem == problem::unsupported_here));
}

BOOST_AUTO_TEST_CASE(too_many_labels_change_nothing) {
  sandbox_fixture house;
  const auto id = house.running();
  sandbox_change change;
  for (int i = 0; i < 65; ++i)
    change.metadata[std::to_string(i)] = "x";
  BOOST_TEST(house.change(id, change).error().fields.at(0).pointer
             == "/metadata");
  BOOST_TEST((*house.find(id))->metadata.empty());
}

BOOST_AUTO_TEST_CASE(events_tell_of_processes_and_of_the_end_ahead_of_it) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.timeout = 100s;
  const auto id = house.running(spec);
  auto process = house.start(id, "true");
  BOOST_REQUIRE(process);
  house.finish(*process);
  house.step(40s);
  using kind = sandbox_event::kind;
  const auto told = [&](kind what) {
    return until([&] {
      const auto all = house.events(id);
      return std::ranges::any_of(
        all, [what](const auto& each) { return each.what == what; });
    });
  };
  BOOST_TEST(told(kind::process_started));
  BOOST_TEST(told(kind::process_ended));
  BOOST_TEST(told(kind::expiring));
  BOOST_TEST(house.remove(id).has_value());
  BOOST_TEST(states_told(house, id).back() == "deleted");
  sandbox_box<sandbox_events_ptr> box;
  house.engine().events(someone(), id, box.handle());
  BOOST_TEST((*box.get())->over());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
