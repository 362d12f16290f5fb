// Which node gets a run, and what becomes of it when that one stops or is sick.
#include "actors/engine/engine_internals.hpp"
#include "tests/actors/troop.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(peer_runs_suite)

namespace {

using mode = scripted_backend::mode;
using run_box = run_answer_box;

engine_options patient() {
  engine_options options;
  options.drain_timeout = std::chrono::seconds{60};
  return options;
}

/// What operators are told.
class heard {
public:
  std::function<void(std::string_view)> ear() {
    return [this](std::string_view line) {
      std::lock_guard guard{mutex_};
      lines_.emplace_back(line);
    };
  }
  bool has(std::string_view part) const {
    std::lock_guard guard{mutex_};
    return std::ranges::any_of(lines_, [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

void expect_success(run_box& box) {
  auto r = box.get();
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->status == run_status::success), (*r)->detail);
}

} // namespace

BOOST_AUTO_TEST_CASE(go_to_another_node_when_one_is_about_to_stop) {
  troop t;
  t.add_worker("leaving", mode::hold, patient());
  t.add_worker("staying", mode::hold);
  t.open_and_meet_all();
  constexpr std::size_t count = 10;
  std::vector<run_box> boxes(2 * count);
  for (std::size_t i = 0; i < count; ++i)
    t.front->engine().submit(someone(), for_peers(), boxes[i].handle(), {});
  auto& leaving = *t.workers[0];
  auto& staying = *t.workers[1];
  BOOST_REQUIRE(leaving.local->wait_for_held(count / 2) == count / 2);
  BOOST_REQUIRE(staying.local->wait_for_held(count / 2) == count / 2);
  leaving.host->drain(std::chrono::steady_clock::now() + soon);
  for (std::size_t i = count; i < 2 * count; ++i)
    t.front->engine().submit(someone(), for_peers(), boxes[i].handle(), {});
  BOOST_REQUIRE(staying.local->wait_for_held(count + count / 2)
                == count + count / 2);
  BOOST_TEST(leaving.local->started() == int{count / 2});
  // It ends when its last answer is there.
  std::thread stop{[&] { leaving.host->stop(); }};
  leaving.local->release_all();
  stop.join();
  staying.local->release_all();
  for (auto& box : boxes)
    expect_success(box);
}

/// Over and over, so that runs are on their way at every moment of the drain.
BOOST_AUTO_TEST_CASE(lose_none_and_refuse_none_while_nodes_stop_under_load) {
  for (int round = 0; round < 10; ++round) {
    troop t;
    t.add_worker("leaving", mode::thread, patient());
    t.add_worker("staying", mode::thread);
    t.open_and_meet_all();
    constexpr int count = 400, at_a_time = 32;
    std::atomic<int> sent{0}, well{0}, answered{0};
    auto all = std::make_shared<std::promise<void>>();
    auto come = all->get_future();
    std::function<void()> next = [&] {
      if (sent++ >= count)
        return;
      auto done = [&, all](result<std::shared_ptr<const run_result>> r) {
        well += r && (*r)->status == run_status::success ? 1 : 0;
        next();
        if (++answered == count)
          all->set_value();
      };
      t.front->engine().submit(someone(), for_peers(), done, {});
    };
    for (int i = 0; i < at_a_time; ++i)
      next();
    while (answered < count / 4)
      std::this_thread::yield();
    t.workers[0]->host->stop();
    BOOST_REQUIRE((come.wait_for(soon) == std::future_status::ready));
    BOOST_REQUIRE(well == count);
  }
}

BOOST_AUTO_TEST_CASE(leave_alone_the_node_that_fails_and_no_other) {
  heard warnings;
  troop t;
  t.breaker.failures = 3;
  t.breaker.pause = t.breaker.longest_pause = std::chrono::hours{1};
  t.of_front.breaker = t.breaker;
  t.of_front.warn = warnings.ear();
  t.add_worker("sick", mode::answer);
  t.add_worker("well", mode::answer);
  t.workers[0]->local->set_script([](auto&, auto&) {
    return run_outcome{error{ec::unavailable, "out of order", {}, {}}, false};
  });
  t.open_and_meet_all();
  constexpr int count = 20;
  for (int i = 0; i < count; ++i) {
    auto r = t.front->run(for_peers());
    BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
    const auto& notes = (*r)->notes;
    BOOST_TEST(std::ranges::any_of(notes,
                                   [](const std::string& note) {
                                     return note.find("out of order")
                                       != std::string::npos;
                                   })
               == (i < 3));
  }
  BOOST_TEST(t.workers[0]->local->started() == 3);
  BOOST_TEST(t.workers[1]->local->started() == count);
  BOOST_TEST(warnings.has("is paused after 3 failures"));
  BOOST_TEST(t.front->engine().metrics().find(
               "troupe_backend_circuit_state{backend=\"peer\",state="
               "\"closed\"} 1")
             != std::string::npos);
  // By node, so that one sees which it is.
  const auto page = t.front->engine().metrics();
  const auto sick = "{node=\"" + t.others->nodes()[0].name + "\"} ";
  const auto well = "{node=\"" + t.others->nodes()[1].name + "\"} ";
  for (const auto& line :
       {"troupe_node_ready" + sick + "0\n", "troupe_node_ready" + well + "1\n",
        "troupe_node_failures_total" + sick + "3\n",
        "troupe_node_runs_total" + well + "20\n"})
    BOOST_TEST(page.find(line) != std::string::npos, line);
  // The last one fails as well: now it says of each why.
  t.workers[1]->local->set_script([](auto&, auto&) {
    return run_outcome{error{ec::unavailable, "broken", {}, {}}, false};
  });
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(!t.front->run(for_peers()).has_value());
  auto refused = t.front->run(for_peers());
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(
    refused.error().text.find("paused after 3 failures, next try in 3600 s")
      != std::string::npos,
    refused.error().text);
}

BOOST_AUTO_TEST_CASE(come_back_to_a_node_that_is_well_again) {
  troop t;
  t.breaker.failures = 1;
  t.breaker.pause = std::chrono::milliseconds{0};
  t.add_worker("sick", mode::answer);
  t.add_worker("well", mode::answer);
  t.workers[0]->local->set_script([](auto&, auto&) {
    return run_outcome{error{ec::unavailable, "out of order", {}, {}}, false};
  });
  t.open_and_meet_all();
  BOOST_REQUIRE(t.front->run(for_peers()).has_value());
  t.workers[0]->local->set_script({});
  const auto before = t.workers[0]->local->started();
  BOOST_REQUIRE(t.front->run(for_peers()).has_value());
  BOOST_TEST(t.workers[0]->local->started() == before + 1);
}

BOOST_AUTO_TEST_CASE(go_to_another_node_when_one_is_full_which_is_no_failure) {
  heard warnings;
  troop t;
  t.breaker.failures = 1;
  t.of_front.warn = warnings.ear();
  engine_options small;
  small.admission.running = 1;
  small.admission.waiting = 0;
  t.add_worker("full", mode::hold, std::move(small));
  t.add_worker("roomy", mode::answer);
  t.open_and_meet_all();
  run_box own; // of somebody who is there already
  t.workers[0]->engine().submit(someone(), source_run(), own.handle(), {});
  BOOST_REQUIRE(t.workers[0]->local->wait_for_held(1) == 1u);
  for (int i = 0; i < 5; ++i) {
    run_box box;
    t.front->engine().submit(someone(), for_peers(), box.handle(), {});
    expect_success(box);
  }
  BOOST_TEST(!warnings.has("paused after"));
  t.workers[0]->local->release_all();
  expect_success(own);
}

namespace {

/// A run whose next line comes when the reader has seen the one before.
struct read_line_by_line {
  static constexpr int lines = 5;
  std::mutex mutex;
  std::condition_variable changed;
  std::string seen, order;

