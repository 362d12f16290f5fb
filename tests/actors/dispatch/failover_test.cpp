#include "tests/actors/dispatch/two_backends.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(dispatch_failover)

namespace {

using mode = scripted_backend::mode;

run_outcome unavailable(bool may_have_started) {
  return {error{ec::unavailable, "the provider is down", {}, {}},
          may_have_started};
}

} // namespace

BOOST_AUTO_TEST_CASE(fails_over_before_the_tool_began_and_tells_the_trail) {
  two_backends f;
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  auto r = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->backend == backend_kind::local));
  BOOST_REQUIRE((*r)->trail.size() == 1u);
  BOOST_TEST(((*r)->trail[0].backend == backend_kind::e2b));
  BOOST_TEST((*r)->trail[0].reason == "the provider is down");
}

BOOST_AUTO_TEST_CASE(says_once_which_limits_it_lowered) {
  engine_options options;
  options.rules.ceiling.processes = 10;
  two_backends f{std::move(options)};
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  auto request = source_run();
  request.limits.processes = 20;
  request.limits.wall = std::chrono::seconds{5};
  auto r = f.run(request);
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_REQUIRE((*r)->notes.size() == 1u);
  BOOST_TEST((*r)->notes[0].starts_with("limits.processes is 10, not 20"));
}

BOOST_AUTO_TEST_CASE(does_not_run_twice_what_may_have_begun) {
  two_backends f;
  f.e2b->set_script([](auto&, run_observer& o) {
    o.started();
    return unavailable(false); // it lies; we saw it begin
  });
  auto r = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->reason == exit_reason::lost));
  BOOST_TEST(f.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(runs_again_what_says_that_it_may_be) {
  two_backends f;
  f.e2b->set_script([](auto&, run_observer& o) {
    o.started();
    return unavailable(true);
  });
  auto request = source_run();
  request.idempotent = true;
  auto r = f.run(request);
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->status == run_status::success));
  BOOST_TEST(f.local->started() == 1);
}

BOOST_AUTO_TEST_CASE(goes_nowhere_else_when_the_run_names_its_backend) {
  two_backends f;
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  auto request = source_run();
  request.backend = backend_kind::e2b;
  auto r = f.run(request);
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::unavailable));
  BOOST_TEST(f.local->started() == 0);
}

BOOST_AUTO_TEST_CASE(leaves_a_failing_backend_alone_for_a_while) {
  engine_options options;
  options.breaker.failures = 3;
  options.breaker.pause = std::chrono::hours{1};
  two_backends f{options};
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  for (int i = 0; i < 20; ++i)
    BOOST_REQUIRE(f.run(source_run()).has_value());
  BOOST_TEST(f.e2b->started() == 3);
  BOOST_TEST(f.local->started() == 20);
  f.pass(std::chrono::hours{1});
  for (int i = 0; i < 20; ++i)
    BOOST_REQUIRE(f.run(source_run()).has_value());
  BOOST_TEST(f.e2b->started() == 4); // looked at once
}

