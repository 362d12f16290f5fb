// Requests that stand alone.
#include "runtime/engine/api_key.hpp"
#include "tests/net/mcp/mcp_house.hpp"

using namespace troupe;
using test::failed;
using test::mcp_house;
using test::text_of;

BOOST_AUTO_TEST_SUITE(mcp_modern)

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

json::object result_of(const test::raw_answer& a) {
  BOOST_TEST(a.status == 200, a.body);
  auto o = json::parse_object(a.body);
  BOOST_REQUIRE_MESSAGE(o && o->contains("result"), a.body);
  auto result = o->at("result").as_object();
  BOOST_TEST(result.at("resultType").as_string() == "complete");
  BOOST_TEST(result.at("_meta")
               .at("io.modelcontextprotocol/serverInfo")
               .at("name")
               .as_string()
             == "troupe");
  return result;
}

/// A key with this scope of a new organization, as a field.
std::string key_field(mcp_house& house, const std::string& text,
                      organization_id of = organization_id::make()) {
  api_key key;
  key.id = key_id::make();
  key.organization = std::move(of);
  key.name = text;
  key.hash = hash_key(text);
  key.scopes = static_cast<std::uint8_t>(scope::run);
  key.created_at = {};
  house.engine.add_key(key);
  return "Authorization: Bearer " + text + "\r\n";
}

} // namespace

BOOST_AUTO_TEST_CASE(says_what_it_is) {
  mcp_house house;
  const auto r = result_of(house.modern("server/discover"));
  BOOST_TEST(r.at("supportedVersions").as_array().size() == 4u);
  BOOST_TEST(r.at("cacheScope").as_string() == "public");
  BOOST_TEST(r.at("capabilities").as_object().contains("tools"));
  BOOST_TEST(has(r.at("instructions").as_string(), "isolated Linux sandbox"));
}

BOOST_AUTO_TEST_CASE(lists_tools_with_all_hints_and_in_one_order) {
  mcp_house house;
  const auto r = result_of(house.modern("tools/list"));
  const auto& tools = r.at("tools").as_array();
  BOOST_TEST(tools.size() > 20u);
  BOOST_TEST(tools[0].at("name").as_string() == "file_read");
  for (const auto& each : tools)
    for (auto hint : {"title", "readOnlyHint", "destructiveHint",
                      "idempotentHint", "openWorldHint"})
      BOOST_TEST(each.at("annotations").as_object().contains(hint),
                 each.at("name"));
  BOOST_TEST(r.at("ttlMs").as_int64() == 60'000);
  BOOST_TEST((result_of(house.modern("tools/list")) == r));
}

BOOST_AUTO_TEST_CASE(a_text_tool_answers_text_and_nothing_beside_it) {
  mcp_house house;
  auto r = house.call("shell_exec", R"({"command":"echo hi"})");
  BOOST_TEST(has(text_of(r), "hi\n[exit 0"));
  BOOST_TEST(!r.contains("structuredContent"));
  BOOST_TEST(!r.contains("isError"));
  auto data = house.call("process_list");
  BOOST_TEST(json::to_text(data.at("structuredContent")) == text_of(data));
}

BOOST_AUTO_TEST_CASE(the_first_tool_answers_nothing_with_a_result) {
  mcp_house house;
  auto r = house.call("file_read");
  BOOST_TEST(failed(r));
  BOOST_TEST(has(text_of(r), "/file"), text_of(r));
}

BOOST_AUTO_TEST_CASE(sessions_are_named_in_four_ways) {
  mcp_house house;
  const auto put = [&](std::string_view more, std::string_view path = "/mcp") {
    house.call("file_write", R"({"file":"a","content":"x"})", more, path);
  };
  const auto sees = [&](std::string_view more, std::string_view path = "/mcp") {
    return !failed(house.call("file_read", R"({"file":"a"})", more, path));
  };
  put("Troupe-Session: chat_1\r\n");
  BOOST_TEST(sees("Troupe-Session: chat_1\r\n"));
  BOOST_TEST(sees("", "/mcp?session=chat_1"));
  BOOST_TEST(!sees("Troupe-Session: chat_2\r\n"));
  BOOST_TEST(!sees(""));
  put("");
  BOOST_TEST(sees(""));
  // What stands in the message wins over the head.
  auto a = house.send(
    "POST",
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"file_read","arguments":{"file":"a"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"dev.troupe/session":"chat_2"}}})",
    mcp_house::head_of("tools/call", "file_read")
      + "Troupe-Session: chat_1\r\n");
  BOOST_TEST(has(a.body, R"("isError":true)"), a.body);
  auto bad = house.modern("tools/call", R"("name":"file_list")", "file_list",
                          "Troupe-Session: a b\r\n");
  BOOST_TEST(has(bad.body, "-32602"), bad.body);
}

