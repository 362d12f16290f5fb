#include "actors/config/schema_cache.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

namespace {

/// Keeps every question until it is answered.
struct scripted_deriver final : schema_deriver {
  std::vector<handler<derived_schema>> waiting;
  void derive(language, std::string, std::string,
              handler<derived_schema> done) override {
    waiting.push_back(std::move(done));
  }
  void answer_one(result<derived_schema> what) {
    auto done = std::move(waiting.front());
    waiting.erase(waiting.begin());
    done(std::move(what));
  }
  void answer(result<derived_schema> what) {
    auto all = std::move(waiting);
    waiting.clear();
    for (auto& done : all)
      done(what);
  }
};

struct desk_fixture {
  std::shared_ptr<scripted_deriver> who = std::make_shared<scripted_deriver>();
  std::shared_ptr<schema_cache> desk = std::make_shared<schema_cache>(who);
  std::vector<result<derived_schema>> answers;

  // Who waits holds the desk, and the desk whom it asks.
  ~desk_fixture() { who->waiting.clear(); }

  void ask(std::string source = "def f(): pass", std::string function = {},
           const organization_id& who_asks = default_organization()) {
    desk->derive(
      who_asks, language::python, std::move(source), std::move(function),
      [this](result<derived_schema> r) { answers.push_back(std::move(r)); });
  }
};

derived_schema named(std::string name) {
  derived_schema s;
  s.name = std::move(name);
  return s;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(schema_cache_suite, desk_fixture)

BOOST_AUTO_TEST_CASE(reads_a_source_once_for_all_who_ask) {
  ask();
  ask();
  BOOST_TEST(who->waiting.size() == 1u);
  who->answer(named("f"));
  ask();
  BOOST_TEST(who->waiting.empty());
  BOOST_REQUIRE(answers.size() == 3u);
  for (const auto& a : answers)
    BOOST_TEST(a->name == "f");
}

BOOST_AUTO_TEST_CASE(keeps_sources_and_functions_apart) {
  desk = std::make_shared<schema_cache>(who, derivation_rules{3, 0});
  ask("x", "y");
  ask("yx", "");
  ask("x", "");
  BOOST_TEST(who->waiting.size() == 3u);
}

BOOST_AUTO_TEST_CASE(remembers_what_is_wrong_with_a_source_only) {
  ask();
  who->answer(error{ec::unavailable, "busy", {}, {}});
  ask();
  BOOST_TEST(who->waiting.size() == 1u);
  who->answer(bad_field("/source_code", "no function"));
  ask();
  BOOST_TEST(who->waiting.empty());
  BOOST_TEST(answers.size() == 3u);
}

BOOST_AUTO_TEST_CASE(reads_few_sources_of_an_organization_at_a_time) {
  desk = std::make_shared<schema_cache>(who, derivation_rules{2, 3});
  for (auto source : {"a", "b", "c", "d", "e", "f"})
    ask(source);
  BOOST_TEST(who->waiting.size() == 2u);
  BOOST_REQUIRE(answers.size() == 1u); // two are read, three wait
  BOOST_TEST((answers[0].error().code == ec::exhausted));
  BOOST_TEST(answers[0].error().retry_after.count() > 0);
  ask("d"); // is waited for already
  ask("a", "", organization_id::make());
  BOOST_TEST(who->waiting.size() == 3u);
  BOOST_TEST(answers.size() == 1u);
  who->answer_one(named("f"));
  BOOST_TEST(who->waiting.size() == 3u);
  while (!who->waiting.empty())
    who->answer_one(named("f"));
  BOOST_TEST(answers.size() == 8u);
}

BOOST_AUTO_TEST_CASE(reads_sources_in_the_places_of_runs) {
  admission_limits limits;
  limits.running_per_organization = 2;
  admission gate{limits};
  schema_cache::places places;
  places.take = [&](admission::ticket& s, const organization_id& whose) {
    return gate.enter_at_once(s, whose, backend_kind::local);
  };
  places.give_back = [&](admission::ticket& s) { gate.leave(s); };
  desk = std::make_shared<schema_cache>(who, derivation_rules{2, 3}, places);
  admission::ticket run;
  BOOST_REQUIRE(
    gate.enter_at_once(run, default_organization(), backend_kind::local));
  ask("a");
  ask("b"); // waits, since "a" will end
  BOOST_TEST(who->waiting.size() == 1u);
  BOOST_TEST(gate.now().running == 2u);
  who->answer_one(named("f"));
  BOOST_TEST(who->waiting.size() == 1u);
  who->answer_one(named("f"));
  BOOST_TEST(answers.size() == 2u);
  BOOST_TEST(gate.now().running == 1u);
  admission::ticket another;
  BOOST_REQUIRE(
    gate.enter_at_once(another, default_organization(), backend_kind::local));
  ask("c"); // nothing of the desk's will end
  BOOST_TEST(who->waiting.empty());
  BOOST_REQUIRE(answers.size() == 3u);
  BOOST_TEST((answers[2].error().code == ec::exhausted));
}

BOOST_AUTO_TEST_CASE(says_when_nobody_can) {
  desk = std::make_shared<schema_cache>(nullptr);
  ask();
  BOOST_REQUIRE(answers.size() == 1u);
  BOOST_TEST((answers[0].error().code == ec::unavailable));
}

BOOST_AUTO_TEST_SUITE_END()
