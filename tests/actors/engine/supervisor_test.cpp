#include "tests/actors/stepped_engine.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(supervisor_suite)

namespace {

using namespace std::chrono_literals;

struct reported_lines {
  std::vector<std::string> lines;
};

/// An engine of one executor, and what it reports.
struct watched_engine : reported_lines, stepped_engine {
  watched_engine()
      : stepped_engine{scripted_backend::mode::answer, options(lines)} {}

  static engine_options options(std::vector<std::string>& lines) {
    engine_options o;
    o.threads = 1;
    o.supervision.first_pause = 1s;
    o.supervision.longest_pause = 4s;
    o.supervision.deaths = 3;
    o.supervision.window = 1min;
    o.report = [&lines](std::string_view line) { lines.emplace_back(line); };
    return o;
  }

  ledger_actor ledger() { return routes()->ledger; }
  gateway_actor gate() { return routes()->gate; }

  /// Its successor is there after exactly this time.
  template <class Look>
  void kill_for(std::chrono::seconds pause, Look look) {
    kill(look());
    settle();
    BOOST_TEST(!look());
    pass(pause - 1ns);
    BOOST_TEST(!look());
    pass(1ns);
    BOOST_TEST(!!look());
  }
  void kill_executor_for(std::chrono::seconds pause) {
    kill_for(pause, [this] { return executor(); });
  }

  engine_health health() {
    answer<engine_health> box;
    engine().health(box.handle());
    auto health = now(box);
    BOOST_REQUIRE(health.has_value());
    return *health;
  }

  std::size_t lines_with(const std::string& text) {
    return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
        return line.find(text) != std::string::npos;
      }));
  }

  std::size_t parts_that_are(const std::string& word) {
    const auto now = health();
    return static_cast<std::size_t>(
      std::count_if(now.components.begin(), now.components.end(),
                    [&](const auto& c) { return c.second == word; }));
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(starts_again_what_dies_and_waits_longer_each_time) {
  watched_engine e;
  for (auto pause : {1s, 2s, 4s, 4s}) // the longest
    e.kill_executor_for(pause);
  BOOST_TEST(e.lines_with("restarting it in 1000 ms") == 1u);
  BOOST_TEST(e.lines_with("restarting it in 2000 ms") == 1u);
  BOOST_TEST(e.lines_with("restarting it in 4000 ms") == 2u);
}

BOOST_AUTO_TEST_CASE(starts_quickly_again_what_has_lived_for_a_whole_window) {
  watched_engine e;
  e.kill_executor_for(1s);
  e.kill_executor_for(2s);
  e.pass(1min);
  e.kill_executor_for(4s); // to the second, it has not
  e.pass(1min + 1ns);
  e.kill_executor_for(1s);
}

BOOST_AUTO_TEST_CASE(says_which_part_keeps_dying_and_does_not_give_up_on_it) {
  watched_engine e;
  e.kill_executor_for(1s);
  e.kill_executor_for(2s);
  BOOST_TEST(e.parts_that_are("failing") == 0u);
  e.kill_executor_for(4s);
  BOOST_TEST(e.parts_that_are("failing") == 1u);
  BOOST_TEST(e.parts_that_are("up") > 2u);
  BOOST_TEST(e.lines_with("it keeps failing") == 1u);
  e.pass(1min); // after the last death, and four seconds
  BOOST_TEST(e.parts_that_are("failing") == 0u);
  BOOST_TEST(e.run(source_run()).has_value());
}

BOOST_AUTO_TEST_CASE(calls_a_backend_unready_whose_executors_keep_dying) {
  watched_engine e;
  BOOST_TEST(e.health().ready);
  for (auto pause : {1s, 2s, 4s})
    e.kill_executor_for(pause);
  const auto now = e.health();
  BOOST_TEST(!now.ready); // it is the only one
  for (const auto& b : now.backends)
    if (b.name == backend_kind::local)
      BOOST_TEST(b.reason == "its executors keep failing");
  e.pass(1min - 4s); // since the last death
  BOOST_TEST(e.health().ready);
}

BOOST_AUTO_TEST_CASE(is_not_ready_while_a_part_that_all_runs_need_keeps_dying) {
  watched_engine e;
  auto ledger = [&] { return e.ledger(); };
  e.kill_for(1s, ledger);
  BOOST_TEST(e.health().ready);
  e.kill_for(2s, ledger);
  e.kill_for(4s, ledger);
  BOOST_TEST(!e.health().ready);
}

BOOST_AUTO_TEST_CASE(starts_the_gate_again_and_tells_of_it) {
  watched_engine e;
  for (auto pause : {1s, 2s, 4s})
    e.kill_for(pause, [&] { return e.gate(); });
  auto now = e.health();
  auto gate = std::find_if(now.components.begin(), now.components.end(),
                           [](const auto& c) { return c.first == "gateway"; });
  BOOST_REQUIRE((gate != now.components.end()));
  BOOST_TEST(gate->second == "failing");
}

BOOST_AUTO_TEST_SUITE_END()
