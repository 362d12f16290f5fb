#include "app/daemon/engine_process.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"
#include "tests/app/ask.hpp"
#include "tests/app/serving.hpp"
#include "tests/support/http/tls_faces.hpp"
#include "tests/support/providers/fake_daytona.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/fake_modal.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace std::chrono_literals;
using test::e2b_stand_in;
using test::fault;
using test::modal_stand_in;
using test::stand_in;

namespace {

/// Modal and E2B, as they answer, and a whole engine in front of them.
struct fixture {
  temporary_folder folder;
  modal_stand_in modal;
  e2b_stand_in e2b;
  configuration c;

  fixture() {
    auto& s = c.values;
    s.engine.data_dir = folder.path / "data";
    s.engine.drain_timeout = 5s;
    s.http.listen = "127.0.0.1:0";
    s.local.enabled = false;
    s.dispatch.reconcile_interval = 1s;
    s.modal.token_id = secret{modal_stand_in::token_id};
    s.modal.token_secret = secret{modal_stand_in::token_secret};
    s.modal.server_url = modal.url();
    s.e2b.api_key = secret{e2b_stand_in::api_key};
    s.e2b.api_url = e2b.url();
    s.e2b.sandbox_url = e2b.url();
    s.e2b.create_rate = 1'000;
    s.modal.create_rate = 1'000;
  }
};

json::object body_of(const std::string& answer) {
  auto at = answer.find("\r\n\r\n");
  BOOST_REQUIRE_MESSAGE(at != answer.npos, answer);
  auto body = json::parse_object(answer.substr(at + 4));
  BOOST_REQUIRE_MESSAGE(body.has_value(), answer);
  return *body;
}

std::unique_ptr<engine_process> open(const configuration& c) {
  auto opened = engine_process::open(c);
  BOOST_REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().text));
  return std::move(*opened);
}

constexpr auto modal_tool
  = R"({"source_code": "def add(a: int, b: int) -> int:\n)"
    R"(    \"\"\"Adds.\"\"\"\n    return a + b\n",)"
    R"("json_schema": {"name": "add", "parameters": {"type": "object",)"
    R"("properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}},)"
    R"("metadata": {"sandbox": "modal"}})";
constexpr auto call_of_it
  = R"({"tool_name": "add", "args": {"a": 2, "b": 40}})";

