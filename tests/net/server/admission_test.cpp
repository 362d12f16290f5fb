#include "net/compat/letta/letta.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_admission)

namespace {

std::string command_run() {
  return R"({"command":"true"})";
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_only_for_its_own_names) {
  net::server_options o;
  o.allowed_hosts = {"tools.example"};
  http_house house{o};
  auto with_host = [&](std::string host) {
    raw_client c{house.port};
    c.send("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return c.read().status;
  };
  BOOST_TEST(with_host("localhost") == 200);
  BOOST_TEST(with_host("127.0.0.1:8283") == 200);
  BOOST_TEST(with_host("[::1]:8283") == 200);
  BOOST_TEST(with_host("Tools.Example:80") == 200);
  BOOST_TEST(with_host("rebound.evil.example") == 421);
  BOOST_TEST(with_host("localhost.evil.example") == 421);
  BOOST_TEST(with_host("127.evil.example:8283") == 421);
}

// A name that begins as an address does leads wherever its owner wants.
BOOST_AUTO_TEST_CASE(makes_no_key_for_a_page_whose_name_was_rebound) {
  http_house house;
  const std::string wanted = R"({"name":"x","scopes":["admin"]})";
  auto with_name = [&](const std::string& name) {
    raw_client c{house.port};
    auto at = name + ":" + std::to_string(house.port);
    c.send("POST /v1/keys HTTP/1.1\r\nHost: " + at + "\r\nOrigin: http://" + at
           + "\r\nContent-Type: application/json\r\nContent-Length: "
           + std::to_string(wanted.size()) + "\r\n\r\n" + wanted);
    return c.read().status;
  };
  BOOST_TEST(with_name("127.evil.example") == 421);
  BOOST_TEST(with_name("127.0.0.1.evil.example") == 421);
  BOOST_TEST(with_name("127.0.0.1") == 201);
}

BOOST_AUTO_TEST_CASE(reads_allowed_names_as_people_write_them) {
  net::server_options o;
  o.allowed_hosts = {"Tools.Example:8283", "fd00::1", "[fd00::2]"};
  http_house house{o};
  for (std::string host : {"tools.example", "[fd00::1]:80", "[fd00::2]"}) {
    raw_client c{house.port};
    c.send("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    BOOST_TEST(c.read().status == 200, host);
  }
}

// A probe goes by address, whatever names there are.
BOOST_AUTO_TEST_CASE(answers_for_the_address_that_it_was_reached_at) {
  net::server_options o;
  o.listen = {"0.0.0.0:0"};
  o.auth = net::auth_mode::required;
  o.allowed_hosts = {"tools.example"};
  auto key = make_api_key(default_organization(), "m", 1);
  http_house house{o, {}, key.record};
  auto with_host = [&](std::string host) {
    raw_client c{house.port};
    c.send("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return c.read().status;
  };
  BOOST_TEST(with_host("127.0.0.1:8283") == 200);
  BOOST_TEST(with_host("tools.example") == 200);
  BOOST_TEST(with_host("127.0.0.2") == 421);
  BOOST_TEST(with_host("rebound.evil.example") == 421);
}

BOOST_AUTO_TEST_CASE(shows_how_it_does_to_strangers_only_when_told_to) {
  for (bool open : {false, true}) {
    net::server_options o;
    o.listen = {"0.0.0.0:0"};
    o.auth = net::auth_mode::required;
    o.open_details = open;
    auto key = make_api_key(default_organization(), "m", 1);
    http_house house{o, {}, key.record};
    BOOST_TEST(house.get("/livez").status == 200);
    BOOST_TEST(house.get("/metrics").status == (open ? 200 : 401));
    auto ready = house.get("/readyz?verbose");
    BOOST_TEST(ready.status == 200);
    BOOST_TEST((ready.body.find("store") != ready.body.npos) == open);
    auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
    BOOST_TEST(house.get("/metrics", bearer).status == 200);
    auto known = house.get("/readyz?verbose", bearer);
    BOOST_TEST(known.body.find("store") != known.body.npos);
    auto wrong = house.get("/readyz?verbose", "Authorization: Bearer no\r\n");
    BOOST_TEST(wrong.status == 200);
    BOOST_TEST((wrong.body.find("store") != wrong.body.npos) == open);
  }
}

BOOST_AUTO_TEST_CASE(refuses_requests_from_pages_of_other_sites) {
  http_house house;
  auto evil
    = house.post("/v1/runs", command_run(), "Origin: https://evil.example\r\n");
  BOOST_TEST(evil.status == 403);
  BOOST_TEST(!evil.fields.contains("access-control-allow-origin"));
  for (std::string fields : {
         "Origin: null\r\n",
         "Origin: http://localhost:3000\r\n",
         "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
         "Origin: http://localhost\r\nSec-Fetch-Site: same-site\r\n",
       })
    BOOST_TEST(house.post("/v1/runs", command_run(), fields).status == 403,
               fields);
  BOOST_TEST(
    house.post("/v1/runs", command_run(), "Origin: http://localhost\r\n").status
    == 200);
}

// Every way in, with what a page can send without being asked.
BOOST_AUTO_TEST_CASE(lets_no_foreign_page_reach_a_handler_by_any_route) {
  test::fake_engine engine;
  net::http_server server{engine, http_house::prepare({})};
  net::add_api(server.routes(), engine);
  net::letta::add_letta(server.routes(), engine);
  BOOST_REQUIRE(server.start());
  const std::string pages[] = {
    "Origin: http://evil.example\r\n",
    "Origin: null\r\n",
    "Origin: http://localhost:1\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\n",
    "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-Dest: iframe\r\n",
    "Origin: http://evil.example\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
  };
  for (const auto& each : server.routes().routes()) {
    auto verb = std::string{net::to_string(each.verb)};
    for (const auto& page : pages) {
      raw_client c{server.port()};
      c.send(verb + " " + each.path
             + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + page
             + "\r\n");
      auto a = c.read(verb == "HEAD");
      BOOST_TEST(a.status == 403, verb + " " + each.path + " " + page);
      BOOST_TEST(a.body.find("pages of other sites") != a.body.npos, a.body);
    }
  }
}

// H29
BOOST_AUTO_TEST_CASE(asks_for_a_key_where_one_is_required) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto key = make_api_key(default_organization(), "test", 1);
  house.engine.add_key(key.record);
  auto with = [&](const std::string& fields) {
    return house.post("/v1/runs", command_run(), fields).status;
  };
  auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
  BOOST_TEST(with({}) == 401);
  BOOST_TEST(with(bearer) == 200);
  BOOST_TEST(with(bearer + bearer) == 401);
  BOOST_TEST(with("Authorization: Basic dXNlcjpwYXNz\r\n") == 401);
  BOOST_TEST(with("Authorization: Bearer\r\n") == 401);
  BOOST_TEST(with("Authorization: Bearer " + std::string(8'000, 'a') + "\r\n")
             == 401);
  auto other = make_api_key(default_organization(), "other", 7);
  BOOST_TEST(with("Authorization: Bearer " + other.text.reveal() + "\r\n")
             == 401);
  auto refused = house.post("/v1/runs", command_run());
  BOOST_TEST(refused.fields["www-authenticate"].starts_with("Bearer"));
  BOOST_TEST(house.get("/livez").status == 200);
}

BOOST_AUTO_TEST_CASE(minds_scopes_and_expiry) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto config_only = make_api_key(default_organization(), "c",
                                  static_cast<std::uint8_t>(scope::config));
  house.engine.add_key(config_only.record);
  auto old = make_api_key(default_organization(), "o", 7);
  old.record.expires_at = old.record.created_at - 1s;
  house.engine.add_key(old.record);
  auto with = [&](const new_key& key) {
    return house
      .post("/v1/runs", command_run(),
            "Authorization: Bearer " + key.text.reveal() + "\r\n")
      .status;
  };
  BOOST_TEST(with(config_only) == 403);
  BOOST_TEST(with(old) == 401);
}

// H29
BOOST_AUTO_TEST_CASE(says_the_same_of_every_key_that_is_not_right) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto key = make_api_key(default_organization(), "test", 7);
  house.engine.add_key(key.record);
  auto right = key.text.reveal();
  auto almost = right;
  almost.back() = almost.back() == 'a' ? 'b' : 'a';
  auto with = [&](const std::string& text) {
    auto a = house.get("/v1/tools",
                       "Authorization: Bearer " + text
                         + "\r\nX-Request-Id: same\r\n");
    return std::to_string(a.status) + a.body;
  };
  auto wrong = with(almost);
  BOOST_TEST(wrong.starts_with("401"));
  auto stranger = make_api_key(default_organization(), "x", 7).text.reveal();
  for (const auto& text : {stranger, right + "a", right.substr(1), "t" + right})
    BOOST_TEST(with(text) == wrong);
  BOOST_TEST(with(right).starts_with("200"));
}

BOOST_AUTO_TEST_SUITE_END()
