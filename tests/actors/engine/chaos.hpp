#pragma once

#include "actors/engine/engine_internals.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <malloc.h>

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
      if (answer && (*answer)->status == run_status::success)
        ++successes;
      count(i);
    };
  }
  auto events_of(std::size_t i) {
    return [this, i](const run_event& event) {
      if (event.kind == run_event_kind::end)
        ++ends[i];
      return true;
    };
  }
  /// The handler of a request that goes on without us: it is answered when it
  /// was accepted, and its end is seen by whoever looks then.
  auto acceptance_of(std::size_t i, engine& e, const caller& who,
                     const run_id& id) {
    return [this, i, &e, who, id](const result<run_record>& accepted) {
      if (accepted)
        e.subscribe(who, id, 0, events_of(i), [this, i](const auto& seen) {
          ends[i] += seen ? 0 : 1; // nothing is left to be seen
        });
      else
        ++ends[i];
      count(i);
    };
  }
  auto change_of() {
    ++changes_asked;
    return [this](const result<change_reply>&) { ++changes_answered; };
  }

  void count(std::size_t i) {
    ++answers[i];
    const auto n = ++done;
    done.notify_all();
    if (n == answers.size())
      all_done.set_value();
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
    BOOST_TEST(changes_answered == changes_asked);
  }

  std::vector<std::atomic<int>> answers;
  std::vector<std::atomic<int>> ends;
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> successes{0};
  std::atomic<int> changes_asked{0};
  std::atomic<int> changes_answered{0};
  std::promise<void> all_done;
};

/// One of those that are started again, without a chance to say good-bye, as a
/// bug would do it.
inline void kill_an_actor(engine_host& host, std::mt19937& random) {
  auto routes = context_of(host)->routes.load();
  std::vector<caf::actor> victims;
  auto add = [&](const auto& handle) {
    if (handle)
      victims.push_back(caf::actor_cast<caf::actor>(handle));
  };
  for (const auto& line : routes->executors)
    for (const auto& e : line)
      add(e);
  for (const auto& d : routes->dispatchers)
    add(d);
  add(routes->credential);
  add(routes->config);
  add(routes->ledger);
  add(routes->gate);
  if (!victims.empty())
    caf::anon_send_exit(victims[random() % victims.size()],
                        caf::exit_reason::kill);
}

/// Requests of two organizations, some of which do not wait for the answer,
/// with cancels, changes of the configuration and deaths in between.
class chaos_traffic {
public:
  chaos_traffic(engine_host& host, chaos_tally& tally, std::mt19937& random)
      : host_{host}, tally_{tally}, random_{random} {}

  void submit(run_request request) {
    const auto i = ids_.size();
    const auto who = someone(random_() % 2 ? "" : other);
    request.id = run_id::make();
    request.idempotent = random_() % 2 == 0;
    request.priority = static_cast<std::int32_t>(random_() % 5);
    if (random_() % 10 == 0)
      request.idempotency_key = "key-" + std::to_string(random_() % 50);
    ids_.push_back(request.id);
    auto& e = host_.engine();
    if (random_() % 8 == 0)
      e.submit_detached(who, request,
                        tally_.acceptance_of(i, e, who, request.id));
    else
      e.submit(who, request, tally_.answer_of(i), tally_.events_of(i));
    if (random_() % 4 == 0)
      e.cancel(who, ids_[random_() % ids_.size()], [](auto) {});
    if (random_() % 50 == 0)
      e.change(who, default_config{}, tally_.change_of());
    if (random_() % 100 == 0)
      kill_an_actor(host_, random_);
  }

  /// Those that nobody would end before their limits.
  void cancel_all() {
    for (const auto& id : ids_)
      for (const auto& who : {someone(), someone(other)})
        host_.engine().cancel(who, id, [](auto) {});
  }

private:
  static constexpr auto other = "org-11111111-1111-4111-8111-111111111111";

  engine_host& host_;
  chaos_tally& tally_;
  std::mt19937& random_;
  std::vector<run_id> ids_;
};

/// Bytes that the heap has given out.
inline std::size_t heap_in_use() {
  return ::mallinfo2().uordblks;
}

inline double metric_of(const engine& e, const std::string& name) {
  auto text = e.metrics();
  auto at = text.find("\n" + name + " ");
  BOOST_REQUIRE(at != std::string::npos);
  return std::atof(text.c_str() + at + name.size() + 2);
}

inline void check_counters_are_zero(const engine& e) {
  BOOST_TEST(metric_of(e, "troupe_runs_running") == 0);
  BOOST_TEST(metric_of(e, "troupe_runs_queued") == 0);
  BOOST_TEST(metric_of(e, "troupe_requests_pending") == 0);
}

} // namespace troupe::test
