#include "runtime/engine/sandbox_contexts.hpp"
#include "tests/support/sandboxes/sandbox_fixture.hpp"

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_contexts_of_the_engine)

struct contexts_fixture : sandbox_fixture {
  explicit contexts_fixture(sandbox_rules rules = {})
      : sandbox_fixture{rules} {}

  sandbox_contexts& contexts() { return *engine().contexts(); }

  sandbox_result<sandbox_context_ptr> create(context_spec what = {}) {
    sandbox_box<sandbox_context_ptr> box;
    contexts().create(someone(), id, std::move(what), box.handle());
    return box.get();
  }
  sandbox_result<sandbox_cell_ptr> begin(const std::string& code,
                                         std::string context = {},
                                         std::chrono::milliseconds time = 0ms) {
    sandbox_box<sandbox_cell_ptr> box;
    contexts().run(someone(), id, {std::move(context)}, {code, time},
                   box.handle());
    return box.get();
  }
  cell_record finish(const sandbox_cell_ptr& cell) {
    auto over = std::make_shared<std::promise<void>>();
    cell->when_ended([over] { over->set_value(); });
    BOOST_REQUIRE(
      (over->get_future().wait_for(20s) == std::future_status::ready));
    return cell->record();
  }
  cell_record run(const std::string& code, std::string context = {}) {
    auto cell = begin(code, std::move(context));
    BOOST_REQUIRE_MESSAGE(cell, (cell ? "" : cell.error().text));
    return finish(*cell);
  }
  /// What the value of a cell reads like.
  std::string value(const std::string& code, std::string context = {}) {
    auto cell = begin(code, std::move(context));
    BOOST_REQUIRE_MESSAGE(cell, (cell ? "" : cell.error().text));
    finish(*cell);
    const auto told = (*cell)->event(0);
    return told ? told->event->data.at(0).second : "nothing";
  }
  std::size_t count() {
    sandbox_box<std::vector<sandbox_context_ptr>> box;
    contexts().list(someone(), id, box.handle());
    return box.get()->size();
  }
  bool runs(const sandbox_cell_ptr& cell) {
    return until([&] { return cell->record().status == cell_status::running; });
  }

  /// Clocks are stepped until something is seen: that must not be its end.
  static sandbox_spec for_a_day() {
    sandbox_spec what;
    what.timeout = 24h;
    return what;
  }
  const sandbox_id id = running(for_a_day());
};

BOOST_FIXTURE_TEST_CASE(the_default_one_is_made_by_its_first_cell_and_keeps,
                        contexts_fixture) {
  BOOST_TEST(count() == 0u);
  BOOST_TEST((run("set x").status == cell_status::ok));
  BOOST_TEST(value("get") == "x");
  BOOST_TEST(count() == 1u);
}

BOOST_FIXTURE_TEST_CASE(two_contexts_share_nothing, contexts_fixture) {
  auto one = create(), other = create();
  BOOST_REQUIRE(one);
  BOOST_REQUIRE(other);
  run("set 1", (*one)->record().id);
  run("set 2", (*other)->record().id);
  BOOST_TEST(value("get", (*one)->record().id) == "1");
  BOOST_TEST(value("get", (*other)->record().id) == "2");
}

BOOST_FIXTURE_TEST_CASE(cells_wait_for_each_other_and_others_do_not,
                        contexts_fixture) {
  auto first = begin("wait");
  auto second = begin("say later");
  BOOST_REQUIRE(first);
  BOOST_REQUIRE(second);
  BOOST_TEST(runs(*first));
  auto other = create();
  BOOST_REQUIRE(other);
  BOOST_TEST((run("set 1", (*other)->record().id).status == cell_status::ok));
  BOOST_TEST(((*second)->record().status == cell_status::queued));
  sandbox_box<sandbox_context_ptr> found;
  contexts().find(someone(), id, (*first)->record().context, found.handle());
  auto context = found.get();
  BOOST_REQUIRE(context);
  sandbox_box<bool> interrupted;
  (*context)->interrupt(interrupted.handle());
  BOOST_TEST(interrupted.get().value());
  BOOST_TEST((finish(*first).status == cell_status::interrupted));
  BOOST_TEST((finish(*second).status == cell_status::ok));
}

BOOST_AUTO_TEST_CASE(the_queue_has_a_bound) {
  sandbox_rules rules;
  rules.cell_queue = 2;
  contexts_fixture house{rules};
  auto first = house.begin("wait");
  BOOST_REQUIRE(first);
  BOOST_TEST(house.runs(*first));
  BOOST_TEST(house.begin("get").has_value());
  BOOST_TEST(house.begin("get").has_value());
  auto refused = house.begin("get");
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().problem == problem::quota));
}

BOOST_AUTO_TEST_CASE(a_sandbox_has_so_many_contexts_and_no_more) {
  sandbox_rules rules;
  rules.contexts = 2;
  contexts_fixture house{rules};
  auto one = house.create();
  BOOST_REQUIRE(one);
  BOOST_TEST(house.create().has_value());
  auto refused = house.create();
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().problem == problem::quota));
  sandbox_box<void> gone;
  house.contexts().remove(someone(), house.id, (*one)->record().id,
                          gone.handle());
  BOOST_TEST(gone.get().has_value());
  BOOST_TEST(house.create().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_cell_over_its_time_is_interrupted_and_its_state_kept,
                        contexts_fixture) {
  run("set x");
  auto cell = begin("wait", {}, 1s);
  BOOST_REQUIRE(cell);
  BOOST_TEST(runs(*cell));
  *clock += 1'000;
  const auto end = finish(*cell);
  BOOST_TEST((end.status == cell_status::timeout));
  BOOST_TEST(!end.state_lost);
  BOOST_TEST(value("get") == "x");
}

