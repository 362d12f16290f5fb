// Sessions of the protocol that begin with `initialize`.
#include "tests/net/mcp/mcp_house.hpp"

using namespace troupe;
using test::mcp_house;

BOOST_AUTO_TEST_SUITE(mcp_legacy)

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

std::string request(std::string_view method, std::string_view params = "{}",
                    std::string_view id = "7") {
  std::string body{R"({"jsonrpc":"2.0","id":)"};
  return body.append(id)
    .append(R"(,"method":")")
    .append(method)
    .append(R"(","params":)")
    .append(params)
    .append("}");
}

json::object result_of(const test::raw_answer& a) {
  BOOST_TEST(a.status == 200, a.body);
  auto o = json::parse_object(a.body);
  BOOST_REQUIRE_MESSAGE(o && o->contains("result"), a.body);
  return o->at("result").as_object();
}

} // namespace

BOOST_AUTO_TEST_CASE(agrees_on_a_version) {
  mcp_house house;
  for (std::string version :
       {"2025-11-25", "2025-06-18", "2025-03-26", "1.0"}) {
    auto a = house.send(
      "POST",
      request("initialize",
              R"({"protocolVersion":")" + version + R"(","capabilities":{}})"),
      mcp_house::both);
    const auto r = result_of(a);
    BOOST_TEST(r.at("protocolVersion").as_string()
               == (version == "1.0" ? "2025-11-25" : version));
    BOOST_TEST(!r.contains("resultType"));
    BOOST_TEST(a.fields["mcp-session-id"].starts_with("mcps_"));
    BOOST_TEST(r.at("capabilities").at("tools").at("listChanged").as_bool());
  }
}

BOOST_AUTO_TEST_CASE(a_request_needs_a_session_that_is_there) {
  mcp_house house;
  auto none = house.send("POST", request("tools/list"), mcp_house::both);
  BOOST_TEST(none.status == 400);
  BOOST_TEST(has(none.body, "initialize"), none.body);
  BOOST_TEST(house.legacy("mcps_made_up", request("tools/list")).status == 404);
  const auto session = house.open();
  BOOST_TEST(
    house
      .legacy(session,
              R"({"jsonrpc":"2.0","method":"notifications/initialized"})")
      .status
    == 202);
  BOOST_TEST(!result_of(house.legacy(session, request("tools/list")))
                .at("tools")
                .as_array()
                .empty());
  BOOST_TEST(result_of(house.legacy(session, request("ping"))).empty());
  auto ended = house.send("DELETE", "", "Mcp-Session-Id: " + session + "\r\n");
  BOOST_TEST(ended.status == 204);
  BOOST_TEST(house.legacy(session, request("tools/list")).status == 404);
  // A late cancellation comes after the end.
  BOOST_TEST(house
               .legacy(session,
                       R"({"jsonrpc":"2.0","method":"notifications/cancelled",
                           "params":{"requestId":7}})")
               .status
             == 404);
}

BOOST_AUTO_TEST_CASE(an_unknown_version_in_the_head_is_refused) {
  mcp_house house;
  const auto session = house.open();
  BOOST_TEST(house
               .legacy(session, request("tools/list"),
                       "MCP-Protocol-Version: 2025-11-25\r\n")
               .status
             == 200);
  BOOST_TEST(
    house
      .legacy(session, request("tools/list"), "MCP-Protocol-Version: v999\r\n")
      .status
    == 400);
}

BOOST_AUTO_TEST_CASE(files_stay_when_the_protocol_session_is_another_one) {
  mcp_house house;
  const auto put = request(
    "tools/call",
    R"({"name":"file_write","arguments":{"file":"a","content":"kept"}})");
  const auto get
    = request("tools/call", R"({"name":"file_read","arguments":{"file":"a"}})");
  BOOST_TEST(has(house.legacy(house.open(), put).body, "Wrote 1 line"));
  BOOST_TEST(has(house.legacy(house.open(), get).body, "kept"));
}

BOOST_AUTO_TEST_CASE(results_have_nothing_that_came_with_later_versions) {
  mcp_house house;
  const auto list = request("tools/call", R"({"name":"process_list"})");
  auto old = result_of(house.legacy(house.open("2025-03-26"), list));
  BOOST_TEST(!old.contains("structuredContent"));
  BOOST_TEST(!old.contains("_meta"));
  auto later = result_of(house.legacy(house.open("2025-06-18"), list));
  BOOST_TEST(later.contains("structuredContent"));
  BOOST_TEST(!later.contains("_meta"));
  auto tools
    = house.legacy(house.open("2025-03-26"), request("tools/list")).body;
  BOOST_TEST(!has(tools, "outputSchema"));
}

BOOST_AUTO_TEST_CASE(a_call_is_cancelled_by_its_id_and_not_answered) {
  mcp_house house;
  const auto session = house.open();
  test::raw_client c{house.server.port()};
  const auto body
    = request("tools/call",
              R"({"name":"python_exec","arguments":{"code":"wait"},
                                "_meta":{"progressToken":1}})",
              "\"slow\"");
  c.send(test::posted("Mcp-Session-Id: " + session + "\r\n"
                        + std::string{mcp_house::both},
                      body));
  const std::string cancel
    = R"({"jsonrpc":"2.0","method":"notifications/cancelled",
          "params":{"requestId":"slow"}})";
  // Unknown ids are ignored: the request may not have come yet.
  for (int i = 0; i < 1'000 && !c.sees("HTTP/1.1 202"); ++i)
    BOOST_TEST(house.legacy(session, cancel).status == 202);
  BOOST_TEST(!has(c.rest(), "\"result\""));
}

BOOST_AUTO_TEST_CASE(a_session_has_one_stream_of_changes) {
  mcp_house house;
  const auto session = house.open();
  const auto fields
    = "Accept: text/event-stream\r\nMcp-Session-Id: " + session + "\r\n";
  BOOST_TEST(house.send("GET", "", "Mcp-Session-Id: " + session + "\r\n").status
             == 406);
  test::raw_client c{house.server.port()};
  c.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n");
  BOOST_TEST(c.sees("text/event-stream"));
  BOOST_TEST(house.send("GET", "", fields).status == 409);
  tool stored;
  stored.name = "fresh";
  test::store(house.engine, stored);
  BOOST_TEST(c.sees("notifications/tools/list_changed"), c.rest());
}

BOOST_AUTO_TEST_SUITE_END()