BOOST_AUTO_TEST_CASE(two_tenants_never_meet) {
  mcp_house house;
  const std::string session = "Troupe-Session: chat\r\n";
  const auto one = key_field(house, "troupe_" + std::string(43, 'a')),
             two = key_field(house, "troupe_" + std::string(43, 'b'));
  house.call("file_write", R"({"file":"a","content":"of one"})", one + session);
  BOOST_TEST(failed(house.call("file_read", R"({"file":"a"})", two + session)));
  BOOST_TEST(
    !failed(house.call("file_read", R"({"file":"a"})", one + session)));
  const std::string uri = "troupe://chat/files/a";
  auto mine
    = house.modern("resources/read", R"("uri":")" + uri + "\"", uri, one);
  BOOST_TEST(has(mine.body, "of one"), mine.body);
  house.call("file_list", "{}", two + session); // two has one of that name, too
  auto foreign
    = house.modern("resources/read", R"("uri":")" + uri + "\"", uri, two);
  BOOST_TEST(has(foreign.body, "Resource not found"), foreign.body);
  // A cursor is of its caller.
  auto made = house.call("sandbox_create", "{}", one);
  const auto named = R"({"session_id":")"
    + std::string{made.at("structuredContent").at("session_id").as_string()}
    + R"("})";
  BOOST_TEST(!failed(house.call("file_list", named, one)));
  BOOST_TEST(failed(house.call("file_list", named, two)));
}

BOOST_AUTO_TEST_CASE(two_keys_of_an_organization_have_their_own_default) {
  mcp_house house;
  const auto of = organization_id::make();
  const auto one = key_field(house, "troupe_" + std::string(43, 'c'), of),
             two = key_field(house, "troupe_" + std::string(43, 'd'), of);
  house.call("file_write", R"({"file":"a","content":"x"})", one);
  BOOST_TEST(failed(house.call("file_read", R"({"file":"a"})", two)));
  auto listed = house.modern("resources/list", {}, {}, two);
  BOOST_TEST(!has(listed.body, "/files/a"), listed.body);
}

BOOST_AUTO_TEST_CASE(filters_narrow_what_is_listed_and_what_can_be_called) {
  mcp_house house;
  const auto names = [&](std::string_view path, std::string_view more = {}) {
    std::string all;
    const auto r = result_of(house.modern("tools/list", {}, {}, more, path));
    for (const auto& each : r.at("tools").as_array())
      all += std::string{each.at("name").as_string()} + " ";
    return all;
  };
  BOOST_TEST(names("/mcp?toolsets=shell")
             == "shell_exec process_output process_kill process_list ");
  BOOST_TEST(names("/mcp?tools=file_*&exclude=file_delete,file_move")
             == "file_read file_list file_write file_edit file_search "
                "file_glob ");
  BOOST_TEST(!has(names("/mcp?readonly=1"), "shell_exec"));
  BOOST_TEST(names("/mcp", "Troupe-Tools: file_read\r\n") == "file_read ");
  auto hidden = house.modern("tools/call", R"("name":"shell_exec")",
                             "shell_exec", {}, "/mcp?readonly=1");
  BOOST_TEST(has(hidden.body, "-32602"), hidden.body);
  auto bound = house.modern("tools/list", {}, {}, {}, "/mcp?session=x");
  BOOST_TEST(!has(bound.body, "Only to work in another sandbox"));
}

