// What becomes of the runs of an executor that dies: the backend is alive.
#include "actors/engine/engine_internals.hpp"
#include "tests/support/engine/engine_fixture.hpp"

#include <future>
#include <thread>

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(executor_death)

namespace {

const std::string held = R"({"x":"held"})";
const std::string stuck = R"({"x":"stuck"})";

/// One dispatcher, which prefers the first of two executors. Runs with the
/// arguments `held` are held by the backend, those with `stuck` hold the
/// executor itself until `go`.
struct world {
  engine_fixture f;
  std::promise<void> inside, go;
  run_answer_box stuck_box;

  explicit world(std::uint32_t executors = 2)
      : f{scripted_backend::mode::answer, options(executors)} {
    f.local->hold_when(
      [](const prepared_run& run) { return run.args_json == held; });
    f.local->set_script([this](const prepared_run& run, run_observer& o) {
      o.started();
      if (run.args_json == stuck) {
        inside.set_value();
        go.get_future().wait();
      }
      return run_outcome{scripted_backend::answer_for(run), true};
    });
  }

  static engine_options options(std::uint32_t executors) {
    engine_options o;
    o.threads = 3;
    o.dispatchers = 1;
    o.executors_per_backend = executors;
    o.supervision.first_pause = 1ms;
    return o;
  }

  executor_actor first() {
    auto routes = context_of(*f.host)->routes.load();
    return routes->executors[static_cast<std::size_t>(backend_kind::local)][0];
  }

  run_id submit(const std::string& args, run_answer_box& box) {
    auto request = source_run(args);
    request.id = run_id::make();
    auto id = request.id;
    f.engine().submit(someone(), std::move(request), box.handle(), {});
    return id;
  }
  void block() {
    submit(stuck, stuck_box);
    inside.get_future().wait();
  }
  /// What was submitted before is with its executor by then.
  void wait_for_dispatcher() {
    answer<explanation> told;
    f.engine().explain(someone(), source_run(), told.handle());
    BOOST_REQUIRE(told.get().has_value());
  }
  /// Before anything that waits in its mailbox.
  void kill() {
    const auto victim = caf::actor_cast<caf::actor>(first());
    caf::anon_send<caf::message_priority::high>(
      victim, caf::exit_msg{victim.address(), caf::exit_reason::kill});
  }
  void wait_for_death_of(const executor_actor& old) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (first() == old) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
      std::this_thread::yield();
    }
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(goes_to_another_one_when_the_backend_never_saw_it) {
  world w;
  w.block();
  run_answer_box waiting;
  w.submit("{}", waiting);
  w.wait_for_dispatcher();
  w.kill();
  w.go.set_value();
  auto answer = waiting.get();
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->status == run_status::success));
  BOOST_TEST((*answer)->trail.empty());
  BOOST_TEST(w.stuck_box.get().has_value());
  BOOST_TEST(w.f.local->started() == 2);
}

BOOST_AUTO_TEST_CASE(waits_for_the_next_one_where_there_is_no_other) {
  world w{1};
  w.block();
  run_answer_box waiting;
  w.submit("{}", waiting);
  w.wait_for_dispatcher();
  w.kill();
  w.go.set_value();
  auto answer = waiting.get();
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->status == run_status::success));
  BOOST_TEST(w.f.local->started() == 2);
}

BOOST_AUTO_TEST_CASE(ends_at_its_deadline_where_no_other_comes) {
  auto options = world::options(1);
  options.supervision.first_pause = 60s;
  engine_fixture f{scripted_backend::mode::answer, std::move(options)};
  auto executors = [&] {
    return context_of(*f.host)
      ->routes.load()
      ->executors[static_cast<std::size_t>(backend_kind::local)];
  };
  caf::anon_send_exit(executors()[0], caf::exit_reason::kill);
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (executors()[0])
    BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
  auto request = source_run();
  request.deadline = 50ms;
  auto answer = f.run(std::move(request));
  BOOST_REQUIRE(answer.has_error());
  BOOST_TEST((answer.error().code == ec::exhausted));
  BOOST_TEST(answer.error().text.find("waited for an executor")
             != std::string::npos);
  BOOST_TEST(f.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(goes_on_when_the_backend_has_it) {
  world w;
  run_answer_box box;
  auto id = w.submit(held, box);
  BOOST_REQUIRE(w.f.local->wait_for_held(1) == 1u);
  const auto old = w.first();
  w.kill();
  w.wait_for_death_of(old);
  BOOST_TEST(w.f.run(source_run()).has_value());
  BOOST_TEST(!box.is_there());
  BOOST_TEST(w.f.local->release(id));
  auto answer = box.get();
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->status == run_status::success));
  BOOST_TEST(w.f.local->started() == 2);
  BOOST_TEST(w.f.local->cancels() == 0);
}

BOOST_AUTO_TEST_CASE(is_answered_when_its_end_died_with_the_executor) {
  world w;
  run_answer_box box;
  auto id = w.submit(held, box);
  BOOST_REQUIRE(w.f.local->wait_for_held(1) == 1u);
  w.block();
  w.kill();
  BOOST_TEST(w.f.local->release(id)); // its letter is behind the death
  w.go.set_value();
  auto answer = box.get();
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->status == run_status::success));
  BOOST_TEST(w.stuck_box.get().has_value());
}

BOOST_AUTO_TEST_CASE(can_still_be_cancelled) {
  world w;
  run_answer_box box;
  auto id = w.submit(held, box);
  BOOST_REQUIRE(w.f.local->wait_for_held(1) == 1u);
  const auto old = w.first();
  w.kill();
  w.wait_for_death_of(old);
  w.f.engine().cancel(someone(), id, [](auto) {});
  auto answer = box.get();
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->reason == exit_reason::cancelled));
}

BOOST_AUTO_TEST_CASE(dies_cancelled_before_the_backend_saw_it) {
  world w;
  w.block();
  run_answer_box waiting;
  auto id = w.submit("{}", waiting);
  w.wait_for_dispatcher();
  answer<run_record> noticed;
  w.f.engine().cancel(someone(), id, noticed.handle());
  BOOST_TEST(noticed.get().has_value());
  w.kill();
  w.go.set_value();
  auto answer = waiting.get();
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->reason == exit_reason::cancelled));
  BOOST_TEST(w.f.local->started() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
