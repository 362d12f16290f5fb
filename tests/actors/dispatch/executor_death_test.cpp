// What becomes of the runs of an executor that dies: the backend is alive.
#include "tests/actors/stepped_engine.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(executor_death)

namespace {

constexpr auto pause_before_the_next = 100ms;

/// One dispatcher, which prefers the first of its executors. The backend holds
/// the runs that are named `held`.
struct world : stepped_engine {
  explicit world(std::uint32_t executors = 2)
      : stepped_engine{scripted_backend::mode::answer, options(executors)} {
    local->hold_when(
      [](const prepared_run& run) { return run.name == "held"; });
  }

  static engine_options options(std::uint32_t executors) {
    engine_options o;
    o.dispatchers = 1;
    o.executors_per_backend = executors;
    o.supervision.first_pause = pause_before_the_next;
    return o;
  }

  /// With its executor, which has not looked at it.
  run_id hand_over(run_answer_box& box) {
    auto request = source_run();
    request.id = run_id::make();
    engine().submit(someone(), request, box.handle(), {});
    settle_without(executor());
    BOOST_REQUIRE(local->started() == 0);
    return request.id;
  }
  /// With its backend, which has not ended it.
  run_id begin(run_answer_box& box) {
    auto request = source_run();
    request.id = run_id::make();
    request.tool_name = "held";
    submit(request, box);
    BOOST_REQUIRE(local->held_ids().size() == 1u);
    return request.id;
  }
};

void check_success(result<std::shared_ptr<const run_result>> answer) {
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->status == run_status::success));
  BOOST_TEST((*answer)->trail.empty());
}

void check_cancelled(result<std::shared_ptr<const run_result>> answer) {
  BOOST_REQUIRE_MESSAGE(answer.has_value(), why(answer));
  BOOST_TEST(((*answer)->reason == exit_reason::cancelled));
}

} // namespace

BOOST_AUTO_TEST_CASE(goes_to_another_one_when_the_backend_never_saw_it) {
  world w;
  run_answer_box box;
  w.hand_over(box);
  w.kill(w.executor());
  check_success(w.now(box));
  BOOST_TEST(!w.executor());
  BOOST_TEST(w.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(waits_for_the_next_one_where_there_is_no_other) {
  world w{1};
  run_answer_box box;
  w.hand_over(box);
  w.kill(w.executor());
  w.settle();
  w.pass(pause_before_the_next - 1ms);
  BOOST_TEST(!box.is_there());
  w.pass(1ms);
  BOOST_TEST(!!w.executor());
  w.pass(10ms); // the dispatcher looks again
  check_success(w.now(box));
  BOOST_TEST(w.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(ends_at_its_deadline_where_no_other_comes) {
  world w{1};
  w.kill(w.executor());
  w.settle();
  auto request = source_run();
  request.deadline = 50ms;
  run_answer_box box;
  w.submit(std::move(request), box);
  w.pass(49ms);
  BOOST_TEST(!box.is_there());
  w.pass(1ms);
  auto answer = w.now(box);
  BOOST_REQUIRE(answer.has_error());
  BOOST_TEST((answer.error().code == ec::exhausted));
  BOOST_TEST(answer.error().text.find("waited for an executor")
             != std::string::npos);
  BOOST_TEST(w.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(goes_on_when_the_backend_has_it) {
  world w;
  run_answer_box box;
  auto id = w.begin(box);
  w.kill(w.executor());
  w.settle();
  BOOST_TEST(!w.executor());
  BOOST_TEST(w.run(source_run()).has_value());
  BOOST_TEST(!box.is_there());
  BOOST_TEST(w.local->release(id));
  check_success(w.now(box));
  BOOST_TEST(w.local->started() == 2);
  BOOST_TEST(w.local->cancels() == 0);
}

BOOST_AUTO_TEST_CASE(is_answered_when_its_end_died_with_the_executor) {
  world w;
  run_answer_box box;
  auto id = w.begin(box);
  w.kill(w.executor());
  BOOST_TEST(w.local->release(id)); // the death is under way
  check_success(w.now(box));
  BOOST_TEST(!w.executor());
}

BOOST_AUTO_TEST_CASE(can_still_be_cancelled) {
  world w;
  run_answer_box box;
  auto id = w.begin(box);
  w.kill(w.executor());
  w.settle();
  BOOST_TEST(!w.executor());
  w.engine().cancel(someone(), id, [](auto) {});
  check_cancelled(w.now(box));
}

BOOST_AUTO_TEST_CASE(dies_cancelled_before_the_backend_saw_it) {
  world w;
  run_answer_box box;
  auto id = w.hand_over(box);
  answer<run_record> noticed;
  w.engine().cancel(someone(), id, noticed.handle());
  w.settle_without(w.executor());
  BOOST_TEST(noticed.is_there());
  w.kill(w.executor());
  check_cancelled(w.now(box));
  BOOST_TEST(w.local->started() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
