#include "runtime/model/codec/codec.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(records)

namespace {

timestamp some_time(int n) {
  return timestamp{std::chrono::microseconds{1'763'458'200'123'456 + n}};
}

} // namespace

BOOST_AUTO_TEST_CASE(keeps_tools_whole) {
  tool t;
  t.id = tool_id::make();
  t.organization = default_organization();
  t.name = "adder";
  t.description = "adds";
  t.tool_type = "custom";
  t.source_type = language::typescript;
  t.source_code = "export function adder() {}";
  t.json_schema = *json::parse_object(R"({"name":"adder","parameters":{}})");
  t.args_json_schema = json::object{};
  t.tags = {"a", "b"};
  t.return_char_limit = 5;
  t.pip_requirements = {*parse_pip("numpy>=1")};
  t.npm_requirements = {*parse_npm("left-pad@1.3.0")};
  t.default_requires_approval = false;
  t.enable_parallel_execution = true;
  t.metadata = *json::parse_object(R"({"sandbox":"modal"})");
  t.project_id = "p";
  t.revision = 9;
  t.created_at = some_time(1);
  t.updated_at = some_time(2);
  t.created_by = "u1";
  t.updated_by = "u2";
  auto text = json::to_text(to_json(t));
  auto back = parse_tool(*json::parse_object(text));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(json::to_text(to_json(*back)) == text);
  BOOST_TEST(back->revision == 9u);
  BOOST_TEST((back->created_at == t.created_at));
  BOOST_TEST((back->default_requires_approval == false));
  BOOST_TEST((back->pip_requirements == t.pip_requirements));
  BOOST_TEST(tool_hash(*back) == tool_hash(t));
  tool bare;
  bare.name = "x";
  back = parse_tool(to_json(bare));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(!back->json_schema.has_value());
  BOOST_TEST(!back->default_requires_approval.has_value());
  BOOST_TEST(parse_tool(json::object{}).has_error());
}

BOOST_AUTO_TEST_CASE(keeps_configs_whole) {
  sandbox_config c;
  c.id = config_id::make();
  c.organization = default_organization();
  c.type = backend_kind::daytona;
  c.config = *json::parse_object(R"({"timeout":5,"limits":{}})");
  c.revision = 3;
  c.created_at = some_time(1);
  c.updated_at = some_time(2);
  c.created_by = "a";
  c.updated_by = "b";
  auto text = json::to_text(to_json(c));
  auto back = parse_sandbox_config(*json::parse_object(text));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(json::to_text(to_json(*back)) == text);
  BOOST_TEST(fingerprint(*back) == fingerprint(c));
  BOOST_TEST(parse_sandbox_config(*json::parse_object(R"({"type":"x",
    "config":{}})"))
               .has_error());
  BOOST_TEST(
    parse_sandbox_config(*json::parse_object(R"({"type":"e2b"})")).has_error());
}

BOOST_AUTO_TEST_CASE(keeps_variables_whole_but_never_their_values) {
  variable v;
  v.id = variable_id::make();
  v.organization = default_organization();
  v.config = config_id::make();
  v.key = "API_KEY";
  v.description = "for tests";
  v.created_at = some_time(1);
  v.updated_at = some_time(2);
  v.created_by = "a";
  v.updated_by = "b";
  auto text = json::to_text(to_json(v));
  BOOST_TEST(text.find("value") == std::string::npos);
  auto back = parse_variable(*json::parse_object(text));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(json::to_text(to_json(*back)) == text);

  agent_variable a;
  a.id = agent_variable_id::make();
  a.organization = default_organization();
  a.agent_id = "agent-1";
  a.key = "TOKEN";
  a.created_at = some_time(3);
  a.updated_at = some_time(4);
  text = json::to_text(to_json(a));
  auto agent = parse_agent_variable(*json::parse_object(text));
  BOOST_REQUIRE(agent.has_value());
  BOOST_TEST(json::to_text(to_json(*agent)) == text);
  BOOST_TEST(parse_agent_variable(json::object{}).has_error());
}

BOOST_AUTO_TEST_CASE(spells_times_in_utc) {
  BOOST_TEST(to_text(timestamp{}) == "1970-01-01T00:00:00.000000Z");
  BOOST_TEST(to_text(*parse_timestamp("2026-11-18T09:30:00.123456Z"))
             == "2026-11-18T09:30:00.123456Z");
  BOOST_TEST(to_text(*parse_timestamp("2026-11-18T09:30:00+02:00"))
             == "2026-11-18T07:30:00.000000Z");
  BOOST_TEST(to_text(*parse_timestamp("2026-11-18 09:30:00.5-0130"))
             == "2026-11-18T11:00:00.500000Z");
  BOOST_TEST(to_text(*parse_timestamp("2024-02-29T00:00:00.123456789Z"))
             == "2024-02-29T00:00:00.123456Z");
  BOOST_TEST(to_text(*parse_timestamp("1969-12-31T23:59:59.999999Z"))
             == "1969-12-31T23:59:59.999999Z");
  for (auto text :
       {"", "2026-11-18", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-18T24:00:00Z", "2026-11-18T09:30:00", "2026-11-18T09:30:00.Z",
        "2026-11-18T09:30:00Zx", "2026-11-18T09:30:00+2:00", "20261118T093000Z",
        "2026-11-18T09:60:00Z"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(parse_timestamp(text).has_error());
  const auto written = now();
  BOOST_TEST((*parse_timestamp(to_text(written)) == written));
}

BOOST_AUTO_TEST_SUITE_END()
