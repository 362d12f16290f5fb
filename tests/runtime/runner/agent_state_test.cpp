#include "runtime/runner/agent_state.hpp"
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;
using script::compare_agent_state;

BOOST_AUTO_TEST_SUITE(agent_states)

namespace {

const char* const state
  = R"({"id":"agent-1","name":"A","tags":["x","y"],"project_id":null,)"
    R"("message_ids":["m-1","m-2"],)"
    R"("memory":{"blocks":[{"id":"block-1","label":"human","value":"h",)"
    R"("limit":10},{"id":"block-2","label":"persona","value":"p",)"
    R"("limit":null}]},"metadata":{"k":1}})";

struct row {
  const char* name;
  const char* code; // changes `agent_state`
  const char* patch;
};
std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.name;
}

const row allowed[] = {
  {"nothing", "pass", "[]"},
  {"a value", "agent_state.name = 'B'",
   R"([{"op":"replace","path":"/name","value":"B"}])"},
  {"memory blocks by label",
   "agent_state.memory.get_block('human').value = ''\n"
   "    agent_state['memory']['blocks'][1]['value'] = ''",
   R"([{"op":"replace","path":"/memory/blocks/0/value","value":""},)"
   R"({"op":"replace","path":"/memory/blocks/1/value","value":""}])"},
  {"memory blocks by method",
   "agent_state.memory.update_block_value('persona', 'new')",
   R"([{"op":"replace","path":"/memory/blocks/1/value","value":"new"}])"},
  {"a null becomes something", "agent_state.memory.blocks[1].limit = 5",
   R"([{"op":"replace","path":"/memory/blocks/1/limit","value":5}])"},
  {"a map gains and loses",
   "agent_state.metadata['a/b'] = {'c': [1]}\n"
   "    del agent_state.metadata.k",
   R"([{"op":"remove","path":"/metadata/k"},)"
   R"({"op":"add","path":"/metadata/a~1b","value":{"c":[1]}}])"},
  {"a list shrinks from its end", "agent_state.tags.clear()",
   R"([{"op":"remove","path":"/tags/1"},{"op":"remove","path":"/tags/0"}])"},
  {"a list grows", "agent_state.tags.append('z')",
   R"([{"op":"add","path":"/tags/2","value":"z"}])"},
};

const row refused[] = {
  {"another agent's id", "agent_state.id = 'agent-2'", "/id"},
  {"S5 another block's id", "agent_state.memory.blocks[0].id = 'block-9'",
   "/memory/blocks/0/id"},
  {"S5 blocks change places", "agent_state.memory.blocks.reverse()",
   "/memory/blocks/0/id"},
  {"S5 a block disappears", "agent_state.memory.blocks.pop()",
   "/memory/blocks/1"},
  {"S5 a block appears",
   "agent_state.memory.blocks.append({'id': 'b3', 'value': 'x'})",
   "/memory/blocks/2"},
  {"all blocks disappear", "del agent_state.memory['blocks']",
   "/memory/blocks"},
  {"memory becomes text", "agent_state.memory = 'gone'", "/memory"},
  {"a project's id is set", "agent_state.project_id = 'p'", "/project_id"},
  {"a member of a record disappears", "del agent_state.memory.blocks[0].label",
   "/memory/blocks/0/label"},
  {"a member of a record appears", "agent_state.more = 1", "/more"},
  {"a member of a record changes its type",
   "agent_state.memory.blocks[0].limit = '10'", "/memory/blocks/0/limit"},
  {"an id is hidden in a free map", "agent_state.metadata.user_id = 'u'",
   "/metadata/user_id"},
  {"ids are hidden in a free map", "agent_state.metadata.tool_ids = ['t']",
   "/metadata/tool_ids"},
  {"one of several ids changes", "agent_state.message_ids[0] = 'm'",
   "/message_ids"},
  {"several ids are one less", "agent_state.message_ids.pop()", "/message_ids"},
};

run_result run_with_state(const char* code, const char* before = state) {
  auto run
    = a_run(language::python, "def f(agent_state):\n    " + std::string{code});
  run.agent_state_json = before;
  return run_plainly(run);
}

} // namespace

BOOST_DATA_TEST_CASE(a_tool_may_change_values, allowed) {
  auto seen = run_with_state(sample.code);
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.agent_state_diff == sample.patch);
  BOOST_TEST(!seen.agent_state_json.empty());
}

BOOST_DATA_TEST_CASE(a_tool_may_not_change_who_is_who, refused) {
  auto seen = run_with_state(sample.code);
  BOOST_TEST((seen.status == run_status::error));
  BOOST_TEST(seen.failure.name == "AgentStateRefused");
  BOOST_TEST(
    seen.failure.message.find("/agent_state" + std::string{sample.patch} + ":")
    != std::string::npos);
  BOOST_TEST(seen.agent_state_json == "");
  BOOST_TEST(seen.agent_state_diff == "");
}

BOOST_AUTO_TEST_CASE(without_a_state_there_is_none) {
  auto seen = run_plainly(
    a_run(language::python, "def f(agent_state): return agent_state"));
  BOOST_TEST(seen.value_json == "null");
  BOOST_TEST(seen.agent_state_diff == "");
}

BOOST_AUTO_TEST_CASE(a_failed_tool_changes_nothing) { // S6
  auto seen = run_with_state("agent_state.name = 'B'; raise ValueError('x')");
  BOOST_TEST(seen.failure.name == "ValueError");
  BOOST_TEST(seen.agent_state_diff == "");
}

BOOST_AUTO_TEST_CASE(the_whole_memory_can_be_copied_and_read) {
  auto seen = run_with_state(
    "import copy, json\n"
    "    c = copy.deepcopy(agent_state)\n"
    "    c.name = 'only the copy'\n"
    "    return [c == agent_state, json.loads(json.dumps(agent_state)) == "
    "agent_state, agent_state.memory.list_block_labels(), "
    "agent_state.model_dump() == agent_state, 'name' in agent_state]");
  BOOST_TEST(seen.value_json
             == R"([false,true,["human","persona"],true,true])");
  BOOST_TEST(seen.agent_state_diff == "[]");
}

BOOST_AUTO_TEST_CASE(what_is_no_json_object_is_refused) {
  for (const auto* bad : {"", "[]", "null", "{", R"({"id":"agent-1")",
                          R"({"id":"agent-1","id":"agent-1"})"})
    BOOST_TEST(compare_agent_state(R"({"id":"agent-1"})", bad).has_error());
}

BOOST_AUTO_TEST_CASE(true_is_not_one) {
  auto change = compare_agent_state(R"({"id":"a","m":{"x":true}})",
                                    R"({"id":"a","m":{"x":1}})");
  BOOST_TEST(change.value().patch_json
             == R"([{"op":"replace","path":"/m/x","value":1}])");
}

BOOST_AUTO_TEST_CASE(depth_is_bounded) {
  std::string deep
    = R"({"id":"a","m":)" + std::string(100, '[') + std::string(100, ']') + "}";
  BOOST_TEST(compare_agent_state(R"({"id":"a","m":[]})", deep).has_error());
}

BOOST_AUTO_TEST_SUITE_END()
