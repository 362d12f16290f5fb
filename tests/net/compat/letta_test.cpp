#include "net/compat/letta/letta.hpp"
#include "net/compat/letta/python_text.hpp"
#include "runtime/schema_deriver.hpp"
#include "tests/support/http_house.hpp"

using namespace troupe;
using test::ask;
using test::fake_engine;

BOOST_AUTO_TEST_SUITE(letta_facade)

namespace {

/// As http_house, with Letta's doors.
struct letta_house {
  explicit letta_house(net::letta::letta_options how = {}) {
    net::letta::add_letta(server.routes(), engine, std::move(how));
    BOOST_REQUIRE(server.start());
  }
  static net::server_options options() {
    net::server_options o;
    o.listen = {"127.0.0.1:0"};
    o.threads = 1;
    return o;
  }
  test::raw_answer send(std::string_view verb, const std::string& path,
                        std::string_view body = {},
                        std::string_view fields = {}) {
    return ask(server.port(), verb, "/compat/letta" + path, body, fields);
  }
  json::value value(std::string_view verb, const std::string& path,
                    std::string_view body = {}) {
    auto a = send(verb, path, body);
    BOOST_TEST(a.status == 200, path << " " << a.status << a.body);
    return json::parse(a.body).value();
  }

  fake_engine engine;
  net::http_server server{engine, options()};
};

const std::string adder
  = R"({"source_code":"def add(a: int):\n  \"\"\"x\"\"\"\n  return a\n"})";

} // namespace

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

BOOST_AUTO_TEST_CASE(creates_and_upserts_by_name) {
  letta_house house;
  auto first = house.value("POST", "/v1/tools/", adder);
  auto again = house.value("PUT", "/v1/tools", adder);
  BOOST_TEST(first.at("id") == again.at("id"));
  BOOST_TEST(first.at("name").as_string() == "add");
  BOOST_TEST(first.at("metadata_").is_object());
  BOOST_TEST(first.at("pip_requirements").is_null());
  BOOST_TEST(house.value("GET", "/v1/tools/count").as_int64() == 1);
  BOOST_TEST(house.value("GET", "/latest/tools/").as_array().size() == 1u);
  std::string id{first.at("id").as_string()};
  BOOST_TEST(house.value("GET", "/v1/tools/" + id).at("id").as_string() == id);
  BOOST_TEST(house.value("DELETE", "/v1/tools/" + id).is_null());
  BOOST_TEST(house.send("GET", "/v1/tools/" + id).status == 404);
  BOOST_TEST(house.send("DELETE", "/v1/tools/" + id).status == 400);
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
  house.engine.play = [](const run_request&) -> result<run_result> {
    return error{ec::exhausted, "the queue is full", {}, {}};
  };
  BOOST_TEST(house.send("POST", "/v1/agents/agent-1/tools/add/run").status
             == 429);
}

BOOST_AUTO_TEST_CASE(derives_what_a_source_without_a_name_is_called) {
  letta_house house;
  auto run = [&](const std::string& more) {
    house.value("POST", "/v1/tools/run",
                R"({"source_code":"def add(): pass","args":{})" + more + "}");
    return house.engine.last_request();
  };
  auto derived = run("");
  BOOST_TEST(derived.function == "add");
  BOOST_TEST(derived.json_schema.find("A derived tool") != std::string::npos);
  auto described = run(R"(,"args_json_schema":{"type":"object","by":"hand"})");
  BOOST_TEST(described.function == "add");
  BOOST_TEST(described.args_json_schema.find("hand") != std::string::npos);
  BOOST_TEST(described.json_schema.empty()); // nothing is checked by two
  BOOST_TEST(run(R"(,"name":"add")").json_schema.empty());
}

BOOST_AUTO_TEST_CASE(needs_no_word_about_arguments_that_are_described) {
  letta_house house;
  house.engine.unclear = bad_field("/source_code", "'Entry' is not known here");
  const auto create = [&](const std::string& source) {
    return house.send("POST", "/v1/tools/",
                      R"({"source_code":")" + source
                        + R"(","args_json_schema":{"type":"object",)"
                          R"("properties":{"data":{"type":"object"}}}})");
  };
  const auto made = create(R"(def helper(): pass\ndef manage(data: Entry): 1)");
  BOOST_TEST(made.status == 200);
  BOOST_TEST(made.body.find(R"("name":"manage")") != std::string::npos);
  BOOST_TEST(made.body.find("The manage tool") != std::string::npos);
  BOOST_TEST(create("undef manage").status == 400); // no function at all
  house.engine.unclear->fields.front().hint = unreadable_source;
  BOOST_TEST(create("def f(:").status == 400);
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

BOOST_AUTO_TEST_CASE(lists_newest_first_until_an_empty_page) {
  letta_house house;
  for (std::string name : {"a", "b", "c"})
    house.value("POST", "/v1/tools/",
                R"({"source_code":"def )" + name + R"((): pass"})");
  std::string order;
  std::string query = "?limit=2";
  for (;;) {
    auto page = house.value("GET", "/v1/tools/" + query).as_array();
    if (page.empty())
      break;
    for (const auto& t : page)
      order += std::string{t.at("name").as_string()};
    query = "?limit=2&after=" + std::string{page.back().at("id").as_string()};
    BOOST_REQUIRE(order.size() < 10);
  }
  BOOST_TEST(order == "cba");
  auto two = house.value("GET", "/v1/tools/?names=a&names=c").as_array();
  BOOST_TEST(two.size() == 2u);
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
