#include "runtime/model/codec/codec.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_requests)

namespace {

result<run_request> parsed(std::string_view text) {
  return parse_run_request(*json::parse_object(text));
}

run_request full_request() {
  run_request r;
  r.id = run_id::make();
  r.organization = default_organization();
  r.user = default_user();
  r.kind = run_kind::source;
  r.tool = tool_id::make();
  r.tool_name = "adder";
  r.lang = language::typescript;
  r.source = "def f():\n  return '\xc3\xa9'";
  r.function = "f";
  r.argv = {"ls", "-l", ""};
  r.command = "echo $HOME";
  r.stdin_text = std::string("a\0b", 3);
  r.args_json = R"({"n": 1e400, "big": 123456789012345678901234567890})";
  r.json_schema = R"({"name":"f"})";
  r.args_json_schema = R"({"type":"object"})";
  r.pip_requirements = {*parse_pip("pandas[excel]>=2,<3")};
  r.npm_requirements = {*parse_npm("@scope/x@^2")};
  r.return_char_limit = 77;
  r.lenient_arguments = true;
  r.env["A"] = secret{"one"};
  r.agent_env["B"] = secret{""};
  r.agent_id = "agent-7";
  r.project_id = "project";
  r.agent_state_json = R"({"memory":{}})";
  r.backend = backend_kind::modal;
  r.config = config_id::make();
  r.limits.wall = std::chrono::milliseconds{1500};
  r.limits.memory_bytes = 64u << 20;
  r.network = network_policy{network_mode::listed, {"a.b:443"}};
  r.isolation = isolation_level::best_effort;
  r.idempotent = true;
  r.idempotency_key = "k";
  r.priority = -3;
  r.deadline = std::chrono::milliseconds{12'345};
  r.traceparent = "00-1-2-01";
  r.labels = {{"team", "red"}};
  return r;
}

} // namespace

BOOST_AUTO_TEST_CASE(implies_the_kind_from_what_is_there) {
  auto id = tool_id::make().str();
  BOOST_TEST((parsed(R"({"tool_id":")" + id + R"("})")->tool.str() == id));
  BOOST_TEST((parsed(R"({"tool_name":"x"})")->kind == run_kind::tool));
  BOOST_TEST((parsed(R"({"source":"x"})")->kind == run_kind::source));
  auto code = parsed(R"({"code":"1+1","language":"javascript"})");
  BOOST_TEST((code->kind == run_kind::code));
  BOOST_TEST(code->source == "1+1");
  BOOST_TEST((code->lang == language::javascript));
  BOOST_TEST(parsed(R"({"command":"ls","stdin":"x"})")->stdin_text == "x");
  BOOST_TEST(parsed(R"({"argv":["ls","-l"]})")->argv.size() == 2u);
}

BOOST_AUTO_TEST_CASE(knows_a_source_of_which_no_call_is_asked) {
  BOOST_TEST(parsed(R"({"source":"x"})")->may_be_script);
  for (const char* asks :
       {R"({"source":"x","args":{}})", R"({"source":"x","function":"f"})",
        R"({"source":"x","json_schema":{}})",
        R"({"source":"x","args_json_schema":{}})",
        R"({"source":"x","agent_state":{}})", R"({"code":"x"})",
        R"({"tool_name":"x"})"})
    BOOST_TEST(!parsed(asks)->may_be_script, asks);
}

BOOST_AUTO_TEST_CASE(reads_everything_a_body_may_say) {
  auto config = config_id::make().str();
  auto r = parsed(
    R"({"source":"s","function":"f","language":"python","args":{"a":[1,2.5]},
    "json_schema":{"name":"f"},"args_json_schema":{},
    "env":{"A":"1","GONE":null},"agent_env":{"B":"2"},"agent_id":"a",
    "project_id":"p","agent_state":{"m":1},
    "pip_requirements":["numpy==1.26",{"name":"a","version":"2"}],
    "npm_requirements":[{"name":"left-pad","version":null}],
    "return_char_limit":10,"backend":"local","sandbox_config_id":")"
    + config + R"(","limits":{"wall_seconds":"2min","cpu_seconds":0.5,
    "memory_bytes":"1.5GiB","processes":8,"open_files":64,
    "disk_bytes":"10MB","inodes":100,"output_bytes":0,"result_bytes":1024},
    "network":"off","isolation":"strict","idempotent":true,"priority":5,
    "deadline_seconds":"500ms","labels":{"x":"y"}})");
  BOOST_REQUIRE(r.has_value());
  BOOST_TEST(r->args_json == R"({"a":[1,2.5]})");
  BOOST_TEST(r->env.at("A").reveal() == "1");
  BOOST_TEST(r->env.count("GONE") == 0u);
  BOOST_TEST(r->agent_env.at("B").reveal() == "2");
  BOOST_TEST(to_string(r->pip_requirements.at(1)) == "a==2");
  BOOST_TEST(to_string(r->npm_requirements.at(0)) == "left-pad");
  BOOST_TEST((*r->limits.wall == std::chrono::minutes{2}));
  BOOST_TEST((*r->limits.cpu == std::chrono::milliseconds{500}));
  BOOST_TEST(*r->limits.memory_bytes == 1536ull << 20);
  BOOST_TEST(*r->limits.disk_bytes == 10'000'000u);
  BOOST_TEST((r->network->mode == network_mode::off));
  BOOST_TEST((r->deadline == std::chrono::milliseconds{500}));
  BOOST_TEST(r->config.str() == config);
  BOOST_TEST(r->labels.at("x") == "y");
  BOOST_TEST(r->organization.empty()); // the key's business
}

