#include "net/compat/e2b/e2b.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/http/url.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using namespace troupe::net::e2b_facade;
using test::raw_answer;

BOOST_AUTO_TEST_SUITE(e2b_facade)

namespace {

std::string key_field(const std::string& key) {
  return "X-API-Key: " + key + "\r\n";
}

/// A server at the root and below /compat/e2b, for two tenants.
struct house {
  house() {
    for (auto* key : {&one, &two})
      engine.add_key(key->record);
    auto options = test::http_house::prepare({});
    options.auth = net::auth_mode::required;
    server.emplace(engine, std::move(options));
    shared = make_facade(engine, &sandboxes);
    add_e2b_at_root(server->routes(), shared);
    BOOST_REQUIRE(server->start());
  }

  raw_answer send(std::string_view verb, const std::string& path,
                  std::string_view body = {}, const std::string& fields = {}) {
    return test::ask(server->port(), verb, path, body, fields);
  }
  /// A body that is no JSON.
  raw_answer post(const std::string& path, const std::string& body,
                  const std::string& fields, const std::string& type) {
    test::raw_client client{server->port()};
    client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields
                + "Connection: close\r\nContent-Type: " + type
                + "\r\nContent-Length: " + std::to_string(body.size())
                + "\r\n\r\n" + body);
    return client.read(false);
  }
  raw_answer as(const new_key& who, std::string_view verb,
                const std::string& path, std::string_view body = {}) {
    return send(verb, path, body, key_field(who.text.reveal()));
  }
  json::object made_by(const new_key& who) {
    auto made = as(who, "POST", "/v2/sandboxes",
                   R"({"templateID":"base","metadata":{"a":"1"}})");
    BOOST_REQUIRE_MESSAGE(made.status == 201, made.body);
    return json::parse_object(made.body).value();
  }
  static std::string text(const json::object& o, std::string_view name) {
    return std::string{o.at(name).as_string()};
  }
  std::string into(const json::object& made,
                   const std::string& port = "49983") {
    return "E2b-Sandbox-Id: " + text(made, "sandboxID")
      + "\r\nE2b-Sandbox-Port: " + port + "\r\n";
  }
  std::string token_of(const json::object& made) {
    return into(made) + "X-Access-Token: " + text(made, "envdAccessToken")
      + "\r\n";
  }

  test::fake_engine engine;
  test::fake_sandboxes sandboxes;
  new_key one = make_api_key(default_organization(), "one", 1, key_format::e2b);
  new_key two = make_api_key(organization_id::make(), "two", 1);
  std::shared_ptr<facade> shared;
  std::optional<net::http_server> server;
};

int code_in(const raw_answer& a) {
  return static_cast<int>(
    json::parse_object(a.body).value().at("code").as_int64());
}

} // namespace

BOOST_AUTO_TEST_CASE(a_key_of_that_form_is_what_its_clients_insist_on) {
  house h;
  const auto& text = h.one.text.reveal();
  BOOST_TEST(text.size() == 44u);
  BOOST_TEST(text.starts_with("e2b_"));
  BOOST_TEST(text.find_first_not_of("0123456789abcdef", 4) == text.npos);
  BOOST_TEST(h.as(h.one, "GET", "/v2/sandboxes").body == "[]");
}

BOOST_AUTO_TEST_CASE(without_a_key_that_is_valid_the_code_is_401) {
  house h;
  for (const std::string fields :
       {"", "X-API-Key: e2b_0000000000000000000000000000000000000000\r\n",
        "X-API-Key: x\r\n"}) {
    const auto a
      = h.send("POST", "/sandboxes", R"({"templateID":"base"})", fields);
    BOOST_TEST(a.status == 401);
    BOOST_TEST(code_in(a) == 401);
  }
}

BOOST_AUTO_TEST_CASE(a_sandbox_is_told_with_all_that_clients_require) {
  house h;
  const auto made = h.made_by(h.one);
  const auto id = house::text(made, "sandboxID");
  const auto shown = h.as(h.one, "GET", "/sandboxes/" + id);
  BOOST_REQUIRE(shown.status == 200);
  const auto o = json::parse_object(shown.body).value();
  for (const char* each :
       {"sandboxID", "templateID", "clientID", "startedAt", "endAt", "cpuCount",
        "memoryMB", "diskSizeMB", "state", "envdVersion", "metadata"})
    BOOST_TEST(o.contains(each), each);
  BOOST_TEST(house::text(o, "state") == "running");
  BOOST_TEST(h.as(h.one, "DELETE", "/sandboxes/" + id).status == 204);
  BOOST_TEST(code_in(h.as(h.one, "DELETE", "/sandboxes/" + id)) == 404);
}

