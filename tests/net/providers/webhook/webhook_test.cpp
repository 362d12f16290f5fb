#include "net/providers/webhook/webhook.hpp"
#include "tests/support/providers/fake_provider.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
using troupe::test::fault;
using troupe::test::stand_in;

namespace {

struct fixture {
  std::string reply = R"({"A":"1","N":5,"B":true,"X":null,"L":[1],"1BAD":"x",
                          "LD_PRELOAD":"/evil.so"})";
  std::string body;
  stand_in hook{[this](const test::stand_request& r, test::stand_reply& out) {
    if (r.method != "POST" || r.path != "/webhook/sandbox-credentials")
      return;
    if (r.header("authorization") != "Bearer k")
      return out.send(401);
    body = r.body;
    out.json(200, reply);
  }};
  boost::asio::io_context io;
  webhook_options options{.url = hook.url() + "/webhook/sandbox-credentials",
                          .key = secret{"k"}};

  result<environment> ask(std::chrono::milliseconds timeout = 5s) {
    auto client
      = std::make_shared<http_client>(io.get_executor(), client_options{});
    auto source = make_webhook(client, options);
    BOOST_REQUIRE(source.has_value());
    std::optional<result<environment>> out;
    credential_query who{default_organization(), default_user(), "tool", ""};
    (*source)->ask(who, timeout, [&](result<environment> e) { out = e; });
    io.restart();
    while (!out && io.run_one() > 0) {
    }
    BOOST_REQUIRE(out.has_value());
    return *out;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(webhooks, fixture)

BOOST_AUTO_TEST_CASE(takes_texts_numbers_and_booleans_under_any_name) {
  auto got = ask();
  BOOST_REQUIRE(got.has_value());
  BOOST_TEST(got->at("A").reveal() == "1");
  BOOST_TEST(got->at("N").reveal() == "5");
  BOOST_TEST(got->at("B").reveal() == "true");
  // The engine refuses these, and says so; lists and nulls are no values.
  BOOST_TEST(got->at("LD_PRELOAD").reveal() == "/evil.so");
  BOOST_TEST(got->contains("1BAD"));
  BOOST_TEST(got->size() == 5u);
  BOOST_TEST(body
             == R"({"user_id":"user-00000000-0000-4000-8000-000000000000",)"
                R"("organization_id":"org-00000000-0000-4000-8000-)"
                R"(000000000000","tool_name":"tool"})");
}

BOOST_AUTO_TEST_CASE(fails_without_telling_what_it_got) {
  for (auto bad : {"[]", "\"text\"", "", "{", "null"}) {
    reply = bad;
    BOOST_TEST(!ask().has_value(), bad);
  }
  options.key = secret{"wrong-key"};
  auto refused = ask();
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().text.find("401") != std::string::npos);
  BOOST_TEST(refused.error().text.find("STEP_COMPLETE_KEY")
             != std::string::npos);
  BOOST_TEST(refused.error().text.find("wrong-key") == std::string::npos);
}

// B55
BOOST_AUTO_TEST_CASE(survives_a_webhook_that_is_slow_large_or_elsewhere) {
  hook.add_fault({.what = fault::kind::trickle});
  BOOST_TEST(!ask(200ms).has_value());
  reply = "{\"A\":\"" + std::string(2u << 20, 'x') + "\"}";
  BOOST_TEST(!ask().has_value());
  hook.add_fault({.code = 307, .headers = {{"Location", hook.url()}}});
  auto before = hook.count("POST");
  BOOST_TEST(!ask().has_value());
  BOOST_TEST(hook.count("POST") == before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