  run_outcome print(const prepared_run& run, run_observer& o) {
    o.started();
    std::string all;
    for (int i = 0; i < lines; ++i) {
      const auto line = "line " + std::to_string(i) + "\xff\n";
      all += line;
      o.output(i % 2 ? output_stream::err : output_stream::out, line);
      std::unique_lock lock{mutex};
      if (!changed.wait_for(lock, soon, [&] { return seen == all; }))
        break;
    }
    o.output(output_stream::out, "last\n");
    auto r = scripted_backend::answer_for(run);
    r.stdout_text = "the result has it once more";
    return run_outcome{std::move(r), true};
  }
  bool hear(const run_event& event) {
    std::lock_guard guard{mutex};
    if (event.kind == run_event_kind::started)
      order += "s";
    if (event.kind == run_event_kind::out
        || event.kind == run_event_kind::err) {
      seen += event.data;
      order += order.back() == 'o' ? "" : "o";
    }
    changed.notify_all();
    return true;
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(tell_what_they_print_while_they_go_on_elsewhere) {
  read_line_by_line reading;
  troop t;
  t.add_worker("printer", mode::thread);
  t.workers[0]->local->set_script(
    [&](auto& run, auto& o) { return reading.print(run, o); });
  t.open_and_meet_all();
  run_box box;
  t.front->engine().submit(
    someone(), for_peers(), box.handle(),
    [&](const run_event& event) { return reading.hear(event); });
  expect_success(box);
  BOOST_TEST(reading.seen
             == "line 0\xff\nline 1\xff\nline 2\xff\nline 3\xff\n"
                "line 4\xff\nlast\n");
  BOOST_TEST(reading.order == "so");
}

/// As after a cable that was cut: what CAF sees is that the gate is gone.
BOOST_AUTO_TEST_CASE(tell_operators_of_a_link_that_is_lost) {
  heard warnings, lines;
  troop t;
  t.of_front.warn = warnings.ear();
  t.of_front.report = lines.ear();
  t.add_worker("mortal", mode::hold);
  t.open_and_meet_all();
  run_box box;
  t.front->engine().submit(someone(), for_peers(), box.handle(), {});
  BOOST_REQUIRE(t.workers[0]->local->wait_for_held(1) == 1u);
  caf::anon_send_exit(context_of(*t.workers[0]->host)->routes.load()->gate,
                      caf::exit_reason::kill);
  auto r = box.get();
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->reason == exit_reason::lost));
  BOOST_TEST(warnings.has(
    "the link was lost; 1 run of this node was in progress there"));
  BOOST_TEST(lines.has("is reached"));
}

BOOST_AUTO_TEST_SUITE_END()