BOOST_AUTO_TEST_CASE(another_tenants_sandbox_is_not_found_by_any_call) {
  house h;
  const auto id = house::text(h.made_by(h.one), "sandboxID");
  const std::string one = "/sandboxes/" + id;
  const std::pair<const char*, std::string> calls[]
    = {{"GET", one},
       {"DELETE", one},
       {"GET", one + "/metrics"},
       {"GET", one + "/logs"},
       {"GET", "/v2" + one + "/logs"}};
  for (const auto& [verb, path] : calls)
    BOOST_TEST(h.as(h.two, verb, path).status == 404, path);
  for (const char* call : {"/timeout", "/refreshes", "/pause", "/connect",
                           "/resume", "/snapshots", "/fork"})
    BOOST_TEST(
      h.as(h.two, "POST", one + call, R"({"timeout":10})").status == 404, call);
  BOOST_TEST(h.as(h.two, "POST", "/v2" + one + "/connect", "{}").status == 404);
  BOOST_TEST(h.as(h.two, "GET", "/v2/sandboxes").body == "[]");
  BOOST_TEST(h.as(h.one, "GET", one).status == 200);
}

BOOST_AUTO_TEST_CASE(an_id_that_is_none_is_not_found) {
  house h;
  for (const char* id : {"NOT-AN-ID", "a", "%2e%2e", "a%00b", "..%5c"}) {
    const auto a = h.as(h.one, "GET", std::string{"/sandboxes/"} + id);
    BOOST_TEST((a.status == 404 || a.status == 400), id);
  }
  for (const char* id : {"..", "../../etc", "a/b", "ABC"})
    BOOST_TEST(h.send("GET", "/health", {},
                      "E2b-Sandbox-Id: " + std::string{id} + "\r\n")
                   .status
                 == 400,
               id);
}

BOOST_AUTO_TEST_CASE(every_call_into_a_sandbox_needs_its_token) {
  house h;
  const auto mine = h.made_by(h.one);
  const auto theirs = h.made_by(h.two);
  const std::pair<const char*, const char*> calls[]
    = {{"GET", "/files?path=a"},
       {"POST", "/files?path=a"},
       {"GET", "/envs"},
       {"GET", "/metrics"},
       {"POST", "/process.Process/Start"},
       {"POST", "/process.Process/Connect"},
       {"POST", "/process.Process/List"},
       {"POST", "/process.Process/SendInput"},
       {"POST", "/process.Process/SendSignal"},
       {"POST", "/process.Process/CloseStdin"},
       {"POST", "/process.Process/Update"},
       {"POST", "/filesystem.Filesystem/Stat"},
       {"POST", "/filesystem.Filesystem/ListDir"},
       {"POST", "/filesystem.Filesystem/MakeDir"},
       {"POST", "/filesystem.Filesystem/Move"},
       {"POST", "/filesystem.Filesystem/Remove"},
       {"POST", "/filesystem.Filesystem/WatchDir"}};
  const auto foreign
    = "X-Access-Token: " + house::text(theirs, "envdAccessToken") + "\r\n";
  for (const auto& [verb, path] : calls)
    for (const auto& token : {std::string{}, foreign}) {
      const auto a = h.send(verb, path, "{}", h.into(mine) + token);
      BOOST_TEST(a.status == 401, path);
      BOOST_TEST(code_in(a) == 401);
    }
  const auto execute
    = h.send("POST", "/execute", R"({"code":"1"})", h.into(mine, "49999"));
  BOOST_TEST(execute.status == 401);
  BOOST_TEST(h.send("GET", "/health", {}, h.into(mine)).status == 204);
}