/// Not one of them may look as if this machine had been its first choice.
BOOST_AUTO_TEST_CASE(says_of_every_run_why_its_first_choice_was_left_alone) {
  engine_options options;
  options.breaker.pause = std::chrono::hours{1};
  options.breaker.longest_pause = std::chrono::hours{1};
  two_backends f{options};
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  for (int i = 0; i < 20; ++i) {
    auto r = f.run(source_run());
    BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
    BOOST_TEST(((*r)->backend == backend_kind::local));
    BOOST_REQUIRE((*r)->trail.size() == 1u);
    const auto& step = (*r)->trail[0];
    BOOST_TEST((step.backend == backend_kind::e2b));
    BOOST_TEST(step.reason.starts_with(
      i < 5 ? "the provider is down"
            : "paused after 5 failures, next try in 3600 s"));
  }
  auto named = source_run();
  named.backend = backend_kind::e2b;
  auto refused = f.run(named);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().text.find("e2b: paused after 5 failures")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(goes_back_to_a_backend_that_is_well_again) {
  engine_options options;
  options.breaker.pause = std::chrono::milliseconds{0}; // every run is a probe
  std::vector<std::string> warnings;
  options.warn = [&](std::string_view line) { warnings.emplace_back(line); };
  two_backends f{std::move(options)};
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  constexpr int many = 40; // the score is next to nothing
  for (int i = 0; i < many; ++i)
    BOOST_REQUIRE(f.run(source_run()).has_value());
  BOOST_TEST(f.e2b->started() == many);
  f.e2b->set_script({});
  for (int i = 0; i < 3; ++i) {
    auto r = f.run(source_run());
    BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
    BOOST_TEST(((*r)->backend == backend_kind::e2b));
    BOOST_TEST((*r)->trail.empty());
  }
  BOOST_REQUIRE(warnings.size() == 2u);
  BOOST_TEST(warnings[0].starts_with("backend e2b is paused after 5"));
  BOOST_TEST(warnings[0].ends_with("the provider is down"));
  BOOST_TEST(warnings[1] == "backend e2b accepts runs again");
  const auto page = f.engine().metrics();
  for (auto line :
       {"troupe_backend_circuit_transitions_total{backend=\"e2b\",to=\"open\"} "
        "36",
        "troupe_backend_circuit_state{backend=\"e2b\",state=\"closed\"} 1",
        "troupe_backend_circuit_state{backend=\"e2b\",state=\"open\"} 0",
        "troupe_backend_failures_total{backend=\"e2b\"} ",
        "troupe_backend_queued{backend=\"e2b\"} 0",
        "troupe_run_queue_seconds_bucket{le=\"0.001\"} "})
    BOOST_TEST(page.find(line) != std::string::npos, line);
}

/// An hour's run must not keep the others away for an hour.
BOOST_AUTO_TEST_CASE(knows_that_a_backend_is_well_when_a_tool_has_begun_there) {
  engine_options options;
  options.breaker.failures = 1;
  options.breaker.pause = std::chrono::milliseconds{0};
  two_backends f{options};
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  BOOST_REQUIRE(f.run(source_run()).has_value());
  f.e2b->set_script({});
  f.e2b->hold_when([](const prepared_run& run) { return run.name == "long"; });
  auto slow = source_run();
  slow.tool_name = "long";
  run_answer_box box;
  f.submit(slow, box);
  BOOST_REQUIRE(f.e2b->held_ids().size() == 1u);
  auto r = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->backend == backend_kind::e2b));
  f.e2b->release_all();
  BOOST_TEST(f.now(box).has_value());
}

BOOST_AUTO_TEST_CASE(refuses_rather_than_run_it_here_when_it_fails_closed) {
  engine_options options;
  options.rules.fail_closed = true;
  options.breaker.failures = 2;
  options.breaker.pause = std::chrono::seconds{30};
  two_backends f{options};
  f.e2b->set_script([](auto&, auto&) {
    return run_outcome{error{ec::denied, "the key is wrong", {}, {}}, false};
  });
  const auto kept = "dispatch.fail-closed keeps runs for e2b from local";
  for (int i = 0; i < 4; ++i) {
    auto r = f.run(source_run());
    BOOST_REQUIRE(!r.has_value());
    BOOST_TEST((r.error().code == ec::unavailable));
    BOOST_TEST(r.error().text.find(kept) != std::string::npos);
    BOOST_TEST(r.error().text.find(i < 2
                                     ? "e2b: the key is wrong"
                                     : "e2b: paused after 2 failures, next try")
               != std::string::npos);
    BOOST_TEST((r.error().retry_after >= std::chrono::seconds{1}));
  }
  BOOST_TEST(f.local->started() == 0);
  auto here = source_run(); // who asks for this machine gets it
  here.backend = backend_kind::local;
  BOOST_TEST(f.run(here).has_value());
}

