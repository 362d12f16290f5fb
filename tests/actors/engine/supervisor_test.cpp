#include "actors/engine/engine_internals.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(supervisor_suite)

namespace {

using namespace std::chrono_literals;

/// An engine of one executor, and what it reports.
struct watched_engine {
  std::mutex mutex;
  std::vector<std::string> lines;
  engine_fixture f;

  watched_engine() : f{scripted_backend::mode::answer, options()} {}

  engine_options options() {
    engine_options o;
    o.threads = 1;
    o.supervision.first_pause = 1ms;
    o.supervision.longest_pause = 4ms;
    o.supervision.deaths = 3;
    o.report = [this](std::string_view line) {
      std::lock_guard guard{mutex};
      lines.emplace_back(line);
    };
    return o;
  }

  executor_actor executor() {
    auto routes = context_of(*f.host)->routes.load();
    return routes->executors[static_cast<std::size_t>(backend_kind::local)][0];
  }
  ledger_actor ledger() { return context_of(*f.host)->routes.load()->ledger; }
  gateway_actor gate() { return context_of(*f.host)->routes.load()->gate; }

  /// Returns once its successor is there.
  template <class Look>
  void kill(Look look) {
    const auto old = look();
    caf::anon_send_exit(old, caf::exit_reason::kill);
    const auto end = std::chrono::steady_clock::now() + 20s;
    for (auto now = old; !now || now == old; now = look()) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
      std::this_thread::yield();
    }
  }
  void kill_executor() {
    kill([this] { return executor(); });
  }

  engine_health health() {
    answer<engine_health> box;
    f.engine().health(box.handle());
    auto health = box.get();
    BOOST_REQUIRE(health.has_value());
    return *health;
  }

  std::size_t lines_with(const std::string& text) {
    std::lock_guard guard{mutex};
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
  for (int i = 0; i < 4; ++i)
    e.kill_executor();
  BOOST_TEST(e.lines_with("again in 1 ms") == 1u);
  BOOST_TEST(e.lines_with("again in 2 ms") == 1u);
  BOOST_TEST(e.lines_with("again in 4 ms") == 2u); // the longest
  BOOST_TEST(e.f.run(source_run()).has_value());
}

BOOST_AUTO_TEST_CASE(says_which_part_keeps_dying_and_does_not_give_up_on_it) {
  watched_engine e;
  e.kill_executor();
  e.kill_executor();
  BOOST_TEST(e.parts_that_are("failing") == 0u);
  e.kill_executor();
  BOOST_TEST(e.parts_that_are("failing") == 1u);
  BOOST_TEST(e.parts_that_are("up") > 2u);
  BOOST_TEST(e.lines_with("it keeps failing") == 1u);
  BOOST_TEST(e.f.run(source_run()).has_value());
}

BOOST_AUTO_TEST_CASE(calls_a_backend_unready_whose_executors_keep_dying) {
  watched_engine e;
  BOOST_TEST(e.health().ready);
  for (int i = 0; i < 3; ++i)
    e.kill_executor();
  const auto now = e.health();
  BOOST_TEST(!now.ready); // it is the only one
  for (const auto& b : now.backends)
    if (b.kind == backend_kind::local)
      BOOST_TEST(b.reason == "its executors keep failing");
}

BOOST_AUTO_TEST_CASE(is_not_ready_while_a_part_that_all_runs_need_keeps_dying) {
  watched_engine e;
  e.kill([&] { return e.ledger(); });
  BOOST_TEST(e.health().ready);
  for (int i = 0; i < 2; ++i)
    e.kill([&] { return e.ledger(); });
  BOOST_TEST(!e.health().ready);
}

BOOST_AUTO_TEST_CASE(starts_the_gate_again_and_tells_of_it) {
  watched_engine e;
  for (int i = 0; i < 3; ++i)
    e.kill([&] { return e.gate(); });
  auto now = e.health();
  auto gate = std::find_if(now.components.begin(), now.components.end(),
                           [](const auto& c) { return c.first == "gateway"; });
  BOOST_REQUIRE((gate != now.components.end()));
  BOOST_TEST(gate->second == "failing");
}

BOOST_AUTO_TEST_SUITE_END()
