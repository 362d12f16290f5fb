#include "tests/runtime/local/warm/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <thread>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(slot_carrier_policy)

BOOST_AUTO_TEST_CASE(keeps_a_warmed_child_ready_while_nothing_runs) {
  auto options = without_armed();
  options.preforked = 1;
  ready_fixture f{options};
  std::set<std::string> drawn;
  for (int i = 0; i < 4; ++i) {
    drawn.insert(
      f.run("import random\ndef f():\n  return random.random()\n", "f")
        .value());
    BOOST_REQUIRE(
      f.serve_until([&] { return f.carrier->counts().preforked == 1; }));
  }
  BOOST_TEST(drawn.size() == 4u);
  BOOST_TEST(f.carrier->counts().preforked_runs == 3u);
  BOOST_TEST(f.makers->prepared == 1u);
}

BOOST_AUTO_TEST_CASE(forks_ahead_while_runs_follow_each_other) {
  if (std::thread::hardware_concurrency() < 2)
    return; // nobody to do it meanwhile
  auto options = without_armed();
  options.prefork = true;
  options.prefork_after
    = std::chrono::seconds{60}; // however slow this machine is
  ready_fixture f{options};
  std::set<std::string> drawn;
  constexpr std::size_t runs = 8;
  for (std::size_t i = 0; i < runs; ++i) {
    drawn.insert(
      f.run("import random\ndef f():\n  return random.random()\n", "f")
        .value());
    // The second slot is made during the second run, or soon after.
    BOOST_REQUIRE(i < 1 || f.serve_until([&] {
      const auto now = f.carrier->counts();
      return now.idle + now.preforked == 2;
    }));
  }
  BOOST_TEST(drawn.size() == runs);
  BOOST_TEST(f.carrier->counts().preforked_runs > 0u);
  BOOST_TEST(f.makers->prepared == 2u);
}

BOOST_AUTO_TEST_CASE(never_makes_more_slots_than_allowed) {
  auto options = without_armed();
  options.max_slots = 3;
  ready_fixture f{options};
  std::vector<std::shared_ptr<flight>> flights;
  for (int i = 0; i < 3; ++i)
    flights.push_back(f.begin(f.make_run("def f():\n  return 1\n", "f", "{}")));
  for (const auto& flight : flights)
    BOOST_TEST(f.finish(flight).value() == "1");
  BOOST_TEST(f.carrier->counts().slots <= 3u);
  // Another organization's run takes the place of the longest idle slot.
  auto other = f.make_run("def f():\n  return 2\n", "f", "{}");
  other.organization = organization_id::make();
  BOOST_TEST(f.finish(f.begin(std::move(other))).value() == "2");
  BOOST_TEST(f.carrier->counts().slots <= 3u);
}

BOOST_AUTO_TEST_CASE(replaces_an_old_interpreter_without_losing_a_run) {
  auto options = without_armed();
  options.zygote_age = std::chrono::milliseconds{200};
  ready_fixture f{options};
  const auto first = f.makers->interpreters().size();
  const auto slow = f.begin(f.make_run(
    "import time\ndef f():\n  time.sleep(1)\n  return 'slow'\n", "f", "{}"));
  BOOST_REQUIRE(
    f.serve_until([&] { return f.makers->interpreters().size() > first; }));
  BOOST_TEST(f.finish(slow).value() == "\"slow\"");
  BOOST_TEST(f.run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(gives_up_an_interpreter_that_makes_no_slots) {
  auto options = without_armed();
  options.make_within = std::chrono::milliseconds{200};
  ready_fixture f{options};
  const auto hung = f.makers->interpreters().back();
  const auto slow = f.begin(f.make_run(
    "import time\ndef f():\n  time.sleep(1)\n  return 'slow'\n", "f", "{}"));
  BOOST_REQUIRE(f.serve_until([&] { return slow->started; }));
  ::kill(hung, SIGSTOP);
  // Nobody else could carry it here: it is told why.
  BOOST_TEST(f.run("def f():\n  return 1\n", "f").ending.start_failure
             == "the interpreter cannot create slots");
  // What runs in a slot of its own is none the worse.
  BOOST_TEST(f.finish(slow).value() == "\"slow\"");
  siginfo_t end{};
  BOOST_TEST(::waitid(P_PID, static_cast<id_t>(hung), &end, WEXITED | WNOWAIT)
             == 0);
  BOOST_TEST(end.si_status == SIGKILL);
  BOOST_REQUIRE(f.serve_until([&] {
    const auto pid = f.carrier->counts().zygote_pid;
    return pid != 0 && pid != hung;
  }));
  BOOST_TEST(f.run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(lets_go_of_slots_that_nobody_uses) {
  auto options = without_armed();
  options.idle_slot = std::chrono::milliseconds{50};
  ready_fixture f{options};
  f.run("def f():\n  return 1\n", "f");
  BOOST_TEST(f.carrier->counts().slots == 1u);
  BOOST_REQUIRE(f.serve_until([&] { return f.carrier->counts().slots == 0; }));
  BOOST_TEST(f.makers->released == 1u);
}

BOOST_AUTO_TEST_CASE(works_without_any_memory_trick) {
  auto options = without_armed();
  options.child_allocator = options.huge_text = options.huge_heap = false;
  options.joined_libraries = options.hot_blocks = false;
  options.gathered_pages = options.ready_pages = false;
  ready_fixture f{options};
  BOOST_TEST(f.run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(ends_everything_when_it_stops) {
  ready_fixture f;
  const auto slow = f.begin(
    f.make_run("import time\ndef f():\n  time.sleep(600)\n", "f", "{}"));
  BOOST_REQUIRE(f.serve_until([&] { return slow->started; }));
  f.carrier->stop();
  const auto s = f.finish(slow);
  BOOST_TEST(s.ending.killed);
  BOOST_TEST(f.carrier->counts().slots == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
