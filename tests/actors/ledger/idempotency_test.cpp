#include "tests/actors/stepped_engine.hpp"
#include "tests/support/engine/forwarding_journal.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(idempotency_suite)

namespace {

using mode = scripted_backend::mode;

const std::string other_org = "org-11111111-1111-4111-8111-111111111111";

run_outcome unavailable(bool may_have_started) {
  return {error{ec::unavailable, "the provider is down", {}, {}},
          may_have_started};
}

run_request keyed_run(std::string args = "{}") {
  auto request = source_run(std::move(args));
  request.id = run_id::make();
  request.idempotency_key = "once";
  return request;
}

std::size_t records(engine_fixture& f) {
  answer<page<run_record>> box;
  f.engine().list_runs(someone(), "", 10, box.handle());
  return box.get()->items.size();
}

std::size_t audit_lines(engine_fixture& f) {
  answer<page<audit_entry>> box;
  f.engine().list_audit(someone(), 0, 10, box.handle());
  return box.get()->items.size();
}

constexpr std::chrono::milliseconds pause_before_the_next{100};

engine_options quickly_mended(engine_options options = {}) {
  options.supervision.first_pause = pause_before_the_next;
  return options;
}

void kill_the_dispatchers(stepped_engine& f) {
  for (const auto& d : f.routes()->dispatchers)
    f.kill(d);
  f.settle();
  for (const auto& d : f.routes()->dispatchers)
    BOOST_TEST(!d);
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_the_same_key_with_the_same_answer) {
  engine_fixture f;
  auto request = source_run(R"({"n":1})");
  request.idempotency_key = "once";
  auto first = f.run(request);
  auto second = f.run(request);
  BOOST_REQUIRE(first.has_value());
  BOOST_REQUIRE_MESSAGE(second.has_value(), why(second));
  BOOST_TEST((*second)->value_json == (*first)->value_json);
  BOOST_TEST(f.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(refuses_a_key_for_another_request) {
  engine_fixture f;
  auto request = source_run(R"({"n":1})");
  request.idempotency_key = "once";
  BOOST_REQUIRE(f.run(request).has_value());
  request.args_json = R"({"n":2})";
  auto second = f.run(request);
  BOOST_REQUIRE(!second.has_value());
  BOOST_TEST((second.error().code == ec::conflict));
  auto elsewhere = f.run(request, someone(other_org));
  BOOST_TEST(elsewhere.has_value());
}

BOOST_AUTO_TEST_CASE(says_that_a_key_is_still_running) {
  engine_fixture f{mode::hold};
  auto request = source_run();
  request.idempotency_key = "once";
  run_answer_box first;
  f.engine().submit(someone(), request, first.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  auto second = f.run(request);
  BOOST_REQUIRE(!second.has_value());
  BOOST_TEST((second.error().code == ec::conflict));
  BOOST_TEST(second.error().text.find("still running") != std::string::npos);
  f.local->release_all();
  BOOST_TEST(first.get().has_value());
  BOOST_TEST(f.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(gives_a_key_back_when_nothing_ran) {
  engine_fixture f;
  f.local->set_script([](auto&, auto&) { return unavailable(false); });
  auto request = source_run();
  request.idempotency_key = "once";
  BOOST_REQUIRE(!f.run(request).has_value());
  f.local->set_script({});
  BOOST_TEST(f.run(request).has_value());
}

// -- replays ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(replays_the_stored_answer_as_it_was) {
  engine_fixture f;
  f.local->set_script([](const prepared_run& run, run_observer& o) {
    o.started();
    auto r = scripted_backend::answer_for(run);
    r.notes.emplace_back("said once");
    r.stages.push_back({"run", std::chrono::microseconds{1'234}});
    return run_outcome{std::move(r), true};
  });
  auto request = keyed_run(R"({"n":1})");
  auto first = f.run(request);
  BOOST_REQUIRE_MESSAGE(first.has_value(), why(first));
  BOOST_TEST(!(*first)->replayed);
  auto again = keyed_run(R"({"n":1})");
  auto second = f.run(again);
  BOOST_REQUIRE_MESSAGE(second.has_value(), why(second));
  BOOST_TEST((*second)->replayed);
  BOOST_TEST((*second)->id.str() == request.id.str());
  BOOST_TEST(((*second)->stages == (*first)->stages));
  BOOST_TEST(((*second)->trail == (*first)->trail));
  BOOST_TEST(((*second)->notes == (*first)->notes));
  BOOST_TEST(((*second)->backend == (*first)->backend));
  BOOST_TEST((*second)->fingerprint == (*first)->fingerprint);
  BOOST_TEST((*second)->value_json == (*first)->value_json);
  // It was no run.
  BOOST_TEST(records(f) == 1u);
  BOOST_TEST(audit_lines(f) == 1u);
  answer<run_record> found;
  f.engine().find_run(someone(), again.id, found.handle());
  BOOST_TEST(!found.get().has_value());
  BOOST_TEST(
    f.engine().metrics().find("troupe_runs_total{outcome=\"success\"} 1\n")
    != std::string::npos);
}

BOOST_AUTO_TEST_CASE(accepts_a_detached_run_again_as_the_one_of_before) {
  engine_fixture f;
  auto request = keyed_run();
  BOOST_REQUIRE(f.run(request).has_value());
  answer<run_record> accepted;
  f.engine().submit_detached(someone(), keyed_run(), accepted.handle());
  auto record = accepted.get();
  BOOST_REQUIRE_MESSAGE(record.has_value(), why(record));
  BOOST_TEST(record->id.str() == request.id.str());
  BOOST_TEST((record->phase == run_phase::ended));
  BOOST_REQUIRE(record->result);
  BOOST_TEST(record->result->replayed);
  BOOST_TEST(f.local->started() == 1);
  BOOST_TEST(records(f) == 1u);
}

BOOST_AUTO_TEST_CASE(answers_when_its_answer_is_kept_and_not_before) {
  struct watched_journal final : forwarding_journal {
    std::atomic<bool> answered{false};
    std::atomic<bool> too_late{false};
    result<void> write(std::span<journal_entry> entries) override {
      for (const auto& entry : entries)
        if (entry.settle && answered)
          too_late = true;
      return forwarding_journal::write(entries);
    }
  };
  auto books = std::make_shared<watched_journal>();
  engine_options options;
  options.journal = books;
  engine_fixture f{mode::answer, options};
  answer<int> box;
  f.engine().submit(someone(), keyed_run(),
                    [&, done = box.handle()](auto r) {
                      books->answered = true;
                      done(r.has_value() ? 1 : 0);
                    },
                    {});
  BOOST_TEST(*box.get() == 1);
  f.host->stop();
  BOOST_TEST(!books->too_late);
}

// -- deaths -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(gives_a_key_back_that_died_with_its_dispatcher) {
  engine_options options;
  options.admission.running = 1;
  stepped_engine f{mode::answer, quickly_mended(std::move(options))};
  f.local->hold_when([](const auto& run) { return run.args_json != "{}"; });
  run_answer_box busy, waiting;
  f.submit(source_run(R"({"n":1})"), busy);
  BOOST_REQUIRE(f.local->held_ids().size() == 1u);
  f.submit(keyed_run(), waiting);
  BOOST_TEST(!waiting.is_there()); // it stands in line
  kill_the_dispatchers(f);
  BOOST_TEST(!f.now(waiting).has_value());
  BOOST_TEST(!f.now(busy).has_value());
  f.pass(pause_before_the_next);
  auto again = f.run(keyed_run());
  BOOST_REQUIRE_MESSAGE(again.has_value(), why(again));
  BOOST_TEST(!(*again)->replayed);
}

BOOST_AUTO_TEST_CASE(does_not_run_again_what_ran_when_its_dispatcher_died) {
  stepped_engine f{mode::hold, quickly_mended()};
  run_answer_box box;
  f.submit(keyed_run(), box);
  BOOST_REQUIRE(f.local->held_ids().size() == 1u);
  kill_the_dispatchers(f);
  auto died = f.now(box);
  BOOST_REQUIRE(!died.has_value());
  BOOST_TEST((died.error().code == ec::timeout));
  f.pass(pause_before_the_next);
  auto again = f.run(keyed_run());
  BOOST_REQUIRE(!again.has_value());
  BOOST_TEST(again.error().text == died.error().text);
  BOOST_TEST(f.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(gives_a_key_back_when_the_tool_could_not_be_started) {
  engine_fixture f;
  f.local->set_script([](const prepared_run& run, auto&) {
    auto r = scripted_backend::answer_for(run);
    r.status = run_status::error;
    r.reason = exit_reason::start_failed;
    return run_outcome{std::move(r), false};
  });
  BOOST_REQUIRE(f.run(keyed_run()).has_value());
  f.local->set_script({});
  auto again = f.run(keyed_run());
  BOOST_REQUIRE_MESSAGE(again.has_value(), why(again));
  BOOST_TEST(((*again)->status == run_status::success));
  BOOST_TEST(f.local->started() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
