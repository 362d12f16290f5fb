#include "actors/dispatch/backend_selection.hpp"

#include <boost/test/unit_test.hpp>

#include <map>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(failover_suite)

namespace {

using kinds = std::vector<backend_name>;
constexpr auto local = backend_kind::local;
constexpr auto e2b = backend_kind::e2b;
constexpr auto modal = backend_kind::modal;

struct world {
  std::map<backend_name, backend_view> views;

  explicit world(const kinds& configured) {
    for (auto kind : configured)
      views[kind].configured = true;
  }
  backend_viewer viewer() const {
    return [this](backend_name kind) {
      auto i = views.find(kind);
      return i == views.end() ? backend_view{} : i->second;
    };
  }
  kinds plan(const backend_preference& wish) const {
    auto p = plan_backends(wish, viewer());
    return p ? p->candidates : kinds{};
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(takes_e2b_when_it_is_configured_else_local) {
  BOOST_TEST((world{{local, e2b}}.plan({}) == kinds{e2b, local}));
  BOOST_TEST((world{{local}}.plan({}) == kinds{local}));
}

BOOST_AUTO_TEST_CASE(takes_modal_only_when_the_tool_asks_for_it) {
  world w{{local, e2b, modal}};
  BOOST_TEST((w.plan({}) == kinds{e2b, local}));
  backend_preference wish;
  wish.of_tool = modal;
  BOOST_TEST((w.plan(wish) == kinds{modal, e2b, local}));
  BOOST_TEST((world{{local}}.plan(wish) == kinds{local}));
}

BOOST_AUTO_TEST_CASE(takes_the_standard_that_the_operator_sets) {
  const auto daytona = backend_kind::daytona;
  backend_preference wish;
  wish.standard = daytona;
  BOOST_TEST(
    (world{{local, e2b, daytona}}.plan(wish) == kinds{daytona, local}));
  BOOST_TEST((world{{local, e2b}}.plan(wish) == kinds{local}));
  wish.standard = local;
  BOOST_TEST((world{{local, e2b}}.plan(wish) == kinds{local}));
}

BOOST_AUTO_TEST_CASE(goes_nowhere_else_when_the_run_names_a_backend) {
  backend_preference wish;
  wish.of_run = e2b;
  wish.of_tool = modal;
  BOOST_TEST((world{{local, e2b, modal}}.plan(wish) == kinds{e2b}));
  auto none = plan_backends(wish, world{{local}}.viewer());
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST((none.error().code == ec::unavailable));
}

BOOST_AUTO_TEST_CASE(keeps_a_tool_here_that_asks_for_this_machine) {
  backend_preference wish;
  wish.of_tool = local;
  BOOST_TEST((world{{local, e2b}}.plan(wish) == kinds{local}));
}

BOOST_AUTO_TEST_CASE(puts_sick_backends_last_and_says_why) {
  world w{{local, e2b}};
  w.views[e2b].circuit = circuit_breaker::state::open;
  BOOST_TEST((w.plan({}) == kinds{local, e2b}));
  w.views[local].not_ready = "no user namespaces";
  BOOST_TEST(plan_backends({}, w.viewer())->reasons.empty());
  auto plan = plan_backends({}, w.viewer(), true);
  BOOST_REQUIRE(plan.has_value());
  BOOST_TEST((plan->candidates == kinds{e2b, local}));
  BOOST_TEST(plan->reasons.back().find("no user namespaces")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(says_of_every_better_choice_why_it_was_passed_over) {
  world w{{local, e2b}};
  BOOST_TEST(plan_backends({}, w.viewer())->passed_over.empty());
  w.views[e2b].circuit = circuit_breaker::state::open;
  w.views[e2b].failures = 5;
  w.views[e2b].retry_in = std::chrono::seconds{12};
  auto plan = plan_backends({}, w.viewer(), true);
  BOOST_REQUIRE(plan.has_value());
  BOOST_REQUIRE(plan->passed_over.size() == 1u);
  const failover_step step{e2b, "paused after 5 failures, next try in 12 s"};
  BOOST_TEST((plan->passed_over[0] == step));
  // The same words for who asks what a run would do.
  BOOST_TEST(plan->reasons[0].find(step.reason) != std::string::npos);
  w.views[e2b].not_ready = "no key";
  plan = plan_backends({}, w.viewer());
  BOOST_REQUIRE(plan->passed_over.size() == 1u);
  BOOST_TEST(plan->passed_over[0].reason == "not ready: no key");
  // Nobody is better: it is asked all the same.
  w.views[local].not_ready = "no user namespaces";
  BOOST_TEST(plan_backends({}, w.viewer())->passed_over.empty());
}

BOOST_AUTO_TEST_CASE(says_that_what_a_tool_asks_for_is_not_configured) {
  backend_preference wish;
  wish.of_tool = modal;
  auto plan = plan_backends(wish, world{{local}}.viewer());
  BOOST_REQUIRE(plan.has_value());
  BOOST_REQUIRE(plan->passed_over.size() == 1u);
  BOOST_TEST((plan->passed_over[0] == failover_step{modal, "not configured"}));
}

BOOST_AUTO_TEST_CASE(tries_a_half_open_one_first_with_one_run) {
  world w{{local, e2b}};
  w.views[e2b].circuit = circuit_breaker::state::half_open;
  w.views[e2b].score = 0.1;
  BOOST_TEST((w.plan({}) == kinds{e2b, local}));
  w.views[e2b].probing = true;
  BOOST_TEST((w.plan({}) == kinds{local, e2b}));
}

BOOST_AUTO_TEST_CASE(keeps_runs_for_a_provider_away_when_it_fails_closed) {
  world w{{local, backend_kind::peer, e2b}};
  backend_preference wish;
  wish.fail_closed = true;
  BOOST_TEST((w.plan(wish) == kinds{e2b}));
  wish.standard = backend_kind::peer; // as local, elsewhere
  BOOST_TEST((w.plan(wish) == kinds{backend_kind::peer, local}));
  wish.of_tool = local;
  wish.standard = e2b;
  BOOST_TEST((w.plan(wish) == kinds{local}));
  wish.of_tool = modal; // a provider for another
  BOOST_TEST((w.plan(wish) == kinds{e2b}));
  wish.standard = local;
  auto none = plan_backends(wish, w.viewer());
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST((none.error().code == ec::unavailable));
  BOOST_TEST(none.error().text
             == "modal: not configured; dispatch.fail-closed keeps runs for "
                "modal from local");
}

BOOST_AUTO_TEST_CASE(never_goes_to_a_weaker_isolation_than_permitted) {
  world w{{local, e2b}};
  backend_preference wish;
  wish.no_weaker.set(static_cast<std::size_t>(e2b));
  BOOST_TEST((w.plan(wish) == kinds{e2b}));
  wish.of_tool = local;
  BOOST_TEST((w.plan(wish) == kinds{local}));
}

BOOST_AUTO_TEST_CASE(tries_again_only_what_cannot_have_happened) {
  const error gone{ec::unavailable, "gone", {}, {}};
  BOOST_TEST(may_fail_over(gone, false, false));
  BOOST_TEST(!may_fail_over(gone, true, false));
  BOOST_TEST(may_fail_over(gone, true, true));
  const error wrong{ec::invalid_request, "wrong", {}, {}};
  BOOST_TEST(!may_fail_over(wrong, false, true));
}

BOOST_AUTO_TEST_CASE(stays_away_when_the_strong_one_is_not_configured) {
  backend_preference wish;
  wish.no_weaker.set(static_cast<std::size_t>(e2b));
  auto plan = plan_backends(wish, world{{local}}.viewer());
  BOOST_REQUIRE(!plan.has_value());
  BOOST_TEST(plan.error().text.find("allow_weaker_fallback")
             != std::string::npos);
  wish.of_tool = modal; // as strong: its own config does not mind
  BOOST_TEST((world{{local, e2b, modal}}.plan(wish) == kinds{modal, e2b}));
}

BOOST_AUTO_TEST_SUITE_END()
