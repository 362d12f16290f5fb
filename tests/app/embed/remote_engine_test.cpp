// What a platform far away may say wrong, and what it gets for it: an answer.
#include "actors/protocol/link_options.hpp"
#include "include/troupe/engine.hpp"
#include "tests/support/engine/engine_fixture.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/temporary_directory.hpp"

#include <functional>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(remote_suite)

namespace {

constexpr std::chrono::seconds soon{60};

/// An engine behind its door, and a platform that is let in.
struct connected {
  tests::temporary_directory folder;
  test_authority ours{folder.path(), "ours"};
  std::unique_ptr<engine_fixture> far;
  std::unique_ptr<api::engine> near;

  connected() {
    auto own = ours.sign("engine", "DNS:localhost,IP:127.0.0.1");
    engine_options options;
    options.links
      = link_options{"127.0.0.1:0", {own.certificate, own.key, ours.file()}, 4};
    far = std::make_unique<engine_fixture>(scripted_backend::mode::answer,
                                           std::move(options));
    auto client = ours.sign("platform", "DNS:platform");
    auto opened = api::connect(
      "127.0.0.1", far->host->published_port(),
      api::identity{client.certificate, client.key, ours.file()});
    BOOST_REQUIRE(opened.index() == 0u);
    near = std::move(std::get<0>(opened));
  }

  api::reply say(api::message m) {
    auto reply = near->submit(std::move(m));
    BOOST_REQUIRE((reply.wait_for(soon) == std::future_status::ready));
    return reply.get();
  }
};

api::message fine(std::string arguments = R"({"x":1})") {
  api::message m;
  m.source = "def f(**x): return x";
  m.function = "f";
  m.arguments = std::move(arguments);
  return m;
}

std::string json_of_bytes(std::size_t n) {
  return R"({"x":")" + std::string(n, 'a') + R"("})";
}

} // namespace

BOOST_AUTO_TEST_CASE(stores_nothing_over_a_link) {
  connected c;
  auto answer = c.near->set_variable("A", "1").get();
  BOOST_REQUIRE(answer.index() == 1u);
  BOOST_TEST(std::get<1>(answer).code == "invalid_request");
  BOOST_TEST(std::get<1>(answer).text.find("HTTP") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(answers_every_message_that_is_beyond_a_bound) {
  connected c;
  struct {
    const char* what;
    std::function<void(api::message&)> spoil;
  } const rows[] = {
    {"no JSON", [](auto& m) { m.arguments = "{"; }},
    {"priority", [](auto& m) { m.priority = 101; }},
    {"key", [](auto& m) { m.idempotency_key = std::string(256, 'k'); }},
    {"linker", [](auto& m) { m.variables["LD_PRELOAD"] = "x"; }},
    {"reserved", [](auto& m) { m.variables["TROUPE_RUN_ID"] = "x"; }},
    {"source", [](auto& m) { m.source.append((4u << 20) + 1, ' '); }},
    {"link", [](auto& m) { m.arguments = json_of_bytes(17u << 20); }},
    {"escaped", [](auto& m) { m.source.append(3u << 20, '\1'); }},
  };
  for (const auto& row : rows) {
    auto m = fine();
    row.spoil(m);
    auto reply = c.say(std::move(m));
    auto* failure = std::get_if<api::failure>(&reply);
    BOOST_REQUIRE_MESSAGE(failure, row.what);
    BOOST_TEST(failure->code == "invalid_request", row.what << failure->text);
  }
  // None of them has cost the link.
  BOOST_TEST(c.say(fine()).index() == 0u);
  BOOST_TEST(c.far->local->started() == 1);
}

BOOST_AUTO_TEST_CASE(carries_results_that_are_long_or_strange) {
  connected c;
  for (const auto& value :
       {json_of_bytes(9u << 20),
        std::string{R"({"x":123456789012345678901234567890})"}}) {
    c.far->local->set_script([&](const prepared_run& run, run_observer&) {
      auto r = scripted_backend::answer_for(run);
      r.value_json = value;
      return run_outcome{std::move(r), true};
    });
    auto reply = c.say(fine());
    auto* answer = std::get_if<api::answer>(&reply);
    BOOST_REQUIRE(answer);
    BOOST_TEST((answer->value == value));
  }
}

BOOST_AUTO_TEST_SUITE_END()
