#include "tests/actors/stepped_engine.hpp"

#include <mutex>
#include <vector>

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(engine_suite)

BOOST_AUTO_TEST_CASE(runs_a_source_and_answers) {
  engine_fixture f;
  auto r = f.run(source_run(R"({"x":1})"));
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST((*r)->value_json == R"({"x":1})");
  BOOST_TEST(((*r)->status == run_status::success));
  BOOST_TEST(!(*r)->fingerprint.empty());
  std::vector<std::string> stages;
  for (const auto& s : (*r)->stages)
    stages.push_back(s.name);
  const std::vector<std::string> expected{"resolve", "queue", "variables",
                                          "run", "answer"};
  BOOST_TEST(stages == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(numbers_the_events_of_a_run_and_ends_once) {
  engine_fixture f;
  f.local->set_script([](const prepared_run& run, run_observer& o) {
    o.started();
    o.output(output_stream::out, "hello");
    o.output(output_stream::err, "oh");
    return run_outcome{scripted_backend::answer_for(run), true};
  });
  std::mutex mutex;
  std::vector<run_event> seen;
  auto r = f.run(source_run(), someone(), [&](const run_event& e) {
    std::lock_guard guard{mutex};
    seen.push_back(e);
    return true;
  });
  BOOST_REQUIRE(r.has_value());
  std::lock_guard guard{mutex};
  BOOST_REQUIRE(seen.size() == 5u);
  for (std::size_t i = 0; i < seen.size(); ++i)
    BOOST_TEST(seen[i].sequence == i + 1);
  BOOST_TEST((seen[0].kind == run_event_kind::accepted));
  BOOST_TEST((seen[1].kind == run_event_kind::started));
  BOOST_TEST(seen[2].data == "hello");
  BOOST_TEST(seen[3].data == "oh");
  BOOST_TEST((seen[4].kind == run_event_kind::end));
  BOOST_TEST(seen[4].result == *r);
}

BOOST_AUTO_TEST_CASE(cancels_a_run_that_goes_on) {
  engine_fixture f{scripted_backend::mode::hold};
  run_answer_box box;
  auto request = source_run();
  request.id = run_id::make();
  f.engine().submit(someone(), request, box.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  answer<run_record> cancelled;
  f.engine().cancel(someone(), request.id, cancelled.handle());
  BOOST_TEST(cancelled.get().has_value());
  auto r = box.get();
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(((*r)->reason == exit_reason::cancelled));
}

BOOST_AUTO_TEST_CASE(does_not_tell_foreign_runs_from_unknown_ones) {
  engine_fixture f{scripted_backend::mode::hold};
  run_answer_box box;
  auto request = source_run();
  request.id = run_id::make();
  f.engine().submit(someone(), request, box.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  auto stranger = someone("org-11111111-1111-4111-8111-111111111111");
  answer<run_record> found;
  f.engine().find_run(stranger, request.id, found.handle());
  auto foreign = found.get();
  BOOST_REQUIRE(!foreign.has_value());
  auto unknown_id = run_id::make();
  answer<run_record> missing;
  f.engine().find_run(stranger, unknown_id, missing.handle());
  auto unknown = missing.get();
  BOOST_REQUIRE(!unknown.has_value());
  BOOST_TEST((foreign.error().code == unknown.error().code));
  BOOST_TEST((foreign.error().code == ec::not_found));
  f.local->release_all();
  BOOST_TEST(box.get().has_value());
}

BOOST_AUTO_TEST_CASE(remembers_a_run_after_its_end) {
  engine_fixture f;
  auto request = source_run();
  request.id = run_id::make();
  BOOST_REQUIRE(f.run(request).has_value());
  answer<run_record> found;
  f.engine().find_run(someone(), request.id, found.handle());
  auto record = found.get();
  BOOST_REQUIRE(record.has_value());
  BOOST_TEST((record->phase == run_phase::ended));
  BOOST_REQUIRE(record->result);
  answer<page<run_record>> listed;
  f.engine().list_runs(someone(), "", 10, listed.handle());
  auto list = listed.get();
  BOOST_REQUIRE(list.has_value());
  BOOST_TEST(list->items.size() == 1u);
}

BOOST_AUTO_TEST_CASE(gives_back_what_was_asked_for_while_and_after_it_runs) {
  engine_fixture f{scripted_backend::mode::hold};
  auto request = source_run();
  request.id = run_id::make();
  request.env["TOKEN"] = secret{"hush"};
  using request_ptr = std::shared_ptr<const run_request>;
  auto ask_for = [&](const caller& who) {
    answer<request_ptr> found;
    f.engine().find_request(who, request.id, found.handle());
    return found.get();
  };
  run_answer_box box;
  f.engine().submit(someone(), request, box.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  for (bool ended : {false, true}) {
    if (ended) {
      f.local->release_all();
      BOOST_REQUIRE(box.get().has_value());
    }
    auto found = ask_for(someone());
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST((*found)->source == request.source);
    BOOST_TEST((*found)->env.at("TOKEN").reveal() == "hush");
    auto stranger = someone();
    stranger.organization = organization_id::make();
    auto refused = ask_for(stranger);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST((refused.error().code == ec::not_found));
  }
}

BOOST_AUTO_TEST_CASE(keeps_no_request_that_is_too_large_for_it) {
  engine_fixture f;
  auto request = source_run();
  request.id = run_id::make();
  request.stdin_text = std::string(ledger_rules{}.request_bytes, 'x');
  BOOST_REQUIRE(f.run(request).has_value());
  answer<std::shared_ptr<const run_request>> found;
  f.engine().find_request(someone(), request.id, found.handle());
  auto refused = found.get();
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == ec::conflict));
}

BOOST_AUTO_TEST_CASE(says_that_a_tool_began_before_it_says_what_it_printed) {
  engine_fixture f;
  f.local->set_script([](const prepared_run& run, run_observer& told) {
    told.output(output_stream::out, "first");
    told.started(); // late, as some backends are
    told.output(output_stream::out, "second");
    return run_outcome{scripted_backend::answer_for(run), true};
  });
  std::vector<run_event_kind> kinds;
  run_answer_box box;
  f.engine().submit(someone(), source_run(), box.handle(),
                    [&](const run_event& e) {
                      kinds.push_back(e.kind);
                      return true;
                    });
  BOOST_REQUIRE(box.get().has_value());
  using kind = run_event_kind;
  const std::vector<kind> expected{kind::accepted, kind::started, kind::out,
                                   kind::out, kind::end};
  BOOST_TEST((kinds == expected));
}

BOOST_AUTO_TEST_CASE(refuses_a_second_run_of_the_same_id) {
  engine_fixture f{scripted_backend::mode::hold};
  auto request = source_run();
  request.id = run_id::make();
  run_answer_box first;
  f.engine().submit(someone(), request, first.handle(), {});
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  auto second = f.run(request);
  BOOST_REQUIRE(!second.has_value());
  BOOST_TEST((second.error().code == ec::conflict));
  f.local->release_all();
  BOOST_TEST(first.get().has_value());
}

BOOST_AUTO_TEST_CASE(ends_a_run_at_its_deadline) {
  stepped_engine f{scripted_backend::mode::hold};
  auto request = source_run();
  request.deadline = 30ms;
  run_answer_box box;
  f.submit(std::move(request), box);
  f.pass(30ms - 1ns);
  BOOST_TEST(!box.is_there());
  f.pass(1ns);
  auto r = f.now(box);
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(((*r)->reason == exit_reason::wall_timeout));
}

BOOST_AUTO_TEST_CASE(answers_even_when_a_backend_never_does) {
  engine_options options;
  options.deadlines.grace = 20ms;
  stepped_engine f{scripted_backend::mode::hold, options};
  f.local->ignore_cancel(true);
  auto request = source_run();
  request.deadline = 30ms;
  run_answer_box box;
  f.submit(std::move(request), box);
  f.pass(30ms);
  BOOST_TEST(f.local->cancels() == 1);
  f.pass(20ms - 1ns);
  BOOST_TEST(!box.is_there());
  f.pass(1ns);
  auto r = f.now(box);
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::timeout));
}

BOOST_AUTO_TEST_CASE(accepts_a_detached_run_and_ends_it) {
  engine_fixture f{scripted_backend::mode::hold};
  answer<run_record> accepted;
  f.engine().submit_detached(someone(), source_run(), accepted.handle());
  auto record = accepted.get();
  BOOST_REQUIRE(record.has_value());
  BOOST_TEST((record->phase != run_phase::ended));
  BOOST_REQUIRE(f.local->wait_for_held(1) == 1u);
  std::promise<void> ended;
  answer<void> subscribed;
  f.engine().subscribe(
    someone(), record->id, 0,
    [&](const run_event& e) {
      if (e.kind == run_event_kind::end)
        ended.set_value();
      return true;
    },
    subscribed.handle());
  BOOST_TEST(subscribed.get().has_value());
  f.local->release_all();
  BOOST_TEST((ended.get_future().wait_for(std::chrono::seconds{10})
              == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(says_how_it_is) {
  engine_fixture f;
  answer<engine_health> box;
  f.engine().health(box.handle());
  auto h = box.get();
  BOOST_REQUIRE(h.has_value());
  BOOST_TEST(h->ready);
  BOOST_TEST(!h->components.empty());
  for (const auto& [name, state] : h->components)
    BOOST_TEST(state == "up", name);
  BOOST_TEST(f.engine().metrics().find("troupe_runs_submitted_total 0")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuses_when_it_has_stopped) {
  engine_fixture f;
  f.host->stop();
  auto r = f.run(source_run());
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::unavailable));
}

BOOST_AUTO_TEST_SUITE_END()