BOOST_AUTO_TEST_CASE(progress_is_streamed_before_the_answer) {
  mcp_house house;
  test::raw_client c{house.server.port()};
  const std::string body
    = R"({"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"shell_exec","arguments":{"command":"wait"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"t1"}}})";
  c.send(test::posted(mcp_house::head_of("tools/call", "shell_exec"), body));
  // The process has begun when it is listed.
  sandbox_program_ptr program;
  while (!program) {
    caller who;
    who.organization = default_organization();
    house.sandboxes.list(who, {}, [&](auto found) {
      for (const auto& each : found->items)
        house.sandboxes.list_processes(who, each->id, [&](auto all) {
          if (!all->empty())
            program = all->front();
        });
    });
  }
  program->write("half way\n", [](auto) {});
  BOOST_TEST(c.sees("notifications/progress"), c.rest());
  program->close_input([](auto) {});
  BOOST_TEST(c.sees("\"id\":\"p\""), c.rest());
  auto a = c.read();
  BOOST_TEST(a.fields["content-type"].starts_with("text/event-stream"));
  BOOST_TEST(a.fields["cache-control"] == "no-cache, no-transform");
  BOOST_TEST(has(a.body, R"("progressToken":"t1","progress":)"), a.body);
  BOOST_TEST(has(a.body, R"("message":"half way")"), a.body);
  BOOST_TEST(!has(a.body, "event:"), a.body);
  BOOST_TEST(a.body.find("progressToken") < a.body.find("\"id\":\"p\""));
}

BOOST_AUTO_TEST_CASE(closing_the_connection_cancels) {
  mcp_house house;
  house.engine.hold = true;
  tool stored;
  stored.name = "slow";
  test::store(house.engine, stored);
  test::raw_client c{house.server.port()};
  const auto body
    = mcp_house::body_of("tools/call", R"("name":"slow","arguments":{})");
  c.send(test::posted(mcp_house::head_of("tools/call", "slow"), body));
  while (house.engine.held() == 0) {
  }
  c.close();
  while (house.engine.cancelled == 0) {
  }
  house.engine.release();
  BOOST_TEST(house.engine.cancelled == 1);
}

BOOST_AUTO_TEST_CASE(a_stream_tells_changes_until_the_server_is_about_to_stop) {
  auto stopping = std::make_shared<std::atomic<bool>>(false);
  net::mcp::mcp_options how;
  how.stopping = stopping;
  mcp_house house{how};
  test::raw_client c{house.server.port()};
  const auto body = mcp_house::body_of(
    "subscriptions/listen",
    R"("notifications":{"toolsListChanged":true,"x":true})");
  c.send(test::posted(mcp_house::head_of("subscriptions/listen"), body));
  BOOST_TEST(c.sees(R"("notifications":{"toolsListChanged":true}})"), c.rest());
  tool stored;
  stored.name = "fresh";
  test::store(house.engine, stored);
  BOOST_TEST(c.sees("notifications/tools/list_changed"), c.rest());
  *stopping = true;
  auto a = c.read();
  BOOST_TEST(a.whole);
  BOOST_TEST(has(a.body, R"("id":1,"result":{"resultType":"complete")"),
             a.body);
}

BOOST_AUTO_TEST_CASE(notifications_are_taken_without_looking_at_them) {
  mcp_house house;
  auto a = house.send(
    "POST",
    R"({"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})",
    std::string{mcp_house::both});
  BOOST_TEST(a.status == 202, a.body);
  BOOST_TEST(a.body.empty());
}

BOOST_AUTO_TEST_CASE(calls_beyond_the_bound_are_busy_and_not_refused_by_http) {
  net::mcp::mcp_options none;
  none.calls_at_once = 0;
  mcp_house house{none};
  auto r = house.call("file_list");
  BOOST_TEST(failed(r));
  BOOST_TEST(has(text_of(r), "Busy"));
}

BOOST_AUTO_TEST_CASE(hostile_arguments_are_answered) {
  mcp_house house;
  for (auto hostile :
       {R"({"command":123456789012345678901234567890})", R"({"command":null})",
        R"({"command":"a\u0000b"})", R"({"command":"","x":{"y":[[[]]]}})",
        R"({"command":"echo x","timeout_ms":-1})",
        R"({"command":"echo x","wait_ms":999999999})",
        R"({"command":"echo x","cwd":"\u0000"})",
        R"({"command":"echo x","session_id":"'; rm -rf /"})"})
    BOOST_TEST(!text_of(house.call("shell_exec", hostile)).empty(), hostile);
}

BOOST_AUTO_TEST_SUITE_END()
