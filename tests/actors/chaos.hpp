#pragma once

#include "actors/engine_internals.hpp"
#include "tests/support/engine_fixture.hpp"

#include <atomic>
#include <cstdlib>
#include <future>
#include <random>
#include <string>
#include <vector>

namespace troupe::test {

inline std::size_t chaos_number(const char* name, std::size_t otherwise) {
  const char* given = std::getenv(name);
  return given ? std::strtoul(given, nullptr, 10) : otherwise;
}

inline unsigned chaos_seed() {
  return static_cast<unsigned>(chaos_number("TROUPE_CHAOS_SEED", 20261118));
}

/// Who got how many answers and ends.
struct chaos_tally {
  explicit chaos_tally(std::size_t count) : answers(count), ends(count) {}

  /// The handler and the sink of one request.
  auto answer_of(std::size_t i) {
    return [this, i](const result<std::shared_ptr<const run_result>>& answer) {
      ++answers[i];
      if (answer && (*answer)->status == run_status::success)
        ++successes;
      const auto n = ++done;
      done.notify_all();
      if (n == answers.size())
        all_done.set_value();
    };
  }
  auto events_of(std::size_t i) {
    return [this, i](const run_event& event) {
      if (event.kind == run_event_kind::end)
        ++ends[i];
      return true;
    };
  }
  void wait(std::chrono::seconds limit) {
    BOOST_REQUIRE(
      (all_done.get_future().wait_for(limit) == std::future_status::ready));
  }
  void check() const {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      BOOST_REQUIRE(answers[i] == 1);
      BOOST_REQUIRE(ends[i] == 1);
    }
  }

  std::vector<std::atomic<int>> answers;
  std::vector<std::atomic<int>> ends;
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> successes{0};
  std::promise<void> all_done;
};

/// An executor, a dispatcher or the credential actor, without a chance to say
/// good-bye, as a bug would do it.
inline void kill_an_actor(engine_host& host, std::mt19937& random) {
  auto routes = context_of(host)->routes.load();
  std::vector<caf::actor> victims;
  for (const auto& line : routes->executors)
    for (const auto& e : line)
      if (e)
        victims.push_back(caf::actor_cast<caf::actor>(e));
  for (const auto& d : routes->dispatchers)
    if (d)
      victims.push_back(caf::actor_cast<caf::actor>(d));
  if (routes->credential)
    victims.push_back(caf::actor_cast<caf::actor>(routes->credential));
  if (!victims.empty())
    caf::anon_send_exit(victims[random() % victims.size()],
                        caf::exit_reason::kill);
}

inline double metric_of(const engine& e, const std::string& name) {
  auto text = e.metrics();
  auto at = text.find("\n" + name + " ");
  BOOST_REQUIRE(at != std::string::npos);
  return std::atof(text.c_str() + at + name.size() + 2);
}

inline void check_counters_are_zero(const engine& e) {
  BOOST_TEST(metric_of(e, "troupe_runs_running") == 0);
  BOOST_TEST(metric_of(e, "troupe_runs_waiting") == 0);
  BOOST_TEST(metric_of(e, "troupe_requests_pending") == 0);
}

} // namespace troupe::test
