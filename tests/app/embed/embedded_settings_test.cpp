// An engine in a program has the backends and the settings that `serve` has.
#include "include/troupe/engine.hpp"
#include "tests/app/ask.hpp"
#include "tests/support/providers/fake_e2b.hpp"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>

using namespace troupe;
using test::e2b_stand_in;

BOOST_AUTO_TEST_SUITE(embedded_settings)

namespace {

std::unique_ptr<api::engine> open(api::embedded_options options) {
  options.may_be_dumped = true;
  auto opened = api::open_embedded(std::move(options));
  auto* refused = std::get_if<api::failure>(&opened);
  BOOST_REQUIRE_MESSAGE(!refused, (refused ? refused->text : ""));
  return std::move(std::get<0>(opened));
}

std::string refusal_of(api::embedded_options options) {
  options.may_be_dumped = true;
  auto opened = api::open_embedded(std::move(options));
  auto* refused = std::get_if<api::failure>(&opened);
  BOOST_REQUIRE(refused);
  BOOST_TEST(refused->code == "invalid_request");
  return refused->text;
}

/// Answers each run itself, and keeps what it was handed.
api::embedded_options carried_to(std::optional<api::message>& last) {
  api::embedded_options o;
  o.backend
    = [&last](const api::message& m, std::function<void(api::answer)> done) {
        last = m;
        api::answer a;
        a.succeeded = true;
        a.reason = "exited";
        a.value = "1";
        done(std::move(a));
      };
  return o;
}

api::message addition() {
  api::message m;
  m.source = "def add(a: int, b: int) -> int:\n  return a + b\n";
  m.arguments = R"({"a": 2, "b": 40})";
  return m;
}

api::answer answer_of(api::engine& engine, api::message m) {
  auto reply = engine.submit(std::move(m)).get();
  auto* failed = std::get_if<api::failure>(&reply);
  BOOST_REQUIRE_MESSAGE(!failed, (failed ? failed->text : ""));
  return std::get<api::answer>(reply);
}

} // namespace

BOOST_AUTO_TEST_CASE(runs_at_a_provider_that_the_settings_switch_on) {
  e2b_stand_in e2b;
  api::embedded_options o;
  o.settings = {{"local.enabled", "false"},
                {"e2b.api-key", e2b_stand_in::api_key},
                {"e2b.api-url", e2b.url()},
                {"e2b.sandbox-url", e2b.url()}};
  auto engine = open(std::move(o));
  auto a = answer_of(*engine, addition());
  BOOST_TEST(a.value == "42");
  BOOST_TEST(a.backend == "e2b");
  engine.reset();
  BOOST_TEST(e2b.created() == 1);
  BOOST_TEST(e2b.destroyed() == 1);
}

BOOST_AUTO_TEST_CASE(obeys_a_setting_that_no_member_has) {
  ::setenv("OF_THE_PROGRAM", "ours", 1);
  std::optional<api::message> last;
  auto o = carried_to(last);
  o.settings = {{"local.pass-environment", "OF_THE_PROGRAM"}};
  auto engine = open(std::move(o));
  ::unsetenv("OF_THE_PROGRAM");
  answer_of(*engine, addition());
  BOOST_REQUIRE(last.has_value());
  BOOST_TEST(last->variables["OF_THE_PROGRAM"] == "ours");
}

BOOST_AUTO_TEST_CASE(reads_a_config_ini_whose_values_the_program_may_overrule) {
  temporary_folder folder;
  const auto file = folder.path / "config.ini";
  std::ofstream{file} << "[http]\nlisten = \"0.0.0.0:1\"\n[limits]\n"
                         "wall = 7s\noutput = \"1MiB\"\n";
  std::optional<api::message> last;
  auto o = carried_to(last);
  o.settings_file = file.string();
  o.settings = {{"limits.max-wall", "1s"}};
  // Only together are they wrong: both were read.
  BOOST_TEST(refusal_of(std::move(o)).find("limits.wall") != std::string::npos);
  o = carried_to(last);
  o.settings_file = file.string();
  o.settings = {{"limits.max-wall", "1s"}, {"limits.wall", "1s"}};
  BOOST_TEST(answer_of(*open(std::move(o)), addition()).value == "1");
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong_with_a_setting) {
  std::optional<api::message> last;
  for (auto [name, value, said] :
       {std::tuple{"dispatch.max-inflight", "1", "dispatch.max-running"},
        {"dispatch.max-running", "many", "dispatch.max-running"},
        {"http.listen", "127.0.0.1:0", "troupe serve"}}) {
    auto o = carried_to(last);
    o.settings = {{name, value}};
    const auto text = refusal_of(std::move(o));
    BOOST_TEST(text.find(said) != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(opens_no_sandboxes_for_a_main_that_is_no_warden) {
  const auto text = refusal_of({}); // nothing here has called `begin`
  BOOST_TEST(text.find("troupe::api::begin(argc, argv)") != std::string::npos,
             text);
}

BOOST_AUTO_TEST_CASE(does_not_repeat_a_secret_that_it_refuses) {
  api::embedded_options o;
  o.settings = {{"modal.token-id", "ak-very-secret"}};
  const auto text = refusal_of(std::move(o));
  BOOST_TEST(text.find("modal.token-secret") != std::string::npos, text);
  BOOST_TEST(text.find("very-secret") == std::string::npos, text);
}

BOOST_AUTO_TEST_SUITE_END()
