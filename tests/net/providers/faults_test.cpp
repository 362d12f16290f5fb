// The faults of remote backends that must be survived (P15; B40 to B55):
// whatever a provider does, a run ends in time, nothing is left there, and no
// secret is told to anybody.
#include "net/client/address_rules.hpp"
#include "net/providers/connect_stream.hpp"
#include "tests/net/providers/fault_server.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_FIXTURE_TEST_SUITE(provider_faults, fault_house)

// B40
BOOST_AUTO_TEST_CASE(survives_errors_of_the_server) {
  for (auto code : {500, 502, 503, 504})
    everywhere({.code = code});
}

BOOST_AUTO_TEST_CASE(gives_up_on_a_server_that_only_fails) {
  auto p = at_e2b();
  for (int i = 0; i < 4; ++i)
    p->server->add_fault({.path = "/v2/sandboxes", .code = 503});
  auto outcome = survive(*p, 30s);
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(p->server->count("POST /v2/sandboxes") == 4u);
}

// B41
BOOST_AUTO_TEST_CASE(honours_retry_after_and_no_nonsense) {
  for (auto after : {"0", "-5", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"}) {
    auto p = at_e2b();
    p->server->add_fault({.path = "/v2/sandboxes",
                          .code = 429,
                          .headers = {{"Retry-After", after}}});
    BOOST_TEST(survive(*p).answer.has_value(), after);
  }
  auto p = at_e2b();
  p->server->add_fault({.path = "/v2/sandboxes",
                        .code = 429,
                        .headers = {{"Retry-After", "3600"}}});
  auto outcome = survive(*p);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::exhausted));
  BOOST_TEST((outcome.answer.error().retry_after == 1h));
  auto d = at_daytona();
  d->server->add_fault({.path = "/api/sandbox",
                        .code = 429,
                        .headers = {{"Retry-After-sandbox-create", "0"}}});
  BOOST_TEST(survive(*d).answer.has_value());
}

// B42
BOOST_AUTO_TEST_CASE(says_which_key_is_refused_and_not_what_it_is) {
  auto p = at_e2b("e2b_the-wrong-key");
  auto outcome = survive(*p);
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::denied));
  BOOST_TEST(contains(outcome.answer.error().text, "E2B_API_KEY"));
  BOOST_TEST(p->server->count("POST /v2/sandboxes") == 1u);
  // One that repeats what it was sent.
  auto echo = at_e2b();
  auto f = raw(with_status("401 No",
                           R"({"message":"bad key )" + echo->key + " with "
                             + value + "\"}"));
  f.path = "/v2/sandboxes";
  echo->server->add_fault(f);
  auto told = survive(*echo);
  BOOST_REQUIRE(!told.answer.has_value());
  BOOST_TEST(contains(told.answer.error().text, "bad key *** with ***"));
}