BOOST_AUTO_TEST_CASE(refuses_hostile_and_mistaken_bodies) {
  const std::pair<std::string, const char*> cases[] = {
    {"{}", ""},
    {R"({"tool_id":"tool-1"})", "/tool_id"},
    {R"({"tool_name":""})", "/tool_name"},
    {R"({"tool_name":"x","source":"y"})", "/source"},
    {R"({"command":"ls","argv":["ls"]})", "/argv"},
    {R"({"argv":[]})", "/argv"},
    {R"({"argv":[""]})", "/argv/0"},
    {R"({"argv":["a",1]})", "/argv/1"},
    {R"({"argv":["a","b\u0000c"]})", "/argv/1"},
    {R"({"command":"a\u0000b"})", "/command"},
    {R"({"tool_name":"x","function":"f"})", "/function"},
    {R"({"tool_name":"x","stdin":"f"})", "/stdin"},
    {R"({"source":"x","function":"f x"})", "/function"},
    {R"({"source":"x","function":"1f"})", "/function"},
    {R"({"source":"x","language":"cobol"})", "/language"},
    {R"({"source":"x","language":"shell"})", "/language"},
    {R"({"source":5})", "/source"},
    {R"({"source":"x","args":[]})", "/args"},
    {R"({"source":"x","args":"{}"})", "/args"},
    {R"({"source":"x","agent_state":"x"})", "/agent_state"},
    {R"({"source":"x","env":{"LD_PRELOAD":"x"}})", "/env/LD_PRELOAD"},
    {R"({"source":"x","env":{"A/B":"x"}})", "/env/A~1B"},
    {R"({"source":"x","env":{"A":5}})", "/env/A"},
    {R"({"source":"x","env":{"A":"\u0000"}})", "/env/A"},
    {R"({"source":"x","pip_requirements":["-e ."]})", "/pip_requirements/0"},
    {R"({"source":"x","npm_requirements":[{"nam":"a"}]})",
     "/npm_requirements/0/name"},
    {R"({"source":"x","return_char_limit":0})", "/return_char_limit"},
    {R"({"source":"x","return_char_limit":1000001})", "/return_char_limit"},
    {R"({"source":"x","backend":"docker"})", "/backend"},
    {R"({"source":"x","sandbox_config_id":"../x"})", "/sandbox_config_id"},
    {R"({"source":"x","limits":{"wall_seconds":0}})", "/limits/wall_seconds"},
    {R"({"source":"x","limits":{"wall_seconds":-1}})", "/limits/wall_seconds"},
    {R"({"source":"x","limits":{"wall_seconds":1e18}})",
     "/limits/wall_seconds"},
    {R"({"source":"x","limits":{"wall_seconds":"5"}})", "/limits/wall_seconds"},
    {R"({"source":"x","limits":{"wall_seconds":"inf s"}})",
     "/limits/wall_seconds"},
    {R"({"source":"x","limits":{"wall_seconds":true}})",
     "/limits/wall_seconds"},
    {R"({"source":"x","limits":{"memory_bytes":"1PiB"}})",
     "/limits/memory_bytes"},
    {R"({"source":"x","limits":{"memory_bytes":-1}})", "/limits/memory_bytes"},
    {R"({"source":"x","limits":{"processes":"64"}})", "/limits/processes"},
    {R"({"source":"x","limits":{"processes":1.5}})", "/limits/processes"},
    {R"({"source":"x","limits":{"inodes":18446744073709551615}})",
     "/limits/inodes"},
    {R"({"source":"x","limits":{"memory":1}})", "/limits/memory"},
    {R"({"source":"x","network":"on"})", "/network"},
    {R"({"source":"x","network":{"allow":["a b"]}})", "/network/allow/0"},
    {R"({"source":"x","network":{"deny":[]}})", "/network/allow"},
    {R"({"source":"x","isolation":"weak"})", "/isolation"},
    {R"({"source":"x","idempotent":"yes"})", "/idempotent"},
    {R"({"source":"x","priority":101})", "/priority"},
    {R"({"source":"x","deadline_seconds":0})", "/deadline_seconds"},
    {R"({"source":"x","labels":{"a":1}})", "/labels/a"},
    {R"({"source":"x","organization_id":"x"})", "/organization_id"},
    {R"({"source":"x","user":"x"})", "/user"},
    {R"({"source":"x","idempotency_key":"x"})", "/idempotency_key"},
    {R"({"source":"x","lenient_arguments":true})", "/lenient_arguments"},
  };
  for (auto& [text, pointer] : cases) {
    BOOST_TEST_CONTEXT(text) {
      auto r = parsed(text);
      BOOST_REQUIRE(r.has_error());
      BOOST_TEST((r.error().code == ec::invalid_request));
      BOOST_TEST(r.error().fields.at(0).pointer == pointer);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_the_nearest_member_and_every_mistake) {
  auto r = parsed(R"({"tool_nmae":"x","sorce":"y","agrs":{}})");
  BOOST_REQUIRE(r.has_error());
  std::string hints;
  for (auto& f : r.error().fields)
    hints += f.pointer + " " + f.hint + "\n";
  BOOST_TEST(hints
             == "/tool_nmae did you mean 'tool_name'?\n"
                "/sorce did you mean 'source'?\n"
                "/agrs did you mean 'args'?\n"
                " send one of tool_id, tool_name, source, code, command and "
                "argv\n");
}

BOOST_AUTO_TEST_CASE(never_repeats_a_variables_value) {
  auto r = parsed(R"({"source":"x","env":{"A":"hunter2\u0000"}})");
  BOOST_REQUIRE(r.has_error());
  BOOST_TEST(to_string(r.error()).find("hunter2") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(crosses_the_wire_without_loss) {
  auto r = full_request();
  auto text = json::to_text(to_wire(r));
  auto back = from_wire(*json::parse_object(text));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(json::to_text(to_wire(*back)) == text);
  BOOST_TEST((back->kind == r.kind && back->id == r.id && back->tool == r.tool
              && back->organization == r.organization && back->user == r.user));
  BOOST_TEST(back->args_json == r.args_json);
  BOOST_TEST(back->stdin_text == r.stdin_text);
  BOOST_TEST((back->argv == r.argv));
  BOOST_TEST((back->env == r.env && back->agent_env == r.agent_env));
  BOOST_TEST((back->pip_requirements == r.pip_requirements
              && back->npm_requirements == r.npm_requirements));
  BOOST_TEST((back->limits == r.limits && back->network == r.network
              && back->isolation == r.isolation && back->backend == r.backend
              && back->config == r.config));
  BOOST_TEST((back->deadline == r.deadline && back->priority == r.priority
              && back->idempotent && back->labels == r.labels));
  BOOST_TEST((back->lang == r.lang && back->source == r.source
              && back->function == r.function && back->command == r.command
              && back->tool_name == r.tool_name));
  BOOST_TEST((back->json_schema == r.json_schema
              && back->args_json_schema == r.args_json_schema
              && back->agent_state_json == r.agent_state_json
              && back->agent_id == r.agent_id
              && back->project_id == r.project_id
              && back->idempotency_key == r.idempotency_key
              && back->traceparent == r.traceparent
              && back->return_char_limit == r.return_char_limit
              && back->lenient_arguments));
  run_request empty;
  auto bare = from_wire(to_wire(empty));
  BOOST_REQUIRE(bare.has_value());
  BOOST_TEST(json::to_text(to_wire(*bare)) == json::to_text(to_wire(empty)));
}

BOOST_AUTO_TEST_CASE(distrusts_the_wire_as_well) {
  for (auto text :
       {"{}", R"({"kind":"tool","language":"python","wat":1})",
        R"({"kind":"tool","id":"run-1"})", R"({"kind":"tool","args_json":"{"})",
        R"({"kind":"tool","args_json":"{\"a\":1,\"a\":2}"})",
        R"({"kind":"tool","env":{"LD_PRELOAD":"x"}})", R"({"kind":"magic"})"})
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST(from_wire(*json::parse_object(text)).has_error());
}

BOOST_AUTO_TEST_CASE(spells_limits_exactly) {
  limit_overrides l;
  l.wall = std::chrono::milliseconds{1};
  l.cpu = std::chrono::milliseconds{86'399'999};
  l.memory_bytes = (1ull << 40) - 1;
  l.processes = 1;
  l.open_files = 17;
  l.disk_bytes = 4097;
  l.inodes = 99;
  l.output_bytes = 0;
  l.result_bytes = 65;
  auto back = parse_limits(to_json(l), "");
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST((*back == l));
  BOOST_TEST(json::to_text(to_json(limits{}))
             == R"({"wall_seconds":180,"cpu_seconds":180,)"
                R"("memory_bytes":536870912,"processes":64,"open_files":1024,)"
                R"("disk_bytes":134217728,"inodes":16384,)"
                R"("output_bytes":1048576,"result_bytes":8388608})");
}

BOOST_AUTO_TEST_SUITE_END()
