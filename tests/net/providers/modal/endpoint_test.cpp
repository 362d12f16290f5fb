#include "net/providers/modal/endpoint.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_provider.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <mutex>

using namespace troupe;
using namespace troupe::net;
using test::fault;
using test::remote_side;

namespace {

std::vector<std::string> texts(const json::value& list) {
  std::vector<std::string> out;
  for (const auto& item : list.as_array())
    out.emplace_back(item.as_string());
  return out;
}

/// The runner of examples/modal as its callers see it; what it is sent is
/// really run.
class runner {
public:
  runner()
      : server{[this](const test::stand_request& r, test::stand_reply& reply) {
          handle(r, reply);
        }} {}

  json::object last() const {
    std::lock_guard guard{mutex_};
    return last_;
  }
  std::string url() const { return server.url() + "/run"; }

  std::atomic<int> waits{0}; // how often it says: not yet
  std::atomic<int> runs{0};

private:
  void handle(const test::stand_request& r, test::stand_reply& reply) {
    if (r.header("modal-key") != "wk-1" || r.header("modal-secret") != "ws-1")
      return reply.send(401, "modal-http: missing credentials");
    if (r.path != "/run")
      return reply.send(404, "modal-http: no function");
    if (r.method == "POST") {
      auto body = json::parse_object(r.body);
      if (!body || r.header("content-type") != "application/json")
        return reply.send(422, "{}");
      std::lock_guard guard{mutex_};
      last_ = *body;
    } else if (r.query.count("call") == 0) {
      return reply.send(405, "{}");
    }
    if (waits-- > 0)
      return reply.send(303, "", {{"Location", url() + "?call=1"}});
    carry_out(reply);
  }

  void carry_out(test::stand_reply& reply) {
    ++runs;
    auto body = last();
    test::program_run what;
    if (body.at("language") == "shell") {
      what.argv = texts(body.at("argv"));
      auto given = frame::from_base64(body.at("stdin").as_string());
      what.input = given ? *given : "";
    } else {
      what.argv = {body.at("language") == "python" ? "python3" : "node", "-"};
      what.input = body.at("code").as_string();
    }
    for (const auto& [name, value] : body.at("env_vars").as_object())
      what.env[std::string{name}] = std::string{value.as_string()};
    std::string out, err;
    what.sink = [&](bool is_err, std::string_view bytes) {
      (is_err ? err : out) += bytes;
    };
    what.watched_socket = reply.socket();
    json::object answer;
    answer["exit_code"] = test::run_program(what);
    answer["stdout"] = frame::to_base64(out);
    answer["stderr"] = frame::to_base64(err);
    reply.json(200, json::to_text(answer));
  }

  mutable std::mutex mutex_;
  json::object last_;

public:
  test::stand_in server;
};

struct fixture {
  runner modal;
  modal_endpoint_options options{
    .url = modal.url(), .key = secret{"wk-1"}, .secret_part = secret{"ws-1"}};
  std::unique_ptr<remote_side> side;

  fixture() { open(); }
  void open() {
    side = std::make_unique<remote_side>();
    side->open(
      [this](auto client) { return make_modal_endpoint(client, options); });
  }
};

const std::string one = "def tool():\n  return 1\n";

prepared_run python(std::string source) {
  return test::python_run(backend_kind::modal, std::move(source));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(modal_endpoints, fixture)

BOOST_AUTO_TEST_CASE(keeps_the_contract_of_every_provider) {
  // Its answer comes whole: nothing is seen of a run that is broken off. And
  // packages are in its images.
  test::check_contract(
    *side, backend_kind::modal,
    [this] { BOOST_TEST(side->leases->list(backend_kind::modal).empty()); },
    {"failed installs", "wall limits", "cancellation"});
}

BOOST_AUTO_TEST_CASE(says_what_the_sandbox_is_to_be_like) {
  auto run = python(one);
  run.pip_requirements = {{"requests", {}, "==2.31.0"}};
  run.network.mode = network_mode::off;
  run.limits.memory_bytes = 256u << 20;
  side->good(run);
  auto sent = modal.last();
  BOOST_TEST(texts(sent.at("pip")).at(0) == "requests==2.31.0");
  BOOST_TEST(sent.at("npm").as_array().empty());
  BOOST_TEST(sent.at("network") == "off");
  BOOST_TEST(sent.at("memory_mb") == 256);
  BOOST_TEST(sent.at("timeout").as_int64() <= 30);
  run = python("export function tool() { return 1; }");
  run.lang = language::javascript;
  run.npm_requirements = {{"left-pad", "1.3.0"}};
  run.network = {network_mode::listed, {"10.0.0.0/8"}};
  side->good(run);
  sent = modal.last();
  BOOST_TEST(sent.at("language") == "javascript");
  BOOST_TEST(texts(sent.at("npm")).at(0) == "left-pad@1.3.0");
  BOOST_TEST(texts(sent.at("network")).at(0) == "10.0.0.0/8");
  run = test::shell_run(backend_kind::modal, "echo hi");
  run.pip_requirements = {{"requests", {}, ""}};
  run.npm_requirements = {{"left-pad", "1.3.0"}};
  side->good(run);
  sent = modal.last();
  BOOST_TEST(texts(sent.at("pip")).at(0) == "requests");
  BOOST_TEST(texts(sent.at("npm")).at(0) == "left-pad@1.3.0");
}

BOOST_AUTO_TEST_CASE(tells_a_refusal_from_what_may_have_been_begun) {
  for (auto [code, begun] : {std::pair{404, false}, std::pair{401, false},
                             std::pair{500, true}, std::pair{504, true}}) {
    modal.server.add_fault({.path = "/run", .code = code});
    auto outcome = side->run(python(one));
    BOOST_REQUIRE(!outcome.answer.has_value());
    BOOST_TEST(outcome.may_have_started == begun, code);
  }
}

BOOST_AUTO_TEST_CASE(goes_on_waiting_where_it_is_told) {
  modal.waits = 3;
  BOOST_TEST(side->good(python(one)).value_json == "1");
  BOOST_TEST(modal.runs == 1);
  BOOST_TEST(modal.server.count("GET /run") == 3u);
}

BOOST_AUTO_TEST_CASE(goes_nowhere_else) {
  modal.server.add_fault(
    {.path = "/run", .code = 303, .headers = {{"Location", "http://x.y/"}}});
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("redirects")
             != std::string::npos);
  base_url here{true, "a--b.modal.run", 443, ""};
  BOOST_TEST(waiting_target(here, "https://a--b.modal.run/?c=1").value()
             == "/?c=1");
  for (auto bad : {"https://a--b.modal.run.evil/", "//evil/", "http://e/",
                   "https://a--b.modal.run@evil/", "", "/a\nb"})
    BOOST_TEST(!waiting_target(here, bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(names_the_settings_when_the_token_is_refused) {
  options.secret_part = secret{"ws-wrong"};
  open();
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  auto text = outcome.answer.error().text;
  BOOST_TEST(text.find("MODAL_PROXY_TOKEN_SECRET") != std::string::npos);
  BOOST_TEST(text.find("ws-wrong") == std::string::npos);
  options.secret_part = secret{};
  open();
  BOOST_TEST(!side->backend->ready().has_value());
}

BOOST_AUTO_TEST_CASE(ends_at_the_wall_limit) {
  auto run = python("import time\ndef tool():\n  time.sleep(20)\n");
  run.limits.wall = std::chrono::milliseconds{800};
  BOOST_TEST((side->good(run).reason == exit_reason::wall_timeout));
}

BOOST_AUTO_TEST_SUITE_END()