BOOST_FIXTURE_TEST_CASE(one_that_does_not_stop_is_killed_and_begun_afresh,
                        contexts_fixture) {
  run("set x");
  auto cell = begin("stubborn", {}, 1s);
  auto behind = begin("get");
  BOOST_REQUIRE(cell);
  BOOST_REQUIRE(behind);
  BOOST_TEST(runs(*cell));
  BOOST_TEST(until([&] { // each step of the clock is seen
    *clock += 500;
    return (*cell)->record().ended();
  }));
  const auto end = finish(*cell);
  BOOST_TEST((end.status == cell_status::timeout));
  BOOST_TEST(end.state_lost);
  // What stood behind it was meant for what is lost.
  BOOST_TEST((finish(*behind).status == cell_status::lost));
  BOOST_TEST(value("get").empty());
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_says_when_it_has_not_worked,
                        contexts_fixture) {
  auto context = create();
  BOOST_REQUIRE(context);
  auto cell = begin("stubborn", (*context)->record().id);
  BOOST_REQUIRE(cell);
  BOOST_TEST(runs(*cell));
  sandbox_box<bool> interrupted;
  (*context)->interrupt(interrupted.handle());
  BOOST_TEST(until([&] {
    *clock += 500;
    return interrupted.is_there();
  }));
  BOOST_TEST(!interrupted.get().value());
  sandbox_box<void> restarted;
  (*context)->restart(restarted.handle());
  BOOST_TEST(restarted.get().has_value());
  const auto end = finish(*cell);
  BOOST_TEST((end.status == cell_status::lost));
  BOOST_TEST((run("set 1", (*context)->record().id).status == cell_status::ok));
}

BOOST_FIXTURE_TEST_CASE(an_interpreter_that_ends_is_lost_until_restarted,
                        contexts_fixture) {
  auto context = create();
  BOOST_REQUIRE(context);
  const auto name = (*context)->record().id;
  run("set x", name);
  const auto end = run("exit", name);
  BOOST_TEST((end.status == cell_status::lost));
  BOOST_TEST(end.state_lost);
  BOOST_TEST(end.detail.find("exit code 3") != end.detail.npos);
  auto refused = begin("get", name);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().problem == problem::context_lost));
  sandbox_box<void> restarted;
  (*context)->restart(restarted.handle());
  const auto anew = restarted.get();
  BOOST_TEST(anew.has_value(), anew.error().text);
  BOOST_TEST(value("get", name).empty());
}

BOOST_FIXTURE_TEST_CASE(one_that_restarts_by_itself_says_so_to_its_next_cell,
                        contexts_fixture) {
  context_spec what;
  what.auto_restart = true;
  auto context = create(what);
  BOOST_REQUIRE(context);
  for (const auto& name : {(*context)->record().id, std::string{}}) {
    run("exit", name);
    const auto next = run("set 1", name);
    BOOST_TEST((next.status == cell_status::ok));
    BOOST_TEST(next.state_lost);
    BOOST_TEST(next.detail.find("afresh") != next.detail.npos);
    BOOST_TEST(!run("get", name).state_lost);
  }
}

BOOST_FIXTURE_TEST_CASE(one_that_cannot_start_is_not_kept, contexts_fixture) {
  toy.provider->habits.failing_kernels = 1;
  auto refused = create();
  BOOST_REQUIRE(!refused);
  BOOST_TEST(until([&] { return count() == 0u; }));
  BOOST_TEST(create().has_value());
}

BOOST_FIXTURE_TEST_CASE(cells_end_with_their_sandbox, contexts_fixture) {
  auto cell = begin("wait");
  auto behind = begin("get");
  BOOST_REQUIRE(cell);
  BOOST_REQUIRE(behind);
  BOOST_TEST(runs(*cell));
  BOOST_TEST(remove(id).has_value());
  BOOST_TEST((finish(*cell).status == cell_status::lost));
  BOOST_TEST((finish(*behind).status == cell_status::lost));
  BOOST_TEST(!begin("get"));
}

BOOST_FIXTURE_TEST_CASE(output_comes_before_the_value_behind_it,
                        contexts_fixture) {
  auto cell = begin("say hello");
  BOOST_REQUIRE(cell);
  BOOST_TEST(finish(*cell).stdout_bytes == 5u);
  BOOST_TEST((*cell)->read(output_stream::out, 0, 100).bytes == "hello");
}

BOOST_FIXTURE_TEST_CASE(another_organization_finds_none, contexts_fixture) {
  caller other = someone();
  other.organization
    = organization_id{"org-11111111-1111-4111-8111-111111111111"};
  sandbox_box<sandbox_cell_ptr> box;
  contexts().run(other, id, {}, {"get"}, box.handle());
  auto refused = box.get();
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(a_place_without_them_says_so) {
  contexts_fixture house;
  house.toy.provider->habits.contexts = false;
  auto refused = house.begin("get");
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().problem == problem::unsupported_here));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
