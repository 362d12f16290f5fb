#include "net/providers/e2b/client.hpp"
#include "net/providers/e2b/messages.hpp"
#include "net/providers/e2b/provider.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/remote_contract.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <future>
#include <memory>

using namespace troupe;
using namespace troupe::net;
using troupe::test::e2b_stand_in;
using troupe::test::fault;
using troupe::test::remote_side;

namespace {

struct fixture {
  e2b_stand_in e2b;
  e2b_options options{.api_key = secret{e2b_stand_in::api_key},
                      .domain = "e2b.app",
                      .api_url = e2b.url(),
                      .sandbox_url = e2b.url()};
  std::unique_ptr<remote_side> side;

  fixture() { open(); }
  void open(provider_limits bounds = {}) {
    side = std::make_unique<remote_side>();
    auto make = [this](auto client) { return make_e2b(client, options); };
    side->open(make, bounds);
  }
  static prepared_run python(std::string source) {
    return test::python_run(backend_kind::e2b, std::move(source));
  }
  void check_nothing_is_left() {
    side->rest();
    BOOST_TEST(e2b.boxes().empty());
    BOOST_TEST(side->leases->list(backend_kind::e2b).empty());
    BOOST_TEST(e2b.created() == e2b.destroyed());
  }
};

const std::string one = "def tool():\n  return 1\n";
const std::string sleeper = "import time\ndef tool():\n"
                            "  print('up', flush=True)\n  time.sleep(20)\n";

} // namespace

BOOST_FIXTURE_TEST_SUITE(e2b_backends, fixture)

BOOST_AUTO_TEST_CASE(keeps_the_contract_of_every_provider) {
  test::check_contract(*side, backend_kind::e2b,
                       [this] { check_nothing_is_left(); });
}

BOOST_AUTO_TEST_CASE(sets_lifetime_labels_and_network_explicitly) {
  auto run = python(sleeper);
  run.network.mode = network_mode::off;
  auto watcher = side->begin(run);
  watcher->wait_for_output("up");
  auto boxes = e2b.boxes();
  BOOST_REQUIRE(boxes.size() == 1u);
  auto body = json::parse_object(boxes.begin()->second.creation);
  BOOST_REQUIRE(body.has_value());
  BOOST_TEST(!body->at("allow_internet_access").as_bool());
  const auto& network = body->at("network").as_object();
  BOOST_TEST(!network.at("allowPublicTraffic").as_bool());
  BOOST_TEST(body->at("timeout").as_int64() > 30);
  auto held = side->leases->list(backend_kind::e2b);
  BOOST_REQUIRE(held.size() == 1u);
  BOOST_TEST(boxes.begin()->second.labels.at("troupe_lease") == held[0].tag);
  side->backend->cancel(run.id, exit_reason::cancelled);
  watcher->wait();
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(refuses_what_the_provider_cannot_enforce) {
  auto run = python(one);
  run.network = {network_mode::listed, {"example.org:443"}};
  auto outcome = side->run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("example.org:443")
             != std::string::npos);
  BOOST_TEST(e2b.created() == 0);
}

BOOST_AUTO_TEST_CASE(names_the_setting_when_the_key_is_refused) {
  options.api_key = secret{"wrong"};
  open();
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  auto text = outcome.answer.error().text;
  BOOST_TEST((outcome.answer.error().code == ec::denied));
  BOOST_TEST(text.find("E2B_API_KEY") != std::string::npos);
  BOOST_TEST(text.find("wrong") == std::string::npos);
  options.api_key = secret{};
  open();
  BOOST_TEST(!side->backend->ready().has_value());
}