BOOST_AUTO_TEST_CASE(a_sandbox_that_is_gone_is_not_found_at_the_front) {
  house h;
  const auto made = h.made_by(h.one);
  const auto id = house::text(made, "sandboxID");
  BOOST_TEST(h.as(h.one, "POST", "/sandboxes/" + id + "/pause").status == 204);
  auto a = h.send("GET", "/health", {}, h.into(made));
  BOOST_TEST(a.status == 502);
  BOOST_TEST(code_in(a) == 502);
  BOOST_TEST(a.body.find("The sandbox was not found") != std::string::npos);
  BOOST_TEST(h.as(h.one, "POST", "/sandboxes/" + id + "/pause").status == 409);
  a = h.as(h.one, "POST", "/v2/sandboxes/" + id + "/connect", "{}");
  BOOST_TEST(a.status == 201);
  BOOST_TEST(house::text(json::parse_object(a.body).value(), "envdAccessToken")
             == house::text(made, "envdAccessToken"));
  BOOST_TEST(h.send("GET", "/health", {}, h.into(made)).status == 204);
  BOOST_TEST(h.as(h.one, "DELETE", "/sandboxes/" + id).status == 204);
  BOOST_TEST(h.send("GET", "/health", {}, h.token_of(made)).status == 502);
}