void put_tool(const std::string& address) {
  auto made = ask(address, "POST /v1/tools", modal_tool);
  BOOST_REQUIRE_MESSAGE(made.find(" 201 ") != made.npos, made);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(remote_hosts, fixture)

BOOST_AUTO_TEST_CASE(runs_on_modal_what_asks_for_modal) {
  auto h = open(c);
  auto address = h->addresses()[0];
  put_tool(address);
  auto r = body_of(ask(address, "POST /v1/runs", call_of_it));
  BOOST_TEST(r.at("status") == "success", r);
  BOOST_TEST(r.at("value") == 42);
  BOOST_TEST(r.at("backend") == "modal");
  BOOST_TEST(r.at("failover").as_array().empty());
  BOOST_TEST(e2b.created() == 0);
  h->stop();
  BOOST_TEST(modal.alive() == 0);
}

// B54
BOOST_AUTO_TEST_CASE(goes_from_modal_to_e2b_and_says_so) {
  modal.fail_next("AppGetOrCreate", net::grpc_code::failed_precondition);
  auto h = open(c);
  auto address = h->addresses()[0];
  put_tool(address);
  auto r = body_of(ask(address, "POST /v1/runs", call_of_it));
  BOOST_TEST(r.at("value") == 42, r);
  BOOST_TEST(r.at("backend") == "e2b");
  auto& trail = r.at("failover").as_array();
  BOOST_TEST_REQUIRE(trail.size() == 1u);
  BOOST_TEST(trail[0].at("backend") == "modal");
  BOOST_TEST(!trail[0].at("reason").as_string().empty());
  h->stop();
  BOOST_TEST(e2b.created() == e2b.destroyed());
  BOOST_TEST(modal.alive() == 0);
}

BOOST_AUTO_TEST_CASE(goes_back_to_a_provider_that_is_well_again) {
  c.values.dispatch.breaker_pause = 0s; // each run is a probe
  auto h = open(c);
  auto address = h->addresses()[0];
  put_tool(address);
  for (int i = 0; i < 8; ++i) {
    modal.fail_next("AppGetOrCreate", net::grpc_code::failed_precondition);
    auto r = body_of(ask(address, "POST /v1/runs", call_of_it));
    BOOST_TEST(r.at("backend") == "e2b", r);
    BOOST_TEST(r.at("failover").as_array().size() == 1u, r);
  }
  auto r = body_of(ask(address, "POST /v1/runs", call_of_it));
  BOOST_TEST(r.at("backend") == "modal", r);
  BOOST_TEST(r.at("failover").as_array().empty(), r);
}

BOOST_AUTO_TEST_CASE(takes_e2b_for_what_asks_for_nothing) {
  auto h = open(c);
  auto r = body_of(ask(h->addresses()[0], "POST /v1/runs",
                       R"({"source": "def f():\n  return 'it\\'s'\n"})"));
  BOOST_TEST(r.at("value") == "it's", r);
  BOOST_TEST(r.at("backend") == "e2b");
  auto metrics = ask(h->addresses()[0], "GET /metrics");
  BOOST_TEST(metrics.find("\ntroupe_client_requests_total ") != metrics.npos);
  BOOST_TEST(metrics.find("\ntroupe_client_requests_total 0\n")
             == metrics.npos);
}

BOOST_AUTO_TEST_CASE(a_second_account_at_a_provider_is_a_backend_of_its_own) {
  e2b_stand_in other;
  auto research = std::make_shared<settings>(c.values);
  research->e2b.api_url = research->e2b.sandbox_url = other.url();
  c.values.accounts.push_back(
    {backend_name::make(backend_kind::e2b, "research").value(), research});
  auto h = open(c);
  auto address = h->addresses()[0];
  constexpr auto there = R"({"source": "def f():\n  return 1\n",)"
                         R"("backend": "e2b.research"})";
  auto r = body_of(ask(address, "POST /v1/runs", there));
  BOOST_TEST(r.at("value") == 1, r);
  BOOST_TEST(r.at("backend") == "e2b.research");
  BOOST_TEST(e2b.created() == 0);
  BOOST_TEST(other.created() == 1);
  r = body_of(
    ask(address, "POST /v1/runs", R"({"source": "def f():\n  return 2\n"})"));
  BOOST_TEST(r.at("backend") == "e2b", r);
  BOOST_TEST(e2b.created() == 1);
  auto metrics = ask(address, "GET /metrics");
  BOOST_TEST(metrics.find("troupe_backend_ready{backend=\"e2b.research\"} 1")
             != metrics.npos);
  h->stop();
  BOOST_TEST(other.created() == other.destroyed());
}

// SANDBOX_PROVIDER
BOOST_AUTO_TEST_CASE(takes_another_provider_for_it_when_the_setting_says_so) {
  test::daytona_stand_in daytona;
  c.values.dispatch.default_backend = "daytona";
  c.values.daytona.api_key = secret{test::daytona_stand_in::api_key};
  c.values.daytona.api_url = daytona.api_url();
  auto h = open(c);
  auto r = body_of(ask(h->addresses()[0], "POST /v1/runs",
                       R"({"source": "def f():\n  return 'it\\'s'\n"})"));
  BOOST_TEST(r.at("value") == "it's", r);
  BOOST_TEST(r.at("backend") == "daytona");
  BOOST_TEST(e2b.created() == 0);
  h->stop();
  BOOST_TEST(daytona.alive() == 0);
}

// B53
BOOST_AUTO_TEST_CASE(ends_at_its_start_what_the_engine_before_left) {
  e2b.server().add_fault(
    {.what = fault::kind::reset_after, .path = "/v2/sandboxes"});
  c.values.dispatch.reconcile_interval = 1h;
  auto h = open(c);
  auto r
    = body_of(ask(h->addresses()[0], "POST /v1/runs",
                  R"({"source": "def f():\n  return 1\n", "backend": "e2b"})"));
  BOOST_TEST(!r.contains("value"), r); // nobody knows what it created
  h->stop();
  BOOST_TEST(e2b.boxes().size() == 1u);
  auto next = open(c);
  e2b.wait_until_empty();
  BOOST_TEST(e2b.destroyed() == 1);
}

// B55: what the webhook hands out reaches the tool, and nobody else.
BOOST_AUTO_TEST_CASE(asks_the_webhook_for_the_variables_of_a_run) {
  stand_in hook{[](const test::stand_request& r, test::stand_reply& reply) {
    if (r.path == "/webhook/sandbox-credentials"
        && r.header("authorization") == "Bearer hook-key")
      reply.json(200, R"({"SHORT_LIVED": "s3cret-of-the-hook"})");
  }};
  c.values.credentials.webhook_url
    = hook.url() + "/webhook/sandbox-credentials";
  c.values.credentials.webhook_key = secret{"hook-key"};
  auto h = open(c);
  auto answer = ask(h->addresses()[0], "POST /v1/runs",
                    R"({"source": "import os\ndef f():\n)"
                    R"(  return len(os.environ['SHORT_LIVED'])\n"})");
  BOOST_TEST(body_of(answer).at("value") == 18, answer);
  BOOST_TEST(answer.find("s3cret") == answer.npos);
}

BOOST_AUTO_TEST_CASE(refuses_a_run_whose_credentials_are_required) {
  stand_in hook{[](const test::stand_request&, test::stand_reply& reply) {
    reply.send(500);
  }};
  c.values.credentials.webhook_url = hook.url() + "/x";
  c.values.credentials.on_error = "fail";
  auto h = open(c);
  auto answer = ask(h->addresses()[0], "POST /v1/runs",
                    R"({"source": "def f():\n  return 1\n"})");
  BOOST_TEST(answer.find(" 503 ") != answer.npos, answer);
  BOOST_TEST(e2b.created() == 0);
}

namespace {

/// From Modal, by E2B which fails for `reason`, to this machine: a process of
/// its own, since local runs need its warden.
void go_home(fixture& f, const e2b_stand_in& e2b, std::string_view reason) {
  f.modal.fail_next("AppGetOrCreate", net::grpc_code::failed_precondition);
  ::setenv("MODAL_TOKEN_ID", modal_stand_in::token_id, 1);
  ::setenv("MODAL_TOKEN_SECRET", modal_stand_in::token_secret, 1);
  ::setenv("E2B_API_KEY", e2b_stand_in::api_key, 1);
  serving engine{f.folder,
                 {"--modal.server-url=" + f.modal.url(),
                  "--e2b.api-url=" + e2b.url(),
                  "--e2b.sandbox-url=" + e2b.url()}};
  for (auto name : {"MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET", "E2B_API_KEY"})
    ::unsetenv(name);
  auto address = address_in(engine.greeting());
  put_tool(address);
  auto r = body_of(ask(address, "POST /v1/runs", call_of_it));
  BOOST_TEST(r.at("value") == 42, r);
  BOOST_TEST(r.at("backend") == "local");
  auto& trail = r.at("failover").as_array();
  BOOST_TEST_REQUIRE(trail.size() == 2u);
  BOOST_TEST(trail[0].at("backend") == "modal");
  BOOST_TEST(trail[1].at("backend") == "e2b");
  BOOST_TEST(
    trail[1].at("reason").as_string().find(reason) != std::string::npos, r);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

} // namespace

// B54, to its end.
BOOST_AUTO_TEST_CASE(goes_from_modal_to_e2b_to_this_machine) {
  e2b.server().add_fault({.path = "/v2/sandboxes", .code = 403});
  go_home(*this, e2b, "E2B_API_KEY");
}

// B50: an authority that nobody here knows. It could be anybody.
BOOST_AUTO_TEST_CASE(goes_on_from_a_service_that_cannot_prove_its_name) {
  test::tls_faces faces;
  e2b_stand_in nobody{&faces};
  go_home(*this, nobody, "the certificate of 127.0.0.1");
  BOOST_TEST(nobody.server().requests().empty());
}

BOOST_AUTO_TEST_SUITE_END()
