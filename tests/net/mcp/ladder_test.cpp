// What is refused, row by row and in that order.
#include "runtime/engine/api_key.hpp"
#include "tests/net/mcp/mcp_house.hpp"

using namespace troupe;
using test::mcp_house;

BOOST_AUTO_TEST_SUITE(mcp_refusals)

namespace {

struct refused {
  int status;
  int code;
};
bool operator==(const refused& a, const refused& b) {
  return a.status == b.status && a.code == b.code;
}
std::ostream& operator<<(std::ostream& out, const refused& r) {
  return out << r.status << " " << r.code;
}

json::object error_of(const test::raw_answer& a) {
  auto o = json::parse_object(a.body);
  BOOST_REQUIRE_MESSAGE(o && o->contains("error"), a.head << a.body);
  BOOST_TEST(o->at("jsonrpc").as_string() == "2.0");
  return o->at("error").get_object();
}

refused said(const test::raw_answer& a) {
  return {a.status, static_cast<int>(error_of(a).at("code").as_int64())};
}

bool has_id(const test::raw_answer& a) {
  return json::parse_object(a.body).value().contains("id");
}

const std::string list = mcp_house::body_of("tools/list");
const std::string list_head = mcp_house::head_of("tools/list");

std::string without(std::string head, std::string_view field) {
  const auto at = head.find(field);
  return head.erase(at, head.find("\r\n", at) + 2 - at);
}

std::string replaced(std::string text, std::string_view from,
                     std::string_view to) {
  const auto at = text.find(from);
  BOOST_REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

} // namespace

BOOST_AUTO_TEST_CASE(other_hosts_and_pages_of_other_sites_on_every_method) {
  mcp_house house;
  for (auto verb : {"POST", "GET", "DELETE"}) {
    auto foreign = house.send(verb, verb == std::string{"POST"} ? list : "",
                              list_head + "Origin: https://evil.example\r\n");
    BOOST_TEST(said(foreign) == (refused{403, -32600}), verb);
    BOOST_TEST(!has_id(foreign));
  }
  test::raw_client c{house.server.port()};
  c.send("GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  BOOST_TEST(said(c.read()) == (refused{421, -32600}));
  BOOST_TEST(
    house.send("POST", list, list_head + "Origin: http://localhost\r\n").status
    == 200);
}

BOOST_AUTO_TEST_CASE(keys_that_are_missing_wrong_or_not_for_runs) {
  net::server_options closed;
  closed.auth = net::auth_mode::required;
  mcp_house house{{}, closed};
  auto nothing = house.send("POST", list, list_head);
  BOOST_TEST(said(nothing) == (refused{401, -32600}));
  BOOST_TEST(nothing.fields["www-authenticate"] == "Bearer realm=\"troupe\"");
  BOOST_TEST(said(house.send("POST", list,
                             list_head + "Authorization: Bearer troupe_x\r\n"))
             == (refused{401, -32600}));
  BOOST_TEST(
    house.send("GET", "", list_head, "/.well-known/oauth-protected-resource")
      .status
    == 404);
}

BOOST_AUTO_TEST_CASE(other_methods_of_http) {
  mcp_house house;
  auto put = house.send("PUT", list, list_head);
  BOOST_TEST(said(put) == (refused{405, -32600}));
  BOOST_TEST(put.fields["allow"].find("POST") != std::string::npos);
  BOOST_TEST(house.send("HEAD", "", list_head).status == 405);
}

BOOST_AUTO_TEST_CASE(bodies_that_are_too_large_or_no_json_by_their_type) {
  net::mcp::mcp_options small;
  small.body_limit = 1'000;
  mcp_house house{small};
  BOOST_TEST(said(house.send("POST", std::string(1'001, ' '), list_head))
             == (refused{413, -32600}));
  test::raw_client c{house.server.port()};
  c.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
         + std::to_string(list.size()) + "\r\nContent-Type: text/plain\r\n"
         + list_head + "\r\n" + list);
  BOOST_TEST(said(c.read()) == (refused{415, -32600}));
}

BOOST_AUTO_TEST_CASE(what_is_no_json) {
  mcp_house house;
  std::string deep(65, '[');
  deep += std::string(65, ']');
  for (const auto& bad :
       {std::string{"{"}, std::string{"nope"}, std::string{"{\"a\":\"\xff\"}"},
        std::string{R"({"a":1,"a":2})"}, deep}) {
    auto a = house.send("POST", bad, list_head);
    BOOST_TEST(said(a) == (refused{400, -32700}), bad);
    BOOST_TEST(!has_id(a));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_message) {
  mcp_house house;
  for (const auto& bad :
       {"[]", "7", "null", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])",
        R"({"id":1,"method":"ping"})", R"({"jsonrpc":"1.0","method":"ping"})",
        R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":{},"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":1,"method":2})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})"})
    BOOST_TEST(
      said(house.send("POST", bad, list_head)) == (refused{400, -32600}), bad);
  auto echoed = house.send("POST", R"({"jsonrpc":"2.0","id":"x"})", list_head);
  BOOST_TEST(echoed.body.find(R"("id":"x")") != std::string::npos);
  BOOST_TEST(said(house.send("POST", R"({"jsonrpc":"2.0","id":1,"result":{}})",
                             list_head))
             == (refused{400, -32600}));
}

BOOST_AUTO_TEST_CASE(answers_that_the_client_does_not_take) {
  mcp_house house;
  for (std::string_view accept :
       {"", "Accept: application/json\r\n", "Accept: text/event-stream\r\n"}) {
    auto a = house.send("POST", list,
                        without(list_head, "Accept") + std::string{accept});
    BOOST_TEST(said(a) == (refused{406, -32600}), accept);
    BOOST_TEST(has_id(a));
  }
  for (std::string_view accept :
       {"Accept: */*\r\n",
        "Accept: text/event-stream;q=0.5, Application/JSON\r\n",
        "Accept: application/json\r\nAccept: text/event-stream\r\n"})
    BOOST_TEST(house
                   .send("POST", list,
                         without(list_head, "Accept") + std::string{accept})
                   .status
                 == 200,
               accept);
}

BOOST_AUTO_TEST_CASE(requests_that_do_not_say_what_they_are) {
  mcp_house house;
  for (auto from :
       {R"("io.modelcontextprotocol/clientCapabilities":{})",
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")"})
    BOOST_TEST(
      said(house.send("POST", replaced(list, from, R"("x":1)"), list_head))
        == (refused{400, -32602}),
      from);
}

BOOST_AUTO_TEST_CASE(heads_that_do_not_match_the_body) {
  mcp_house house;
  const refused mismatch{400, -32020};
  BOOST_TEST(
    said(house.send("POST", list, without(list_head, "MCP-Protocol-Version")))
    == mismatch);
  BOOST_TEST(said(house.send("POST", list,
                             replaced(list_head, "2026-07-28", "2025-11-25")))
             == mismatch);
  BOOST_TEST(said(house.send("POST", list, without(list_head, "Mcp-Method")))
             == mismatch);
  BOOST_TEST(said(house.send("POST", list,
                             replaced(list_head, "tools/list", "Tools/List")))
             == mismatch);
  BOOST_TEST(house
               .send("POST", list,
                     replaced(list_head, "Mcp-Method: tools/list",
                              "mcp-METHOD:   tools/list  "))
               .status
             == 200);
}

BOOST_AUTO_TEST_CASE(versions_that_are_not_spoken) {
  mcp_house house;
  auto a = house.send("POST", replaced(list, "2026-07-28", "v999.0.0"),
                      replaced(list_head, "2026-07-28", "v999.0.0"));
  BOOST_TEST(said(a) == (refused{400, -32022}));
  const auto data = error_of(a).at("data").as_object();
  BOOST_TEST(data.at("requested").as_string() == "v999.0.0");
  BOOST_TEST(data.at("supported").at(0).as_string() == "2026-07-28");
}

BOOST_AUTO_TEST_CASE(methods_that_are_unknown_in_this_form) {
  mcp_house house;
  for (auto method : {"nope", "initialize", "ping", "logging/setLevel",
                      "resources/subscribe", "tasks/list"})
    BOOST_TEST(said(house.modern(method)) == (refused{404, -32601}), method);
  const auto session = house.open();
  auto a = house.legacy(
    session, R"({"jsonrpc":"2.0","id":2,"method":"server/discover"})");
  BOOST_TEST(said(a) == (refused{200, -32601}));
}

BOOST_AUTO_TEST_CASE(names_in_the_head_that_are_not_those_of_the_body) {
  mcp_house house;
  const std::string params = R"("name":"file_list","arguments":{})";
  BOOST_TEST(said(house.modern("tools/call", params))
             == (refused{400, -32020}));
  BOOST_TEST(said(house.modern("tools/call", params, "file_read"))
             == (refused{400, -32020}));
  for (auto encoded : {"=?base64?ZmlsZV9saXN0?=", " file_list "})
    BOOST_TEST(house.modern("tools/call", params, encoded).status == 200,
               encoded);
  for (auto bad :
       {"=?base64?ZmlsZV9saXN0", "=?base64?!?=", "=?base64?ZmlsZV9saXN0==?="})
    BOOST_TEST(said(house.modern("tools/call", params, bad))
                 == (refused{400, -32020}),
               bad);
}

BOOST_AUTO_TEST_CASE(things_that_are_not_there_are_no_fault_of_http) {
  mcp_house house;
  auto tool = house.modern("tools/call", R"("name":"file_raed")", "file_raed");
  BOOST_TEST(said(tool) == (refused{200, -32602}));
  BOOST_TEST(error_of(tool).at("message").as_string()
             == "Unknown tool: file_raed. Did you mean file_read?");
  const std::string uri = "troupe://nobody/files/x";
  auto resource
    = house.modern("resources/read", R"("uri":")" + uri + "\"", uri);
  BOOST_TEST(said(resource) == (refused{200, -32602}));
  BOOST_TEST(error_of(resource).at("data").at("uri").as_string() == uri);
  BOOST_TEST(said(house.modern("tools/list", R"("cursor":"made up")"))
             == (refused{200, -32602}));
  BOOST_TEST(said(house.modern("tools/list", R"("cursor":"")"))
             == (refused{200, -32602}));
  BOOST_TEST(said(house.modern("tools/call", R"("name":"file_read",
                                               "arguments":[])",
                               "file_read"))
             == (refused{200, -32602}));
  BOOST_TEST(said(house.modern("completion/complete",
                               R"("ref":{"type":"ref/prompt","name":"x"},
                                  "argument":{"name":"a","value":""})"))
             == (refused{200, -32602}));
}

BOOST_AUTO_TEST_CASE(earlier_rows_win) {
  mcp_house house;
  // Everything is wrong with it: the first thing is told, one after the other.
  const auto wrong
    = replaced(replaced(list, "2026-07-28", "v9"),
               R"(,"io.modelcontextprotocol/clientCapabilities":{})", "");
  BOOST_TEST(said(house.send("POST", wrong, "")) == (refused{406, -32600}));
  BOOST_TEST(said(house.send("POST", wrong, std::string{mcp_house::both}))
             == (refused{400, -32602}));
  const auto fitting = replaced(list, "2026-07-28", "v9");
  BOOST_TEST(said(house.send("POST", fitting, std::string{mcp_house::both}))
             == (refused{400, -32020}));
  BOOST_TEST(said(house.send("POST", fitting,
                             std::string{mcp_house::both}
                               + "MCP-Protocol-Version: v9\r\n"))
             == (refused{400, -32022}));
}

BOOST_AUTO_TEST_SUITE_END()