BOOST_AUTO_TEST_CASE(ports_that_are_not_public_take_a_token_of_their_own) {
  house h;
  auto made = h.as(h.one, "POST", "/v2/sandboxes",
                   R"({"templateID":"base",)"
                   R"("network":{"allowPublicTraffic":false}})");
  BOOST_REQUIRE_MESSAGE(made.status == 201, made.body);
  const auto o = json::parse_object(made.body).value();
  const auto traffic = "E2b-Traffic-Access-Token: "
    + house::text(o, "trafficAccessToken") + "\r\n";
  const auto contexts = h.into(o, "49999");
  BOOST_TEST(h.send("GET", "/health", {}, contexts).status == 403);
  BOOST_TEST(
    h.send("GET", "/health", {}, contexts + "E2b-Traffic-Access-Token: x\r\n")
      .status
    == 403);
  BOOST_TEST(h.send("GET", "/health", {}, contexts + traffic).status == 200);
  BOOST_TEST(h.send("GET", "/", {}, h.into(o, "3000")).status == 403);
  BOOST_TEST(h.send("GET", "/", {}, h.into(o, "3000") + traffic).status == 502);
  BOOST_TEST(h.send("GET", "/health", {}, h.into(o)).status == 204);
  const auto shown
    = h.as(h.one, "GET", "/sandboxes/" + house::text(o, "sandboxID"));
  BOOST_TEST(shown.body.find("troupe.e2b") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_terminal_is_told_as_one) {
  house h;
  const auto made = h.made_by(h.one);
  const auto begin = [&](const std::string& size) {
    const auto body = envelope_of(
      R"({"process":{"cmd":"sh","args":["-c","echo hi"]},"pty":{"size":)" + size
      + "}}");
    return h
      .post("/process.Process/Start", body, h.token_of(made),
            "application/connect+json")
      .body;
  };
  BOOST_TEST(begin(R"({"cols":100,"rows":20})").find(R"({"pty":"aGkK"})")
             != std::string::npos);
  BOOST_TEST(begin(R"({"cols":0,"rows":20})").find("invalid_argument")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_program_is_told_in_envelopes) {
  house h;
  const auto made = h.made_by(h.one);
  const auto body = envelope_of(
    R"({"process":{"cmd":"/bin/bash","args":["-l","-c","echo hi"]},)"
    R"("stdin":false})");
  const auto a = h.post("/process.Process/Start", body, h.token_of(made),
                        "application/connect+json");
  BOOST_REQUIRE(a.status == 200);
  envelope_reader reader{1'024};
  reader.feed(a.body);
  std::string all;
  for (auto next = reader.next(); next && *next; next = reader.next())
    all += (*next)->payload + ((*next)->end ? "." : "\n");
  BOOST_TEST(all.starts_with(R"({"event":{"start":{"pid":7}}})"), all);
  BOOST_TEST(all.find(R"({"event":{"data":{"stdout":"aGkK"}}})") != all.npos);
  BOOST_TEST(all.find(R"("exitCode":0)") != all.npos);
  BOOST_TEST(all.ends_with("{}."), all);
}

BOOST_AUTO_TEST_CASE(files_go_in_and_out_also_by_a_signature) {
  house h;
  const auto made = h.made_by(h.one);
  const auto put = h.post("/files?path=a.txt", "content", h.token_of(made),
                          "application/octet-stream");
  BOOST_TEST(
    put.body
    == R"([{"path":"/home/user/a.txt","name":"a.txt","type":"file"}])");
  const auto got = h.send("GET", "/files?path=a.txt", {}, h.token_of(made));
  BOOST_TEST(got.body == "content");
  const auto token = house::text(made, "envdAccessToken");
  auto signature = signature_of({"a.txt", false, "", {}}, token);
  BOOST_TEST(
    h.send("GET",
           "/files?path=a.txt&signature=" + net::percent_encode(signature))
      .body
    == "content");
  const auto wrong = h.send(
    "GET", "/files?path=b.txt&signature=" + net::percent_encode(signature));
  BOOST_TEST(wrong.status == 401);
  BOOST_TEST(wrong.body == R"({"code":401,"message":"invalid signature"})");
  signature = signature_of({"a.txt", false, "", 1}, token);
  const auto late = h.send("GET",
                           "/files?path=a.txt&signature_expiration=1&signature="
                             + net::percent_encode(signature));
  BOOST_TEST(late.body
             == R"({"code":401,"message":"signature is already expired"})");
}

BOOST_AUTO_TEST_CASE(a_filter_by_metadata_is_decoded_as_often_as_encoded) {
  house h;
  h.made_by(h.one);
  const auto body
    = R"({"templateID":"base","metadata":{"purpose":"word","k y":"v&=1"}})";
  BOOST_TEST(h.as(h.one, "POST", "/sandboxes", body).status == 201);
  const auto found = h.as(h.one, "GET",
                          "/v2/sandboxes?metadata="
                          "purpose%3Dword%26k%252520y%3Dv%252526%25253D1");
  BOOST_REQUIRE_MESSAGE(found.status == 200, found.body);
  BOOST_TEST(json::parse(found.body).value().as_array().size() == 1u);
  BOOST_TEST(h.as(h.one, "GET", "/v2/sandboxes?metadata=a").status == 400);
}

BOOST_AUTO_TEST_CASE(pages_go_on_where_the_one_before_ended) {
  house h;
  for (int i = 0; i < 3; ++i)
    h.made_by(h.one);
  auto first = h.as(h.one, "GET", "/v2/sandboxes?limit=2&order=asc");
  BOOST_TEST(json::parse(first.body).value().as_array().size() == 2u);
  BOOST_TEST(first.fields["x-total-running"] == "3");
  const auto token = first.fields["x-next-token"];
  BOOST_REQUIRE(!token.empty());
  auto second = h.as(h.one, "GET",
                     "/v2/sandboxes?limit=2&order=asc&nextToken="
                       + net::percent_encode(token));
  BOOST_TEST(json::parse(second.body).value().as_array().size() == 1u);
  BOOST_TEST(!second.fields.contains("x-next-token"));
  const auto other = h.as(
    h.one, "GET", "/v2/sandboxes?nextToken=" + net::percent_encode(token));
  BOOST_TEST(other.status == 400);
}

BOOST_AUTO_TEST_CASE(what_is_not_served_says_so_by_name) {
  house h;
  const auto path = h.as(h.one, "GET", "/v9/nothing?x=1");
  BOOST_TEST(path.status == 404);
  BOOST_TEST(path.body.find("GET /v9/nothing is not served")
             != std::string::npos);
  const auto feature = h.as(h.one, "POST", "/v3/templates", "{}");
  BOOST_TEST(feature.status == 501);
  BOOST_TEST(feature.body.find("not_implemented") != std::string::npos);
  const auto field = h.as(
    h.one, "POST", "/sandboxes",
    R"({"templateID":"base","volumeMounts":[{"name":"v","path":"/v"}]})");
  BOOST_TEST(field.status == 400);
  BOOST_TEST(field.body.find("volumeMounts") != std::string::npos);
  const auto named = h.as(h.one, "POST", "/sandboxes", R"({"templateID":"x"})");
  BOOST_TEST(named.status == 404);
  BOOST_TEST(h.send("GET", "/compat/e2b").status == 200);
}

BOOST_AUTO_TEST_SUITE_END()
