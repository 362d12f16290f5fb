// What a program stores in its engine: tools, variables, sandbox configs.
#include "include/troupe/engine.hpp"
#include "tests/app/ask.hpp"

#include <optional>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(stored_items)

namespace {

constexpr auto schema = R"({"name": "add", "description": "Adds.",
  "parameters": {"type": "object", "properties": {"a": {"type": "integer"}},
                 "required": ["a"]}})";

/// An engine that answers each run itself and keeps what it was handed.
struct program {
  temporary_folder own;
  std::optional<api::message> last;
  std::unique_ptr<api::engine> engine;

  explicit program(const std::string& directory = {}) {
    api::embedded_options o;
    o.may_be_dumped = true;
    o.data_directory
      = directory.empty() ? (own.path / "data").string() : directory;
    o.backend
      = [this](const api::message& m, std::function<void(api::answer)> done) {
          last = m;
          api::answer a;
          a.succeeded = true;
          a.reason = "exited";
          a.value = m.arguments;
          done(std::move(a));
        };
    auto opened = api::open_embedded(std::move(o));
    auto* refused = std::get_if<api::failure>(&opened);
    BOOST_REQUIRE_MESSAGE(!refused, (refused ? refused->text : ""));
    engine = std::move(std::get<0>(opened));
  }

  api::reply run(const std::string& tool,
                 std::string arguments = R"({"a":1})") {
    api::message m;
    m.tool = tool;
    m.arguments = std::move(arguments);
    return engine->submit(std::move(m)).get();
  }
};

api::tool adder() {
  api::tool t;
  t.source = "def add(a: int) -> int:\n  return a + 1\n";
  t.schema = schema;
  t.pip = {"six>=1"};
  return t;
}

std::string id_of(std::future<api::stored> answer) {
  auto got = answer.get();
  auto* failed = std::get_if<api::failure>(&got);
  BOOST_REQUIRE_MESSAGE(!failed, (failed ? failed->text : ""));
  return std::get<std::string>(got);
}

std::string code_of(std::future<api::stored> answer) {
  auto got = answer.get();
  auto* failed = std::get_if<api::failure>(&got);
  return failed ? failed->code : "";
}

} // namespace

BOOST_AUTO_TEST_CASE(run_a_tool_by_its_name_with_its_schema_and_packages) {
  program p;
  BOOST_TEST(id_of(p.engine->put_tool(adder())).starts_with("tool-"));
  auto fine = p.run("add");
  BOOST_REQUIRE(fine.index() == 0u);
  BOOST_TEST(p.last->source.find("def add") == 0u);
  BOOST_TEST((p.last->pip == std::vector<std::string>{"six>=1"}));
  auto wrong = p.run("add", R"({"a": "x"})");
  BOOST_REQUIRE(wrong.index() == 1u);
  BOOST_TEST(std::get<1>(wrong).code == "invalid_request");
  id_of(p.engine->delete_tool("add"));
  BOOST_TEST(std::get<api::failure>(p.run("add")).code == "not_found");
  BOOST_TEST(code_of(p.engine->delete_tool("add")) == "not_found");
}

BOOST_AUTO_TEST_CASE(give_variables_to_runs_until_they_are_deleted) {
  program p;
  id_of(p.engine->put_tool(adder()));
  id_of(p.engine->set_variable("GREETING", "hello"));
  p.run("add");
  BOOST_TEST(p.last->variables["GREETING"] == "hello");
  id_of(p.engine->delete_variable("GREETING"));
  p.run("add");
  BOOST_TEST(p.last->variables.contains("GREETING") == false);
  BOOST_TEST(code_of(p.engine->delete_variable("GREETING")) == "not_found");
}

BOOST_AUTO_TEST_CASE(hold_runs_to_a_config) {
  program p;
  id_of(p.engine->put_tool(adder()));
  id_of(p.engine->put_config(
    "local", R"({"limits": {"wall_seconds": 3}, "pip_requirements": []})"));
  p.run("add");
  BOOST_TEST(p.last->limits.wall.count() <= 3'000);
}

BOOST_AUTO_TEST_CASE(refuse_what_http_would_refuse) {
  program p;
  auto no_source = adder();
  no_source.source.clear();
  auto no_schema = adder();
  no_schema.schema = "[";
  BOOST_TEST(code_of(p.engine->put_tool(no_source)) == "invalid_request");
  BOOST_TEST(code_of(p.engine->put_tool(no_schema)) == "invalid_request");
  BOOST_TEST(code_of(p.engine->set_variable("LD_PRELOAD", "x"))
             == "invalid_request");
  BOOST_TEST(code_of(p.engine->set_variable("A", "x", "nowhere"))
             == "invalid_request");
  BOOST_TEST(code_of(p.engine->put_config("local", R"({"wall": 3})"))
             == "invalid_request");
}

BOOST_AUTO_TEST_CASE(are_there_again_in_the_same_directory) {
  temporary_folder folder;
  const auto data = (folder.path / "data").string();
  {
    program p{data};
    id_of(p.engine->put_tool(adder()));
    id_of(p.engine->set_variable("GREETING", "hello"));
  }
  program p{data};
  BOOST_TEST(p.run("add").index() == 0u);
  BOOST_TEST(p.last->variables["GREETING"] == "hello");
}

BOOST_AUTO_TEST_SUITE_END()
