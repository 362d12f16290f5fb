// Arguments as Letta's agents send them, and what real runs make of them.
#include "tests/app/serving.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(letta_arguments)

namespace {

/// A tool with the schema that Letta would have made of it.
std::string body_of(const std::string& name) {
  return R"("source_code":"def )" + name + R"((l, flag, s, e, n=2):\n)"
    + R"(    return [l, flag, s, e, n]\n","json_schema":{"name":")" + name
    + R"(","parameters":{"type":"object","properties":{)"
      R"("l":{"type":"array","items":{"type":"string"}},)"
      R"("flag":{"type":"boolean"},"s":{"type":"string"},)"
      R"~("e":{"type":"string","enum":["('c', 'f')"]},)~"
      R"("n":{"type":"integer"}},"required":["l","flag","s","e","n"]}})";
}
const std::string args
  = R"("args":{"l":[1,2],"flag":0,"s":5,"e":"c","unknown":true})";
const std::string letta = "POST /compat/letta/v1/";

} // namespace

BOOST_AUTO_TEST_CASE(reach_a_tool_as_letta_s_would_have_them) {
  temporary_folder folder;
  serving engine{folder};
  auto at = engine.address();
  const std::string value = R"([[1,2],false,"5","c",2])";

  auto source
    = talk(at, letta + "tools/run", "{" + body_of("f") + "," + args + "}");
  BOOST_TEST_REQUIRE(source.status == 200, json::to_text(source.body));
  BOOST_TEST(source.body.at("tool_return").as_string()
             == "[[1, 2], False, '5', 'c', 2]");

  auto made = talk(at, letta + "tools", "{" + body_of("f") + "}");
  BOOST_TEST_REQUIRE(made.status == 200, json::to_text(made.body));
  auto agent = talk(at, letta + "agents/agent-1/tools/f/run", "{" + args + "}");
  BOOST_TEST(json::to_text(agent.body.at("func_return")) == value);
  // It came from there, whoever runs it.
  auto native = talk(at, "POST /v1/tools/f/run", "{" + args + "}");
  BOOST_TEST(native.status == 200, json::to_text(native.body));

  // What came from here is as strict as ever, but for Letta's clients.
  made = talk(at, "POST /v1/tools", "{" + body_of("g") + "}");
  BOOST_TEST(made.status == 201, json::to_text(made.body));
  native = talk(at, "POST /v1/tools/g/run", "{" + args + "}");
  BOOST_TEST(native.status == 422, json::to_text(native.body));
  agent = talk(at, letta + "agents/agent-1/tools/g/run", "{" + args + "}");
  BOOST_TEST(json::to_text(agent.body.at("func_return")) == value);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(leave_as_python_writes_them) {
  temporary_folder folder;
  serving engine{folder};
  auto at = engine.address();
  auto run = talk(at, letta + "tools/run",
                  R"({"name":"f","args":{},"source_code":"def f():\n)"
                  R"(    return [float('nan'), {'a': float('-inf')}]"})");
  BOOST_TEST(run.body.at("tool_return").as_string() == "[nan, {'a': -inf}]");
  run = talk(at, letta + "tools/run",
             R"({"name":"f","args":{},"source_code":"def f():\n)"
             R"(    return ['NaN', 1.5]"})");
  BOOST_TEST(run.body.at("tool_return").as_string() == "['NaN', 1.5]");
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
