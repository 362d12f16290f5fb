#include "actors/protocol/environment_layers.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(environment_layers_suite)

namespace {

std::shared_ptr<const environment> layer(const std::string& from) {
  environment e;
  e["SHARED"] = secret{from};
  e["FROM_" + from] = secret{from};
  return std::make_shared<const environment>(std::move(e));
}

struct all_layers {
  run_request request;
  tool_id tool = tool_id::make();
  resolved_variables found;
  run_rules rules;

  all_layers() {
    rules.inherited = *layer("process");
    found.of_config = layer("config");
    found.of_webhook = layer("webhook");
    found.of_agent = layer("stored_agent");
    request.agent_env = *layer("agent");
    request.env = *layer("run");
    request.agent_id = "agent-1";
    request.project_id = "project-1";
    request.traceparent = "00-a-b-01";
  }
  result<layered_environment> make(backend_kind kind = backend_kind::local,
                                   bool origins = false) {
    return layer_environment(request, tool, kind, found, rules, origins);
  }
  std::string shared() { return make()->variables.at("SHARED").reveal(); }
};

} // namespace

BOOST_AUTO_TEST_CASE(lets_the_later_layer_win_one_after_the_other) {
  all_layers l;
  BOOST_TEST(l.shared() == "run");
  l.request.env.clear();
  BOOST_TEST(l.shared() == "agent");
  l.request.agent_env.clear();
  BOOST_TEST(l.shared() == "stored_agent");
  l.found.of_agent = nullptr;
  BOOST_TEST(l.shared() == "webhook");
  l.found.of_webhook = nullptr;
  BOOST_TEST(l.shared() == "config");
  l.found.of_config = nullptr;
  BOOST_TEST(l.shared() == "process");
}

BOOST_AUTO_TEST_CASE(shows_process_variables_to_local_runs_only) {
  all_layers l;
  BOOST_TEST(l.make()->variables.contains("FROM_process"));
  BOOST_TEST(!l.make(backend_kind::e2b)->variables.contains("FROM_process"));
}

BOOST_AUTO_TEST_CASE(injects_ids_that_nobody_overrides) {
  all_layers l;
  l.request.env["LETTA_AGENT_ID"] = secret{"forged"};
  auto env = l.make()->variables;
  BOOST_TEST(env.at("LETTA_AGENT_ID").reveal() == "agent-1");
  BOOST_TEST(env.at("TROUPE_AGENT_ID").reveal() == "agent-1");
  BOOST_TEST(env.at("LETTA_PROJECT_ID").reveal() == "project-1");
  BOOST_TEST(env.at("LETTA_TOOL_ID").reveal() == l.tool.str());
  BOOST_TEST(env.at("TROUPE_TOOL_ID").reveal() == l.tool.str());
  BOOST_TEST(env.at("TRACEPARENT").reveal() == "00-a-b-01");
}

BOOST_AUTO_TEST_CASE(leaves_out_ids_that_there_are_not) {
  all_layers l;
  for (const auto* name : {"LETTA_AGENT_ID", "LETTA_PROJECT_ID", "TRACEPARENT"})
    l.request.env[name] = secret{"forged"};
  l.request.agent_id.clear();
  l.request.project_id.clear();
  l.request.traceparent.clear();
  auto env = l.make()->variables;
  BOOST_TEST(!env.contains("LETTA_AGENT_ID"));
  BOOST_TEST(!env.contains("LETTA_PROJECT_ID"));
  BOOST_TEST(!env.contains("TRACEPARENT"));
  BOOST_TEST(env.contains("LETTA_TOOL_ID"));
}

BOOST_AUTO_TEST_CASE(refuses_names_that_change_how_processes_are_loaded) {
  all_layers l;
  l.request.env["LD_PRELOAD"] = secret{"/tmp/evil.so"};
  auto env = l.make();
  BOOST_REQUIRE(!env.has_value());
  BOOST_TEST((env.error().code == ec::invalid_request));
  BOOST_REQUIRE(!env.error().fields.empty());
  BOOST_TEST(env.error().fields[0].pointer == "/env/LD_PRELOAD");
}

BOOST_AUTO_TEST_CASE(bounds_all_layers_together) {
  all_layers l;
  l.rules.variables_bytes = 200;
  l.request.env["LONG"] = secret{std::string(200, 'x')};
  BOOST_TEST(!l.make().has_value());
}

BOOST_AUTO_TEST_CASE(tells_where_each_variable_comes_from_without_values) {
  all_layers l;
  auto env = l.make(backend_kind::local, true);
  BOOST_REQUIRE(env.has_value());
  std::map<std::string, std::string> origins{env->origins.begin(),
                                             env->origins.end()};
  BOOST_TEST(origins.at("SHARED")
             == "run over agent over webhook over config over process");
  BOOST_TEST(origins.at("FROM_config") == "config");
  BOOST_TEST(origins.at("LETTA_TOOL_ID") == "engine");
}

BOOST_AUTO_TEST_SUITE_END()
