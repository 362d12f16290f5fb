// An organization's own tools beside ours.
#include "tests/net/mcp/mcp_house.hpp"

using namespace troupe;
using test::failed;
using test::mcp_house;
using test::text_of;

BOOST_AUTO_TEST_SUITE(mcp_stored_tools)

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

void store(mcp_house& house, const std::string& name,
           const std::function<void(tool&)>& with = {}) {
  tool t;
  t.name = name;
  t.description = "Does it";
  t.source_code = "def f(): pass";
  t.json_schema = json::parse_object(
                    R"({"name":"f","parameters":{"type":"object","properties":
        {"a":{"type":"integer"},"request_heartbeat":{"type":"boolean"}},
        "required":["a","request_heartbeat"]}})")
                    .value();
  if (with)
    with(t);
  test::store(house.engine, std::move(t));
}

json::array listed(mcp_house& house) {
  auto a = house.modern("tools/list", {}, {}, {}, "/mcp?toolsets=tools");
  return json::parse_object(a.body).value().at("result").at("tools").as_array();
}

} // namespace

BOOST_AUTO_TEST_CASE(are_listed_without_what_engines_fill_in) {
  mcp_house house;
  store(house, "add");
  const auto all = listed(house);
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].at("name").as_string() == "add");
  const auto schema = json::to_text(all[0].at("inputSchema"));
  BOOST_TEST(has(schema, R"("a":{"type":"integer"})"), schema);
  BOOST_TEST(!has(schema, "request_heartbeat"), schema);
  BOOST_TEST(all[0].at("annotations").at("openWorldHint").as_bool());
  BOOST_TEST(all[0].at("_meta").as_object().contains("dev.troupe/tool"));
}

BOOST_AUTO_TEST_CASE(get_names_that_clients_take) {
  mcp_house house;
  store(house, "füße laufen");
  store(house, "shell_exec");
  store(house, std::string(100, 'x'));
  std::string names;
  for (const auto& each : listed(house))
    names += std::string{each.at("name").as_string()} + " ";
  BOOST_TEST(names
             == std::string{"f____e_laufen tool_shell_exec "}
               + std::string(64, 'x') + " ");
  BOOST_TEST(!failed(house.call("tool_shell_exec", R"({"a":1})")));
}

BOOST_AUTO_TEST_CASE(say_of_themselves_what_clients_should_know) {
  mcp_house house;
  store(house, "quiet", [](tool& t) {
    t.metadata
      = json::parse_object(
          R"({"mcp":{"title":"Quiet","annotations":{"readOnlyHint":true}}})")
          .value();
  });
  store(house, "hidden", [](tool& t) {
    t.metadata = json::parse_object(R"({"mcp":{"expose":false}})").value();
  });
  store(house, "careful", [](tool& t) { t.default_requires_approval = true; });
  const auto all = listed(house);
  BOOST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].at("annotations").at("destructiveHint").as_bool());
  BOOST_TEST(all[1].at("title").as_string() == "Quiet");
  BOOST_TEST(all[1].at("annotations").at("readOnlyHint").as_bool());
  auto hidden = house.modern("tools/call", R"("name":"hidden")", "hidden");
  BOOST_TEST(has(hidden.body, "Unknown tool"), hidden.body);
}

BOOST_AUTO_TEST_CASE(answer_with_their_value_and_what_they_printed) {
  mcp_house house;
  store(house, "add");
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status = run_status::success;
    done.value_json = R"("a text")";
    done.stdout_text = "printed\n";
    return done;
  };
  BOOST_TEST(
    text_of(house.call("add", R"({"a":1})", "Troupe-Agent: agent-1\r\n"))
    == "a text\n[stdout]\nprinted\n");
  BOOST_TEST(house.engine.last_request().args_json == R"({"a":1})");
  BOOST_TEST(house.engine.last_request().agent_id == "agent-1");
}

BOOST_AUTO_TEST_CASE(that_fail_are_results_a_model_can_read) {
  mcp_house house;
  store(house, "add");
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.failure.name = "ValueError";
    done.failure.friendly = "Error executing function add: ValueError: no";
    return done;
  };
  auto r = house.call("add", R"({"a":1})");
  BOOST_TEST(failed(r));
  BOOST_TEST(has(text_of(r), "ValueError: no"));
  house.engine.play = [](const run_request&) -> result<run_result> {
    return bad_field("/args/a", "must be an integer", "send 1");
  };
  auto wrong = house.call("add", R"({"a":"x"})");
  BOOST_TEST(failed(wrong));
  BOOST_TEST(has(text_of(wrong), "/args/a: must be an integer (send 1)"));
}

BOOST_AUTO_TEST_CASE(come_in_pages_that_only_their_caller_can_turn) {
  mcp_house house;
  for (int i = 0; i < 150; ++i)
    store(house, "tool" + std::to_string(1'000 + i));
  const auto page = [&](std::string_view params) {
    auto a = house.modern("tools/list", params, {}, {}, "/mcp?toolsets=tools");
    return json::parse_object(a.body).value().at("result").as_object();
  };
  const auto first = page("");
  BOOST_TEST(first.at("tools").as_array().size() == 100u);
  const std::string cursor{first.at("nextCursor").as_string()};
  const auto second = page(R"("cursor":")" + cursor + "\"");
  BOOST_TEST(second.at("tools").as_array().size() == 50u);
  BOOST_TEST(!second.contains("nextCursor"));
  auto forged
    = house.modern("tools/list", R"("cursor":"50)" + cursor.substr(3) + "\"");
  BOOST_TEST(has(forged.body, "-32602"), forged.body);
}

BOOST_AUTO_TEST_SUITE_END()
