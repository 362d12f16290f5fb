#include "net/compat/letta/python_repr.hpp"
#include "runtime/model/value_notes.hpp"
#include "tests/net/compat/letta/letta_server.hpp"

using namespace troupe;
using test::adder;
using test::letta_house;

BOOST_AUTO_TEST_SUITE(letta_facade)

BOOST_AUTO_TEST_CASE(says_values_as_python_does) {
  struct {
    const char* json;
    const char* text;
  } const table[] = {
    {"null", "None"},
    {"true", "True"},
    {"\"plain\"", "plain"},
    {"1", "1"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"1.0", "1.0"},
    {"0.1", "0.1"},
    {"1e16", "1e+16"},
    {"1e15", "1000000000000000.0"},
    {"0.0001", "0.0001"},
    {"0.00001", "1e-05"},
    {"[1,\"a\",null]", "[1, 'a', None]"},
    {"{\"k\":[false]}", "{'k': [False]}"},
    {"[\"it's\"]", "[\"it's\"]"},
    {"[\"it's \\\"both\\\"\"]", "['it\\'s \"both\"']"},
    {"[\"a\\nb\\\\\\u0007\"]", "['a\\nb\\\\\\x07']"},
    {"[\"\\u00e4\\u200b\"]", "['\xc3\xa4\\u200b']"},
    {"[\"\\ud83d\\ude00\"]", "['\xf0\x9f\x98\x80']"},
  };
  for (const auto& [json, text] : table)
    BOOST_TEST(net::letta::python_str(std::string_view{json}) == text);
}

BOOST_AUTO_TEST_CASE(says_numbers_that_json_cannot_write_as_python_does) {
  using net::letta::python_str;
  const std::string_view many = R"(["NaN",{"Infinity":"-Infinity"}])";
  BOOST_TEST(python_str(many, true) == "[nan, {'Infinity': -inf}]");
  BOOST_TEST(python_str(many) == "['NaN', {'Infinity': '-Infinity'}]");
  BOOST_TEST(python_str(std::string_view{R"("NaN")"}, true) == "nan");
  BOOST_TEST(python_str(std::string_view{R"("NaN")"}) == "NaN");
  letta_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status = run_status::success;
    done.value_json = R"(["Infinity"])";
    done.notes.emplace_back(odd_numbers_note);
    return done;
  };
  auto m = house.value("POST", "/v1/tools/run",
                       R"({"source_code":"def f(): pass","args":{}})");
  BOOST_TEST(m.at("tool_return").as_string() == "[inf]");
}

BOOST_AUTO_TEST_CASE(answers_errors_with_a_detail) {
  letta_house house;
  struct {
    const char* verb;
    const char* path;
    const char* body;
    int status;
  } const table[] = {
    {"POST", "/v1/tools/", R"({"source_code":"x","name":"n"})", 422},
    {"POST", "/v1/tools/", R"({})", 422},
    {"POST", "/v1/tools/", R"({"source_code":"x = 1"})", 400},
    {"POST", "/v1/tools/", R"({"source_code":"x","source_type":"typescript"})",
     422},
    {"POST", "/v1/tools/run", R"({"source_code":"x"})", 422},
    {"POST", "/v1/tools/run",
     R"({"source_code":"x","args":{},"source_type":"cobol"})", 400},
    {"GET", "/v1/tools/tool-x", "", 404},
    {"GET", "/v1/nothing", "", 404},
    {"PUT", "/v1/tools/run", "{}", 405},
    {"PATCH", "/v1/sandbox-config/x", "{}", 422},
    {"GET", "/v1/sandbox-config/?after=x", "", 404},
    {"POST", "/v1/tools/search", "{}", 400},
    {"POST", "/v1/tools/generate-tool", "{}", 400},
    {"POST", "/v1/tools/run", R"({"source_code":"x = 1","args":{}})", 400},
    {"GET", "/v1/tools/?tool_types=custom,odd", "", 400},
    {"GET", "/v1/tools/?exclude_tool_types=odd", "", 400},
    {"GET", "/v1/tools/count?tool_types=odd", "", 400},
    {"POST", "/v1/agents/", R"({"secrets":{"A":1}})", 422},
  };
  for (const auto& [verb, path, body, status] : table) {
    auto a = house.send(verb, path, body);
    BOOST_TEST(a.status == status, path << body << a.status << a.body);
    auto o = json::parse_object(a.body);
    BOOST_REQUIRE(o);
    BOOST_TEST(o->at("detail").is_string());
    BOOST_TEST(o->contains("trace_id") == (status == 422));
  }
}