BOOST_AUTO_TEST_CASE(waits_out_a_busy_control_plane) {
  e2b.server().add_fault(
    {.path = "/v2/sandboxes", .code = 429, .headers = {{"Retry-After", "0"}}});
  BOOST_TEST(side->good(python(one)).value_json == "1");
  BOOST_TEST(e2b.created() == 1);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(keeps_the_lease_of_a_creation_whose_answer_was_lost) {
  e2b.server().add_fault(
    {.what = fault::kind::reset_after, .path = "/v2/sandboxes"});
  auto outcome = side->run(python(one));
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(!outcome.may_have_started); // nothing of the tool was sent
  BOOST_TEST(e2b.boxes().size() == 1u);
  std::promise<std::size_t> dry, real;
  side->backend->reconcile(true,
                           [&](auto found) { dry.set_value(found->size()); });
  BOOST_TEST(dry.get_future().get() == 1u);
  BOOST_TEST(e2b.boxes().size() == 1u);
  side->backend->reconcile(false,
                           [&](auto found) { real.set_value(found->size()); });
  BOOST_TEST(real.get_future().get() == 1u);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(says_that_a_run_may_have_begun_when_its_sandbox_went) {
  for (auto kind : {fault::kind::reset_before, fault::kind::garbage,
                    fault::kind::endless, fault::kind::status}) {
    e2b.server().add_fault({.what = kind, .path = "/execute", .code = 502});
    auto outcome = side->run(python(one));
    BOOST_TEST(!outcome.answer.has_value());
    BOOST_TEST(outcome.may_have_started);
  }
  check_nothing_is_left();
}

// The next backend may have it: nothing was begun.
BOOST_AUTO_TEST_CASE(says_that_nothing_was_begun_where_nobody_listened) {
  fault gone{.what = fault::kind::raw, .path = "/execute"};
  std::string body = R"({"sandboxId":"ibox1","message":"gone","code":502})";
  gone.bytes = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: "
    + std::to_string(body.size()) + "\r\n\r\n" + body;
  auto refused = fault{.path = "/execute", .code = 403};
  for (const auto& each : {gone, refused}) {
    e2b.server().add_fault(each);
    auto watcher = side->begin(python(one));
    auto outcome = watcher->wait();
    BOOST_TEST(!outcome.answer.has_value());
    BOOST_TEST(!outcome.may_have_started);
    BOOST_TEST(!watcher->started_yet());
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ends_a_process_whose_input_was_lost) {
  e2b.server().add_fault(
    {.what = fault::kind::reset_before, .path = "/process.Process/SendInput"});
  auto run = test::shell_run(backend_kind::e2b, "cat; echo done");
  run.stdin_text = "given";
  auto outcome = side->run(run);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("its input")
             != std::string::npos);
  BOOST_TEST(outcome.may_have_started);
  BOOST_TEST(e2b.server().count("POST /process.Process/SendSignal") == 1u);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(minds_no_process_that_wants_no_input) {
  auto run = test::shell_run(backend_kind::e2b, "cat > /dev/null; echo done");
  run.stdin_text = "given";
  e2b.server().add_fault({.path = "/process.Process/CloseStdin", .code = 404});
  BOOST_TEST(side->good(run).stdout_text == "done\n");
}

// What became of the sandbox, or of a file in it, says nothing about E2B: the
// circuit breaker is told of no failure.
BOOST_AUTO_TEST_CASE(tells_a_lost_input_from_an_outage) {
  auto run = test::shell_run(backend_kind::e2b, "cat; echo done");
  run.stdin_text = "given";
  auto answered = [](std::string_view status, std::string_view body) {
    return "HTTP/1.1 " + std::string{status}
    + "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size())
      + "\r\n\r\n" + std::string{body};
  };
  auto gone = answered("502 Bad Gateway",
                       R"({"sandboxId":"ibox1","message":"gone","code":502})");
  struct row {
    const char* envd;
    std::string path;
    std::string bytes;
    bool begun;
    bool lost;
    int times = 1; // as often as it is asked
  };
  for (const auto& r :
       {row{"0.5.1", "/files", answered("200 OK", "[]"), true, true},
        row{"0.5.1", "/files", gone, false, true, retry_policy{}.tries},
        row{"0.5.1", "/files", answered("507 Full", "{}"), false, false},
        row{"0.6.0", "/process.Process/SendInput", gone, true, true},
        row{"0.6.0", "/process.Process/SendInput", answered("500 Broken", "{}"),
            true, false}})
    BOOST_TEST_CONTEXT(r.envd << " " << r.bytes) {
      e2b.speak_as(r.envd);
      fault f{.what = fault::kind::raw, .path = r.path};
      f.bytes = r.bytes;
      for (int i = 0; i < r.times; ++i)
        e2b.server().add_fault(f);
      auto outcome = side->run(run);
      BOOST_REQUIRE(!outcome.answer.has_value());
      BOOST_TEST(outcome.answer.error().text.find("input")
                 != std::string::npos);
      BOOST_TEST((outcome.answer.error().code == ec::unavailable));
      BOOST_TEST(outcome.may_have_started == r.begun);
      BOOST_TEST(outcome.sandbox_lost == r.lost);
      check_nothing_is_left();
    }
  e2b.speak_as("0.5.1");
  BOOST_TEST(side->good(run).stdout_text == "givendone\n");
}

// A tool's own words are its own, whatever they name.
BOOST_AUTO_TEST_CASE(takes_the_end_of_a_tool_for_its_own) {
  for (auto envd : {"0.5.1", "0.6.0"}) {
    e2b.speak_as(envd);
    auto run = test::shell_run(
      backend_kind::e2b,
      "cat > /dev/null; echo /tmp/troupe-input- >&2; exit 125");
    run.stdin_text = "given";
    BOOST_TEST(side->good(run).exit_code == 125);
  }
}

BOOST_AUTO_TEST_CASE(finds_what_an_older_control_plane_lists) {
  options.legacy_create = true;
  open();
  e2b.server().add_fault(
    {.what = fault::kind::reset_after, .path = "/sandboxes"});
  BOOST_TEST(!side->run(python(one)).answer.has_value());
  BOOST_TEST(e2b.boxes().size() == 1u);
  std::promise<std::size_t> ended;
  side->backend->reconcile(
    false, [&](auto found) { ended.set_value(found ? found->size() : 0); });
  BOOST_TEST(ended.get_future().get() == 1u);
  BOOST_TEST(e2b.server().count("GET /v2/") == 0u);
  check_nothing_is_left();
}

// Templates keep the envd that they were built with.
BOOST_AUTO_TEST_CASE(speaks_to_an_older_envd_as_it_wants_it) {
  for (auto version : {"0.3.9", "0.4.0", "0.5.1", "0.5.2"}) {
    e2b.speak_as(version);
    auto before = e2b.server().requests().size();
    auto run = test::shell_run(backend_kind::e2b, "cat");
    run.stdin_text = "it's given";
    BOOST_TEST_CONTEXT(version) {
      BOOST_TEST(side->good(run).stdout_text == "it's given");
      auto all = e2b.server().requests();
      all.erase(all.begin(), all.begin() + static_cast<long>(before));
      auto asked = [&](std::string_view path) {
        return std::ranges::count(all, path, &test::stand_request::path);
      };
      auto by_file = std::string_view{version} < "0.5.2";
      BOOST_TEST(asked("/files") == (by_file ? 1 : 0));
      BOOST_TEST(asked("/process.Process/CloseStdin") == (by_file ? 0 : 1));
      for (const auto& r : all)
        BOOST_TEST(!r.header("authorization").empty()
                   == (r.path == "/process.Process/Start"
                       && std::string_view{version} < "0.4.0"));
      check_nothing_is_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(ends_a_sandbox_whose_envd_nobody_speaks_to_any_more) {
  e2b.speak_as("0.0.9");
  auto outcome = side->run(python(one));
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST(outcome.answer.error().text.find("build it again")
             != std::string::npos);
  BOOST_TEST(!outcome.may_have_started);
  BOOST_TEST(e2b.created() == 1);
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(refuses_more_than_it_may_run) {
  provider_limits bounds;
  bounds.max_running = 1;
  open(bounds);
  auto slow = python(sleeper);
  auto first = side->begin(slow);
  first->wait_for_output("up");
  auto outcome = side->begin(python(one))->wait();
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::exhausted));
  side->backend->cancel(slow.id, exit_reason::cancelled);
  first->wait();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(e2b_parts)

BOOST_AUTO_TEST_CASE(encodes_the_metadata_filter_three_times) {
  BOOST_TEST(e2b_metadata_filter({{"purpose", "word"}}) == "purpose%3Dword");
  BOOST_TEST(e2b_metadata_filter({{"k y", "v&=1"}})
             == "k%252520y%3Dv%252526%25253D1");
}

BOOST_AUTO_TEST_CASE(takes_an_unreadable_version_for_a_current_one) {
  auto of = [](std::string text) {
    sandbox_handle box;
    box.keys.emplace(e2b::envd_key, std::move(text));
    return e2b::envd_of(box);
  };
  BOOST_TEST((of("0.3.12") < e2b::names_its_user));
  BOOST_TEST((of("0.5.2-rc1") >= e2b::closes_input));
  BOOST_TEST((of("1.0") >= e2b::closes_input));
  BOOST_TEST((of("0.10.0") >= e2b::closes_input));
  for (auto odd : {"", "dev", "-1.2", "99999999999999.1"})
    BOOST_TEST((of(odd) >= e2b::closes_input), odd);
}

BOOST_AUTO_TEST_CASE(finds_sandboxes_where_their_own_client_does) {
  auto place = [](std::string domain, std::uint16_t port) {
    e2b_options o;
    o.domain = domain;
    e2b_client client{nullptr, o, {}, {}};
    sandbox_handle box;
    box.id = "ibox";
    auto r = client.to_sandbox(box, port, boost::beast::http::verb::get, "/",
                               call_scope{});
    BOOST_REQUIRE(r.has_value());
    BOOST_TEST(r->headers["E2b-Sandbox-Id"] == "ibox");
    return r->service.text();
  };
  for (std::string known : {"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"})
    BOOST_TEST(place(known, e2b_client::envd_port)
               == "https://sandbox." + known);
  BOOST_TEST(place("e2b.app", e2b_client::interpreter_port)
             == "https://49999-ibox.e2b.app");
  BOOST_TEST(place("e2b.example", e2b_client::envd_port)
             == "https://49983-ibox.e2b.example");
}

BOOST_AUTO_TEST_CASE(builds_host_names_only_from_ids_that_look_like_ids) {
  BOOST_TEST(is_e2b_sandbox_id("i0abc-1234"));
  for (auto bad : {"", "a.b", "x/y", "ABC", "..", "-a", "a-", "a b", "a@b"})
    BOOST_TEST(!is_e2b_sandbox_id(bad), bad);
}

BOOST_AUTO_TEST_SUITE_END()