/// Each run has a sandbox of its own: that one's end is no outage.
BOOST_AUTO_TEST_CASE(counts_no_sandbox_that_went_away_as_an_outage) {
  engine_options options;
  options.breaker.failures = 3;
  options.breaker.pause = std::chrono::hours{1};
  two_backends f{options};
  f.e2b->set_script([](auto&, auto&) {
    auto gone = unavailable(false);
    gone.sandbox_lost = true;
    return gone;
  });
  for (int i = 0; i < 10; ++i) {
    auto r = f.run(source_run());
    BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
    BOOST_TEST(((*r)->backend == backend_kind::local));
  }
  BOOST_TEST(f.e2b->started() == 10);
  // Begun or not.
  f.e2b->set_script([](auto&, run_observer& o) {
    o.started();
    auto gone = unavailable(true);
    gone.sandbox_lost = true;
    return gone;
  });
  for (int i = 0; i < 10; ++i) {
    auto r = f.run(source_run());
    BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
    BOOST_TEST(((*r)->reason == exit_reason::lost));
  }
  BOOST_TEST(f.e2b->started() == 20);
}

/// What one tool wants to have installed is nobody else's trouble.
BOOST_AUTO_TEST_CASE(counts_no_packages_that_cannot_be_had_as_an_outage) {
  engine_options options;
  options.breaker.failures = 3;
  options.breaker.pause = std::chrono::hours{1};
  two_backends f{options};
  bool installs = true;
  f.e2b->set_script([&](auto& run, auto&) {
    auto outcome = unavailable(false);
    outcome.packages_unavailable = true;
    return installs ? outcome
                    : run_outcome{scripted_backend::answer_for(run), true};
  });
  for (int i = 0; i < 10; ++i)
    f.run(source_run());
  installs = false;
  auto r = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->backend == backend_kind::e2b));
}

BOOST_AUTO_TEST_CASE(skips_a_backend_that_is_full) {
  engine_options options;
  options.admission.running_per_backend[backend_kind::local] = 1;
  auto far = std::make_shared<scripted_backend>(backend_kind::e2b, mode::hold);
  two_backends f{far, options};
  f.e2b->set_script([](auto&, auto&) { return unavailable(false); });
  f.local->hold_when([](const prepared_run&) { return true; });
  // One occupies this machine, the other one finds it full.
  auto here = source_run();
  here.backend = backend_kind::local;
  run_answer_box first;
  f.submit(here, first);
  BOOST_REQUIRE(f.local->held_ids().size() == 1u);
  run_answer_box second;
  auto request = source_run();
  request.idempotent = true;
  f.submit(request, second);
  BOOST_REQUIRE(f.e2b->held_ids().size() == 1u);
  f.e2b->release_all();
  auto r = f.now(second);
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST(r.error().text.find("full") != std::string::npos);
  f.local->release_all();
  BOOST_TEST(f.now(first).has_value());
}

BOOST_AUTO_TEST_CASE(counts_a_backend_that_hangs_as_one_that_fails) {
  engine_options options;
  options.breaker.failures = 1;
  options.breaker.pause = std::chrono::hours{1};
  options.deadlines.grace = std::chrono::milliseconds{20};
  auto far = std::make_shared<scripted_backend>(backend_kind::e2b, mode::hold);
  far->ignore_cancel(true);
  two_backends f{far, options};
  auto request = source_run();
  request.deadline = std::chrono::milliseconds{50};
  run_answer_box box;
  f.submit(request, box);
  f.pass(std::chrono::milliseconds{50});
  f.pass(std::chrono::milliseconds{19});
  BOOST_TEST(!box.is_there());
  f.pass(std::chrono::milliseconds{1});
  auto r = f.now(box);
  BOOST_REQUIRE(!r.has_value());
  BOOST_TEST((r.error().code == ec::timeout));
  auto next = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(next.has_value(), why(next));
  BOOST_TEST(((*next)->backend == backend_kind::local));
  BOOST_TEST(f.e2b->started() == 1);
}

BOOST_AUTO_TEST_CASE(goes_on_elsewhere_when_a_run_was_lost_before_it_began) {
  two_backends f;
  f.e2b->set_script([](const prepared_run& run, auto&) {
    auto lost = scripted_backend::answer_for(run);
    lost.status = run_status::error;
    lost.reason = exit_reason::lost;
    return run_outcome{std::move(lost), false};
  });
  auto r = f.run(source_run());
  BOOST_REQUIRE_MESSAGE(r.has_value(), why(r));
  BOOST_TEST(((*r)->backend == backend_kind::local));
}

BOOST_AUTO_TEST_SUITE_END()
