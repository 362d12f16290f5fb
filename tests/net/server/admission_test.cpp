#include "runtime/api_key.hpp"
#include "tests/support/http_house.hpp"

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
  }
}

BOOST_AUTO_TEST_CASE(refuses_requests_from_pages_of_other_sites) {
  http_house house;
  auto evil
    = house.post("/v1/runs", command_run(), "Origin: https://evil.example\r\n");
  BOOST_TEST(evil.status == 403);
  BOOST_TEST(!evil.fields.contains("access-control-allow-origin"));
  BOOST_TEST(house.post("/v1/runs", command_run(), "Origin: null\r\n").status
             == 403);
  BOOST_TEST(
    house.post("/v1/runs", command_run(), "Origin: http://localhost\r\n").status
    == 200);
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
