// Terminals of processes in WebSockets, as a client sees them on the wire.
#include "net/http/websocket.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::http_house;
using test::raw_client;
namespace ws = net::websocket;

BOOST_AUTO_TEST_SUITE(terminals_api)

namespace {

/// A client's frame, masked as it has to be.
std::string masked(ws::kind what, std::string_view payload, bool last = true) {
  auto out = ws::make_frame(what, payload, {{0x11, 0x22, 0x33, 0x44}});
  if (!last)
    out.front() = static_cast<char>(what);
  return out;
}

/// A sandbox with one process at a terminal, which repeats what is typed.
struct terminal_house : http_house {
  explicit terminal_house(net::server_options options = {})
      : http_house{std::move(options)} {
    one = "/v1/sandboxes/" + id_of(post("/v1/sandboxes", "{}")) + "/processes/";
    one += id_of(post(one.substr(0, one.size() - 1),
                      R"({"argv":["wait"],"terminal":{"cols":100}})"));
  }
  static std::string id_of(const test::raw_answer& a) {
    BOOST_REQUIRE_MESSAGE(a.status == 201, a.body);
    return std::string{json::parse_object(a.body)->at("id").as_string()};
  }
  std::string request(const std::string& query = {},
                      const std::string& fields = {}) const {
    return "GET " + one + "/terminal" + query
      + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + fields + "\r\n";
  }
  json::object process() { return json::parse_object(get(one).body).value(); }
  std::string one;
};

struct attached {
  explicit attached(terminal_house& house, const std::string& query = {})
      : client{house.port} {
    client.send(house.request(query));
    const auto a = client.read();
    BOOST_REQUIRE_MESSAGE(a.status == 101, a.head << a.body);
    BOOST_TEST(a.head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != a.head.npos);
  }
  void type(std::string_view keys) {
    client.send(masked(ws::kind::binary, keys));
  }
  void say(std::string_view text) { client.send(masked(ws::kind::text, text)); }
  bool shows(std::string_view text) {
    return client.sees(ws::make_frame(ws::kind::binary, text));
  }
  bool is_closed(ws::status why) {
    return client.sees(ws::close_frame(why)) && client.ends();
  }
  raw_client client;
};

} // namespace

BOOST_AUTO_TEST_CASE(keys_go_in_and_what_is_shown_comes_out) {
  terminal_house house;
  attached t{house};
  t.type("hello");
  BOOST_TEST(t.shows("hello"));
  t.client.send(masked(ws::kind::binary, "a", false)
                + masked(ws::kind::ping, "now")
                + masked(ws::kind::continuation, "b"));
  BOOST_TEST(t.client.sees(ws::make_frame(ws::kind::pong, "now")));
  BOOST_TEST(t.shows("ab"));
  t.client.send(masked(ws::kind::close, "\x03\xe8"));
  BOOST_TEST(t.is_closed(ws::status::normal));
  BOOST_TEST(house.process().at("state").as_string() == "running");
}

BOOST_AUTO_TEST_CASE(who_comes_back_sees_what_was_shown) {
  terminal_house house;
  {
    attached gone{house};
    gone.type("before");
    BOOST_TEST(gone.shows("before"));
  }
  attached again{house};
  BOOST_TEST(again.shows("before"));
  attached later{house, "?from=3"};
  BOOST_TEST(later.shows("ore"));
  again.type("!");
  BOOST_TEST(again.shows("!"));
  BOOST_TEST(later.shows("!")); // both are attached
}

BOOST_AUTO_TEST_CASE(texts_resize_and_signal_or_say_what_is_wrong) {
  terminal_house house;
  attached t{house};
  t.say(R"({"resize":{"cols":120,"rows":40}})");
  t.say(R"({"resize":{"cols":0}})");
  BOOST_TEST(t.client.sees("/resize/cols"));
  for (const char* wrong :
       {"resize", "{}", R"({"signal":"LOUD"})", R"({"resize":{},"color":1})"}) {
    t.say(wrong);
    t.type("x");
    BOOST_TEST(t.client.sees("\"error\""), wrong);
    BOOST_TEST(t.shows("x"), wrong);
  }
  const auto size = house.process().at("terminal").as_object();
  BOOST_TEST(size.at("cols").as_int64() == 120);
  BOOST_TEST(size.at("rows").as_int64() == 40);
  t.say(R"({"signal":"TERM"})");
  BOOST_TEST(t.client.sees(R"({"end":{)"));
  BOOST_TEST(t.client.sees(R"("reason":"signaled")"));
  BOOST_TEST(t.is_closed(ws::status::normal));
  attached late{house};
  BOOST_TEST(late.client.sees(R"({"end":{)"));
  BOOST_TEST(late.is_closed(ws::status::normal));
}

BOOST_AUTO_TEST_CASE(what_breaks_the_rules_is_closed_with_the_reason) {
  terminal_house house;
  const auto closed = [&](const std::string& bytes, ws::status why) {
    attached t{house};
    t.client.send(bytes);
    BOOST_TEST(t.is_closed(why), static_cast<int>(why));
  };
  closed(ws::make_frame(ws::kind::binary, "unmasked"),
         ws::status::protocol_error);
  closed(masked(ws::kind::continuation, "of nothing"),
         ws::status::protocol_error);
  closed(masked(ws::kind::text, "\xff"), ws::status::not_text);
  closed({"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10},
         ws::status::too_large);
  closed({"\x82\xff\x00\x00\x00\x00\x00\x10\x00\x01", 10},
         ws::status::too_large); // 1 MiB and a byte
}

BOOST_AUTO_TEST_CASE(a_flood_of_pings_is_answered_as_it_is_read) {
  terminal_house house;
  attached t{house};
  const auto ping = masked(ws::kind::ping, "");
  std::string flood;
  for (int i = 0; i < 10'000; ++i)
    flood += ping;
  BOOST_TEST(t.client.send(flood));
  t.type("through");
  BOOST_TEST(t.shows("through"));
}

BOOST_AUTO_TEST_CASE(what_is_no_websocket_of_ours_is_refused) {
  terminal_house house;
  const auto status = [&](std::string request) {
    raw_client c{house.port};
    c.send(request);
    return c.read().status;
  };
  BOOST_TEST(house.get(house.one + "/terminal").status == 426);
  BOOST_TEST(status(house.request({}, "Origin: http://evil.example\r\n"))
             == 403);
  BOOST_TEST(status(house.request({}, "Origin: http://localhost\r\n")) == 101);
  BOOST_TEST(status(house.request("?form=1")) == 422);
  BOOST_TEST(status(house.request({}, "Authorization: Bearer x\r\n")) == 401);
  const auto pipes = terminal_house::id_of(house.post(
    house.one.substr(0, house.one.rfind('/')), R"({"argv":["wait"]})"));
  house.one.replace(house.one.rfind('/') + 1, std::string::npos, pipes);
  BOOST_TEST(status(house.request()) == 409);
}

BOOST_AUTO_TEST_CASE(without_a_key_none_is_shown_where_one_is_needed) {
  net::server_options options;
  options.auth = net::auth_mode::required;
  http_house house{options};
  raw_client c{house.port};
  c.send("GET /v1/sandboxes/" + sandbox_id::make().str()
         + "/processes/p_1/terminal HTTP/1.1\r\nHost: localhost\r\n"
           "Connection: Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  BOOST_TEST(c.read().status == 401);
}

BOOST_AUTO_TEST_SUITE_END()