// B43
BOOST_AUTO_TEST_CASE(holds_the_deadline_against_silence_and_trickles) {
  everywhere_until({.what = kind::silent}, 1'500ms);
  everywhere_until({.what = kind::trickle}, 1'500ms);
}

// B44
BOOST_AUTO_TEST_CASE(survives_resets) {
  everywhere({.what = kind::reset_before});
  everywhere({.what = kind::reset_after});
}

// B45
BOOST_AUTO_TEST_CASE(does_not_take_half_an_answer_for_a_whole_one) {
  for (auto half :
       {"HTTP/1.1 201 Cre", "HTTP/1.1 201 Created\r\nContent-Le",
        "HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{\"sandboxID\":",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"})
    everywhere(raw(half));
}

// B46
BOOST_AUTO_TEST_CASE(bounds_garbage) {
  std::string deep(100'000, '[');
  std::string nul{"{\"a\":\"\0\"}", 9};
  for (auto body : {std::string{}, std::string{"not json"}, std::string{"[]"},
                    std::string{"null"}, deep, nul,
                    std::string{R"({"sandboxID":7,"id":{},"success":"yes"})"}})
    everywhere(raw(with_status("200 OK", body)));
  everywhere({.what = kind::garbage});
  everywhere({.what = kind::endless});
  std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  everywhere({.what = kind::endless, .bytes = chunked + "1;", .more = "x=y;"});
  everywhere({.what = kind::endless, .bytes = chunked + "0\r\n"});
  everywhere({.what = kind::flood});
  std::string interim;
  for (int i = 0; i < 1'000; ++i)
    interim += "HTTP/1.1 103 Early\r\n\r\n";
  everywhere(raw(interim));
  everywhere(raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                 "Content-Length: 3\r\n\r\n\x1f\x8b\x08"));
}

// B47
BOOST_AUTO_TEST_CASE(looks_into_what_says_success) {
  auto p = at_e2b();
  for (auto body :
       {R"({"sandboxID":"../../admin"})", R"({"sandboxID":"a.evil.example"})",
        R"({"sandboxID":""})", R"({"code":500,"message":"it failed"})"}) {
    auto f = raw(with_status("201 Created", body));
    f.path = "/v2/sandboxes";
    p->server->add_fault(f);
    BOOST_TEST(!survive(*p).answer.has_value(), body);
  }
  auto d = at_daytona();
  auto other = raw(with_status("200 OK",
                               R"({"id":"another","state":"started",)"
                               R"("toolboxProxyUrl":"http://127.0.0.1:9/"})"));
  other.path = "/api/sandbox/";
  d->server->add_fault(other);
  BOOST_TEST(!survive(*d).answer.has_value());
}

// B48
BOOST_AUTO_TEST_CASE(survives_broken_frames) {
  auto frame = [](char flags, std::string_view text) {
    auto bytes = connect_envelope(text);
    bytes[0] = flags;
    return bytes;
  };
  auto start = frame(0, R"({"event":{"start":{"pid":7}}})");
  auto end = frame(0, R"({"event":{"end":{"exited":true}}})");
  auto alive = frame(0, R"({"event":{"keepalive":{}}})");
  auto p = at_e2b();
  for (const auto& body :
       {std::string{"\0\xff\xff\xff\xff{", 6}, start + frame(2, "{}"), alive,
        frame(1, "{}"), start + end, start + end + frame(2, "{}") + start,
        start + frame(2, R"({"error":{"code":"internal","message":"no"}})"),
        std::string{"\0\0\0", 3}, start + frame(0, "[]")}) {
    auto f = raw(with_status("200 OK", body));
    f.path = "/process.Process/Start";
    p->server->add_fault(f);
    auto run = shell_run(p->where, "echo never");
    run.deadline = steady::now() + 10s;
    auto outcome = p->side.run(run);
    BOOST_TEST(!outcome.answer.has_value());
    BOOST_TEST(outcome.may_have_started);
  }
  BOOST_TEST(is_clean(*p));
}

// B49
BOOST_AUTO_TEST_CASE(follows_no_redirect_and_sends_its_key_nowhere) {
  std::string seen;
  stand_in elsewhere{[&](const stand_request& r, stand_reply& reply) {
    seen += r.path;
    reply.json(200, "{}");
  }};
  for (auto code : {301, 302, 303, 307, 308})
    for (auto to : {elsewhere.url() + "/stolen",
                    std::string{"http://169.254.169.254/latest"},
                    std::string{"/v2/sandboxes"}})
      everywhere({.code = code, .headers = {{"Location", to}}});
  BOOST_TEST(seen.empty());
}

// B51
BOOST_AUTO_TEST_CASE(ends_in_time_where_no_name_leads) {
  remote_side side;
  e2b_options o;
  o.api_key = secret{"k"};
  o.api_url = "http://no-such-host.invalid";
  side.open([o](auto client) { return make_e2b(client, o); }, bounds());
  auto run = python_run(backend_kind::e2b, "def f():\n  return 1\n");
  auto began = steady::now();
  run.deadline = began + 3s;
  auto outcome = side.run(run);
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(!outcome.may_have_started);
  BOOST_TEST((steady::now() - began < 5s));
}

BOOST_AUTO_TEST_CASE(lets_only_the_operator_point_into_the_house) {
  using boost::asio::ip::make_address;
  auto may = [](const address_rule& rule, const char* address) {
    return !rule || rule(make_address(address));
  };
  auto named = parse_base_url("https://aio.example").value();
  auto written = parse_base_url("http://10.0.0.7:8090").value();
  auto here = parse_base_url("http://localhost:1").value();
  auto there = parse_base_url("http://127.0.0.1:2").value();
  BOOST_TEST(!may(operators_rule(named, false), "10.0.0.7"));
  BOOST_TEST(!may(operators_rule(named, false), "169.254.169.254"));
  BOOST_TEST(may(operators_rule(named, false), "1.1.1.1"));
  BOOST_TEST(may(operators_rule(named, true), "10.0.0.7"));
  BOOST_TEST(may(operators_rule(written, false), "10.0.0.7"));
  // A reply may not: not even to where the operator's own words lead.
  BOOST_TEST(!may(replied_rule(written, named, false), "10.0.0.7"));
  BOOST_TEST(!may(replied_rule(there, named, false), "127.0.0.1"));
  BOOST_TEST(may(replied_rule(there, here, false), "127.0.0.1"));
  BOOST_TEST(!may(replied_rule(written, here, false), "10.0.0.7"));
}

BOOST_AUTO_TEST_CASE(lets_no_reply_take_the_encryption_away) {
  auto api = parse_base_url("https://app.daytona.io/api").value();
  auto local = parse_base_url("http://127.0.0.1:1").value();
  auto refused = parse_replied_url("http://proxy.app.daytona.io/toolbox", api);
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST((refused.error().code == ec::denied));
  BOOST_TEST(
    parse_replied_url("https://proxy.app.daytona.io/t", api).has_value());
  // Who began in the clear has nothing to lose.
  BOOST_TEST(parse_replied_url("http://127.0.0.1:2", local).has_value());
  BOOST_TEST(parse_replied_url("nonsense", api).has_error());
}

// B52
BOOST_AUTO_TEST_CASE(ends_with_the_sandbox_that_went_away) {
  auto p = at_e2b();
  auto run = python_run(p->where,
                        "import time\ndef tool():\n"
                        "  print('up', flush=True)\n  time.sleep(20)\n");
  auto watcher = p->side.begin(run);
  watcher->wait_for_output("up");
  e2b.end_everything();
  auto outcome = watcher->wait();
  BOOST_TEST(!outcome.answer.has_value());
  BOOST_TEST(outcome.may_have_started);
  BOOST_TEST(
    contains(outcome.answer.error().text, "its sandbox no longer exists"));
  BOOST_TEST(outcome.sandbox_lost);
  p->side.rest();
  BOOST_TEST(p->side.leases->list(p->where).empty());
}

/// What a proxy says in the place of a sandbox is about that one; what it says
/// without naming one is about the provider.
BOOST_AUTO_TEST_CASE(tells_a_sandbox_that_is_gone_from_a_provider_that_is_out) {
  auto e = at_e2b();
  auto gone = raw(with_status(
    "502 Bad Gateway", R"({"sandboxId":"ibox1","message":"gone","code":502})"));
  gone.path = "/execute";
  e->server->add_fault(gone);
  auto outcome = survive(*e);
  BOOST_TEST(outcome.sandbox_lost);
  BOOST_TEST(!outcome.may_have_started); // so it goes on somewhere else
  BOOST_REQUIRE(!outcome.answer.has_value());
  BOOST_TEST((outcome.answer.error().code == ec::unavailable));
  e->server->add_fault({.path = "/execute", .code = 502});
  BOOST_TEST(!survive(*e).sandbox_lost);
  auto d = at_daytona();
  for (auto code : {404, 410}) {
    d->server->add_fault({.path = "/toolbox/", .code = code});
    outcome = survive(*d);
    BOOST_TEST(outcome.sandbox_lost, code);
    BOOST_TEST(!outcome.may_have_started);
  }
  // No sandbox, no place: what could not be made says nothing of the kind.
  for (auto* p : {e.get(), d.get()}) {
    p->server->add_fault({.path = p->phases[0], .code = 404});
    BOOST_TEST(!survive(*p).sandbox_lost, p->name);
  }
}

// B53
BOOST_AUTO_TEST_CASE(finds_what_could_not_be_deleted) {
  for (auto what : {kind::status, kind::reset_before, kind::garbage}) {
    auto p = at_e2b();
    fault f{.what = what, .path = "/sandboxes/", .code = 500};
    for (int i = 0; i < 4; ++i) // as often as it is tried
      p->server->add_fault(f);
    survive(*p);
  }
  BOOST_TEST(e2b.created() == e2b.destroyed());
}

BOOST_AUTO_TEST_CASE(leaves_what_belongs_to_another_engine) {
  auto p = at_e2b();
  e2b.leave_one_behind();
  reconcile(*p);
  BOOST_TEST(e2b.boxes().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