BOOST_AUTO_TEST_CASE(says_where_a_body_is_no_json) {
  letta_house house;
  auto a = house.send("POST", "/v1/tools/run",
                      R"({"source_code":"a\ud800b","args":{}})");
  BOOST_TEST(a.status == 422);
  BOOST_TEST(a.body.find("at byte 23: half of a surrogate pair") != a.body.npos,
             a.body);
  BOOST_TEST(house.send("POST", "/v1/tools/", "[]").body.find("JSON object")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(runs_from_source_in_letta_s_shape) {
  letta_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status = run_status::success;
    done.value_json = R"({"k":"v"})";
    done.stdout_text = "printed\n";
    return done;
  };
  auto m = house.value(
    "POST", "/v1/tools/run",
    R"({"source_code":"def f(): pass","args":{},"env_vars":{"A":"1"}})");
  BOOST_TEST(m.at("id").as_string() == "null");
  BOOST_TEST(m.at("tool_return").as_string() == "{'k': 'v'}");
  BOOST_TEST(m.at("status").as_string() == "success");
  BOOST_TEST(m.at("message_type").as_string() == "tool_return_message");
  BOOST_TEST(m.at("stdout").at(0).as_string() == "printed\n");
  BOOST_TEST(m.at("stderr").as_array().empty());
  BOOST_TEST(m.at("tool_returns").at(0).at("type").as_string() == "tool");
  BOOST_TEST(house.engine.last_request().env.at("A").reveal() == "1");
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.failure.friendly
      = "Error executing function f: " + std::string(2'000, 'x');
    return done;
  };
  auto bad = house.value("POST", "/v1/tools/run",
                         R"({"source_code":"def f(): pass","args":{}})");
  BOOST_TEST(bad.at("status").as_string() == "error");
  BOOST_TEST(bad.at("tool_return").as_string().size() == 1'000u);
}

BOOST_AUTO_TEST_CASE(runs_a_tool_with_the_variables_of_an_agent) {
  letta_house house;
  house.value("POST", "/v1/tools/", adder);
  house.value("PATCH", "/v1/agents/agent-1",
              R"({"secrets":{"TOKEN":"s3cret"}})");
  auto agent = house.send("GET", "/v1/agents/agent-1");
  BOOST_TEST(agent.body.find("TOKEN") != std::string::npos);
  BOOST_TEST(agent.body.find("s3cret") == std::string::npos);
  auto r = house.value("POST", "/v1/agents/agent-1/tools/add/run",
                       R"({"args":{"a":1}})");
  BOOST_TEST(r.at("status").as_string() == "success");
  BOOST_TEST(r.at("agent_state").is_null());
  BOOST_TEST(house.engine.last_request().agent_id == "agent-1");
  BOOST_TEST(house.send("POST", "/v1/agents/agent-1/tools/nope/run").status
             == 404);
}

BOOST_AUTO_TEST_CASE(tells_the_model_what_was_refused_after_validation) {
  letta_house house;
  house.value("POST", "/v1/tools/", adder);
  house.engine.play = [](const run_request&) -> result<run_result> {
    return bad_field("/args/a", "must be an integer");
  };
  const std::string words
    = "Error executing function add: ValueError: /args/a: must be an integer";
  auto source = house.value("POST", "/v1/tools/run",
                            R"({"source_code":"def add(): pass","args":{}})");
  BOOST_TEST(source.at("status").as_string() == "error");
  BOOST_TEST(source.at("tool_return").as_string() == words);
  auto agent = house.value("POST", "/v1/agents/agent-1/tools/add/run");
  BOOST_TEST(agent.at("status").as_string() == "error");
  BOOST_TEST(agent.at("func_return").as_string() == words);
  BOOST_TEST(agent.at("stderr").as_array().size() == 1u);
}

// A failure of ours is sent again by Letta's clients, three times in all.
BOOST_AUTO_TEST_CASE(tells_what_a_run_could_not_have_as_its_failure) {
  letta_house house;
  house.value("POST", "/v1/tools/", adder);
  struct {
    ec code;
    bool healthy;
    int status;
    const char* name;
  } const table[] = {
    {ec::unavailable, true, 200, "ConnectionError"}, // a package index
    {ec::denied, true, 200, "PermissionError"},
    {ec::timeout, true, 200, "TimeoutError"},
    {ec::internal, true, 200, "RuntimeError"},
    {ec::unavailable, false, 503, ""}, // we ourselves
    {ec::exhausted, true, 429, ""},
    {ec::not_found, true, 404, ""},
  };
  for (const auto& [code, healthy, status, name] : table) {
    house.engine.healthy = healthy;
    house.engine.play
      = [code = code](const run_request&) -> result<run_result> {
      return error{code, "the words", {}, {}};
    };
    auto words
      = "Error executing function add: " + std::string{name} + ": the words";
    auto source = house.send("POST", "/v1/tools/run",
                             R"({"source_code":"def add(): 1","args":{}})");
    BOOST_TEST(source.status == status, static_cast<int>(code));
    auto agent = house.send("POST", "/v1/agents/agent-1/tools/add/run");
    BOOST_TEST(agent.status == status, static_cast<int>(code));
    if (status != 200)
      continue;
    auto o = json::parse_object(source.body).value();
    BOOST_TEST(o.at("status").as_string() == "error");
    BOOST_TEST(o.at("tool_return").as_string() == words);
    o = json::parse_object(agent.body).value();
    BOOST_TEST(o.at("func_return").as_string() == words);
  }
}

BOOST_AUTO_TEST_CASE(reveals_values_where_an_operator_wants_it) {
  net::letta::letta_options how;
  how.reveal_agent = [](const sealed_agent_variable& v) -> result<secret> {
    if (v.about.key == "LOST")
      return error{ec::internal, "it does not open", {}, {}};
    return secret{"opened " + v.about.key};
  };
  letta_house house{std::move(how)};
  auto agent
    = house.value("POST", "/v1/agents/", R"({"secrets":{"A":"1","LOST":"2"}})");
  auto id = std::string{agent.at("id").as_string()};
  BOOST_TEST(id.starts_with("agent-"));
  auto shown = house.value("GET", "/v1/agents/" + id).at("secrets").as_array();
  BOOST_TEST_REQUIRE(shown.size() == 2u);
  BOOST_TEST(shown[0].at("value").as_string() == "opened A");
  BOOST_TEST(shown[1].at("value").as_string() == "********");
}

BOOST_AUTO_TEST_CASE(keeps_sandbox_configs_and_their_variables) {
  letta_house house;
  auto e2b = house.value("POST", "/v1/sandbox-config/",
                         R"({"config":{"timeout":100}})");
  BOOST_TEST(e2b.at("type").as_string() == "e2b");
  auto local = house.value("POST", "/v1/sandbox-config/local",
                           R"({"use_venv":true,"unknown":1})");
  BOOST_TEST(local.at("type").as_string() == "local");
  BOOST_TEST(!local.at("config").as_object().contains("unknown"));
  std::string id{local.at("id").as_string()};
  auto mismatch = house.send("PATCH", "/v1/sandbox-config/" + id,
                             R"({"config":{"timeout":3}})");
  BOOST_TEST(mismatch.status == 400);
  BOOST_TEST(mismatch.body.find("e2b") != std::string::npos);
  BOOST_TEST(mismatch.body.find("local") != std::string::npos);
  auto list = house.value("GET", "/v1/sandbox-config/?sandbox_type=e2b");
  BOOST_TEST(list.as_array().size() == 1u);
  auto place = "/v1/sandbox-config/" + id + "/environment-variable";
  auto v = house.value("POST", place, R"({"key":"K","value":"hidden"})");
  BOOST_TEST(v.at("value").as_string() == "********");
  std::string one = "/v1/sandbox-config/environment-variable/"
    + std::string{v.at("id").as_string()};
  house.value("PATCH", one, R"({"description":"d"})");
  BOOST_TEST(house.value("GET", place).as_array().size() == 1u);
  BOOST_TEST(house.send("DELETE", one).status == 204);
  BOOST_TEST(house.send("DELETE", "/v1/sandbox-config/" + id).status == 204);
}

BOOST_AUTO_TEST_CASE(overlooks_keys_that_are_letta_s) {
  letta_house house;
  BOOST_TEST(
    house.send("GET", "/v1/tools/", {}, "Authorization: Bearer sk-let-abc\r\n")
      .status
    == 200);
  BOOST_TEST(house.send("GET", "/v1/tools/", {}, "user_id: user-1\r\n").status
             == 400);
  BOOST_TEST(house.send("GET", "/v1/health/").status == 200);
}

BOOST_AUTO_TEST_SUITE_END()
