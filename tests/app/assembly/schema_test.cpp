// Schemas that the serving engine derives with its own local backend: the
// vectors of Letta (docs/reference/letta.md), through HTTP.
#include "tests/app/serving.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(schemas)

namespace {

struct vector_row {
  const char* annotation;
  const char* property; // without the description
  bool required;
};

constexpr vector_row vectors[] = {
  // what worked there
  {"str", R"({"type":"string"})", true},
  {"float", R"({"type":"number"})", true},
  {"list", R"({"type":"array","items":{"type":"string"}})", true},
  {"List[int]", R"({"type":"array","items":{"type":"integer"}})", true},
  {"dict", R"({"type":"object"})", true},
  {"Item",
   R"({"type":"object","properties":{"name":{"type":"string",)"
   R"("description":"the name"}},"required":["name"]})",
   true},
  // what failed there
  {"Union[int, str]", R"({"anyOf":[{"type":"integer"},{"type":"string"}]})",
   true},
  {"Dict[str, int]",
   R"({"type":"object","additionalProperties":{"type":"integer"}})", true},
  {"Literal['a', 'b']", R"({"type":"string","enum":["a","b"]})", true},
  {"Color", R"({"type":"string","enum":["red"]})", true},
  {"Options",
   R"({"type":"object","properties":{"a":{"type":"integer"}},)"
   R"("required":["a"]})",
   true},
  {"Point",
   R"({"type":"object","properties":{"x":{"type":"number"}},)"
   R"("required":["x"]})",
   true},
  {"Optional[int]", R"({"type":"integer"})", false},
  {"int | None", R"({"type":"integer"})", false},
};

constexpr auto classes = R"(
from typing import *
import enum, dataclasses
from pydantic import BaseModel, Field
while True: pass
class Item(BaseModel):
    name: str = Field(..., description="the name")
class Color(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Point:
    x: float
class Options(TypedDict):
    a: int
)";

/// All vectors in one function, whose module would never end.
std::string source_of_all() {
  std::string parameters, told;
  int n = 0;
  for (const auto& row : vectors) {
    auto name = "p" + std::to_string(n++);
    parameters += (n > 1 ? ", " : "") + name + ": " + row.annotation;
    told += "        " + name + ": about " + name + "\n";
  }
  return std::string{classes} + "async def many(" + parameters
    + "):\n    \"\"\"Takes many.\n\n    Args:\n" + told + "    \"\"\"\n";
}

std::string quoted(const std::string& text) {
  return json::to_text(json::value(text));
}

std::string question(const std::string& source, const std::string& more = {}) {
  return "{\"source_code\":" + quoted(source) + more + "}";
}

void check(const json::object& schema) {
  const auto& parameters = schema.at("parameters").as_object();
  const auto& properties = parameters.at("properties").as_object();
  const auto& needed = parameters.at("required").as_array();
  int n = 0;
  for (const auto& row : vectors) {
    auto name = "p" + std::to_string(n++);
    BOOST_TEST_CONTEXT(row.annotation) {
      auto property = properties.at(name).as_object();
      BOOST_TEST(property.at("description").as_string() == "about " + name);
      property.erase("description");
      auto expected = json::parse(row.property).value();
      BOOST_TEST(json::to_text(property) == json::to_text(expected));
      bool found = false;
      for (const auto& one : needed)
        found = found || one.as_string() == name;
      BOOST_TEST(found == row.required);
    }
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(are_derived_by_the_serving_engine) {
  temporary_folder folder;
  serving engine{folder};
  auto at = engine.address();

  auto derived
    = talk(at, "POST /v1/tools/derive-schema", question(source_of_all()));
  BOOST_TEST_REQUIRE(derived.status == 200, json::to_text(derived.body));
  BOOST_TEST(derived.body.at("name").as_string() == "many");
  BOOST_TEST(derived.body.at("description").as_string() == "Takes many.");
  check(derived.body.at("schema").as_object());

  auto letta = talk(at, "POST /compat/letta/v1/tools/generate-schema",
                    "{\"code\":" + quoted(source_of_all()) + "}");
  BOOST_TEST_REQUIRE(letta.status == 200, json::to_text(letta.body));
  check(letta.body.as_object());

  auto tool = talk(at, "POST /v1/tools", question(source_of_all()));
  BOOST_TEST_REQUIRE(tool.status == 201, json::to_text(tool.body));
  BOOST_TEST(tool.body.at("name").as_string() == "many");
  check(tool.body.at("json_schema").as_object());

  auto wrong = talk(at, "POST /v1/tools/derive-schema",
                    question("\n\ndef f(a: int): pass"));
  BOOST_TEST(wrong.status == 422, json::to_text(wrong.body));
  BOOST_TEST(json::to_text(wrong.body).find("line 3") != std::string::npos,
             json::to_text(wrong.body));
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(follow_a_new_source_where_one_can_be_derived) {
  temporary_folder folder;
  serving engine{folder};
  auto at = engine.address();
  auto python = [](const std::string& parameter) {
    return question("def f(" + parameter
                    + ": int):\n    '''D.\n\n    Args:\n        " + parameter
                    + ": x\n    '''\n");
  };
  auto typed = [](const std::string& parameter, const std::string& more = {}) {
    return question("export function g(" + parameter + ": number) {}", more);
  };
  auto has = [&](const reply& r, const char* parameter) {
    BOOST_TEST_REQUIRE(r.status < 300, json::to_text(r.body));
    return r.body.at("json_schema")
      .at("parameters")
      .at("properties")
      .as_object()
      .contains(parameter);
  };
  auto id_of
    = [](const reply& r) { return std::string{r.body.at("id").as_string()}; };
  auto f = talk(at, "POST /v1/tools", python("a"));
  BOOST_TEST(has(f, "a"));
  auto g
    = talk(at, "POST /v1/tools", typed("a", R"(,"source_type":"typescript")"));
  BOOST_TEST(has(g, "a"));
  char next = 'b';
  for (const std::string door :
       {"PATCH /v1/tools/", "PATCH /compat/letta/v1/tools/"}) {
    const std::string name(1, next++);
    BOOST_TEST(has(talk(at, door + id_of(f), python(name)), name.c_str()),
               door);
    BOOST_TEST(has(talk(at, door + id_of(g), typed(name)), name.c_str()), door);
  }
  // It does not parse: the function is there, its schema stays.
  auto kept = talk(at, "PATCH /compat/letta/v1/tools/" + id_of(f),
                   question("def f(z: Unknown): pass"));
  BOOST_TEST(has(kept, "c"));
}

BOOST_AUTO_TEST_CASE(of_typescript_come_from_its_types_and_comments) {
  temporary_folder folder;
  serving engine{folder};
  auto at = engine.address();
  auto made = talk(at, "POST /v1/tools",
                   question("/** Adds.\n * @param a the first */\n"
                            "export function sum(a: number, b?: number) {\n"
                            "  return a + (b ?? 0) }\n",
                            R"(,"source_type":"typescript")"));
  BOOST_TEST_REQUIRE(made.status == 201, json::to_text(made.body));
  BOOST_TEST(
    json::to_text(made.body.at("json_schema").at("parameters"))
    == R"({"type":"object","properties":{"a":{"type":"number","description":)"
       R"("the first"},"b":{"type":"number"}},"required":["a"]})");
}

BOOST_AUTO_TEST_SUITE_END()
