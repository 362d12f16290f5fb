// JSON schemas from Python source
// (docs/reference/letta.md#schemas-from-python-source): the same output where
// Letta has one, a superset of the types.
#include "runtime/engine/schema_deriver.hpp"
#include "runtime/json/json.hpp"
#include "runtime/runner/schema_program.hpp"
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(python_schema)

namespace {

result<derived_schema> derive(const std::string& source,
                              const std::string& function = "") {
  auto p = script::build_schema_program(language::python, source, function,
                                        test_paths())
             .value();
  auto report = carry_out(p);
  BOOST_TEST(report.out == ""); // nothing was executed
  return with_parameters(script::parse_schema_answer(report.answer));
}

struct row {
  const char* annotation;
  const char* property; // without the description
  bool required = true;
};

std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.annotation;
}

const row rows[] = {
  // what worked before
  {"str", R"({"type":"string"})"},
  {"int", R"({"type":"integer"})"},
  {"float", R"({"type":"number"})"},
  {"bool", R"({"type":"boolean"})"},
  {"list", R"({"type":"array","items":{"type":"string"}})"},
  {"List[int]", R"({"type":"array","items":{"type":"integer"}})"},
  {"list[list[str]]",
   R"({"type":"array","items":{"type":"array","items":{"type":"string"}}})"},
  {"dict", R"({"type":"object"})"},
  {"Optional[int]", R"({"type":"integer"})", false},
  {"Item",
   R"({"type":"object","properties":{"name":{"type":"string",)"
   R"("description":"the name"},"count":{"type":"integer",)"
   R"("description":"how many"}},"required":["name"]})"},
  {"List[Item]",
   R"({"type":"array","items":{"type":"object","properties":{"name":)"
   R"({"type":"string","description":"the name"},"count":{"type":"integer",)"
   R"("description":"how many"}},"required":["name"]}})"},
  // what did not
  {"int | None", R"({"type":"integer"})", false},
  {"'int | None'", R"({"type":"integer"})", false},
  {"typing.Optional[typing.List[str]]",
   R"({"type":"array","items":{"type":"string"}})", false},
  // null stays where nothing else can stand for it
  {"List[Optional[int]]",
   R"({"type":"array","items":{"anyOf":[{"type":"integer"},)"
   R"({"type":"null"}]}})"},
  {"Dict[str, Union[int, str, None]]",
   R"({"type":"object","additionalProperties":{"anyOf":[{"type":"integer"},)"
   R"({"type":"string"},{"type":"null"}]}})"},
  {"Maybe",
   R"({"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},)"
   R"({"type":"null"}]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],)"
   R"("description":"b"},"c":{"anyOf":[{"type":"string"},{"type":"null"}]},)"
   R"("d":{"type":"string"},"e":{"type":"null"},"f":{}},"required":[]})"},
  {"Union[int, str]", R"({"anyOf":[{"type":"integer"},{"type":"string"}]})"},
  {"int | str | None", R"({"anyOf":[{"type":"integer"},{"type":"string"}]})",
   false},
  {"Dict[str, int]",
   R"({"type":"object","additionalProperties":{"type":"integer"}})"},
  {"dict[str, list[int]]",
   R"({"type":"object","additionalProperties":{"type":"array","items":)"
   R"({"type":"integer"}}})"},
  {"Any", "{}"},
  {"Literal['a', 'b']", R"({"type":"string","enum":["a","b"]})"}, // #2997
  {"Literal[1, 'b']", R"({"enum":[1,"b"]})"},
  {"Color", R"({"type":"string","enum":["red","blue"]})"},
  {"Literal[Color.RED]", R"({"type":"string","enum":["red"]})"},
  {"Set[int]",
   R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})"},
  {"Tuple[int, str]",
   R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],)"
   R"("minItems":2,"maxItems":2})"},
  {"tuple[int, ...]", R"({"type":"array","items":{"type":"integer"}})"},
  {"bytes", R"({"type":"string"})"},
  {"datetime.datetime", R"({"type":"string","format":"date-time"})"},
  {"Annotated[int, 'ignored beside the docstring']", R"({"type":"integer"})"},
  {"Point",
   R"({"type":"object","properties":{"x":{"type":"number"},)"
   R"("y":{"type":"number"}},"required":["x"]})"},
  {"Options",
   R"({"type":"object","properties":{"a":{"type":"integer"},)"
   R"("b":{"type":"string"}},"required":["a"]})"},
  {"Derived",
   R"({"type":"object","properties":{"name":{"type":"string",)"
   R"("description":"the name"},"count":{"type":"integer",)"
   R"("description":"how many"},"extra":{"type":"boolean"}},)"
   R"("required":["name","extra"]})"},
  {"Tree",
   R"({"type":"object","properties":{"children":{"type":"array",)"
   R"("items":{"type":"object"}}},"required":["children"]})"},
  {"Alias", R"({"anyOf":[{"type":"integer"},{"type":"string"}]})"},
  {"UserId", R"({"type":"integer"})"},
};

const char* const classes = R"(
from typing import *
import enum, dataclasses, datetime
from pydantic import BaseModel, Field
print("executed")
class Item(BaseModel):
    name: str = Field(..., description="the name")
    count: Optional[int] = Field(None, description="how many")
class Derived(Item):
    extra: bool
class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"
@dataclasses.dataclass
class Point:
    x: float
    y: float = 0
class Options(TypedDict, total=False):
    a: Required[int]
    b: str
class Tree(BaseModel):
    children: List["Tree"]
class Maybe(BaseModel):
    a: Optional[int]
    b: 'int | None' = Field(..., description="b")
    c: Optional[str] = "x"
    d: Optional[str] = Field(default=None)
    e: None
    f: Optional[Any]
Alias = Union[int, str]
UserId = NewType("UserId", int)
)";

struct refusal {
  const char* source;
  const char* reason;
};
std::ostream& operator<<(std::ostream& out, const refusal& r) {
  return out << r.reason;
}

const refusal refusals[] = {
  {"x = 1", "No functions found in source code"},
  {"class A:\n    def f(self):\n        '''doc'''", "No functions found"},
  {"def f(a: int): pass", "line 1: Function f missing docstring"},
  {"def f(a):\n    '''D.\n\n    Args:\n        a: x\n    '''",
   "line 1: Parameter 'a' in function 'f' lacks a type annotation"},
  {"\n\ndef f(a):\n    '''D.'''",
   "line 3: Parameter 'a' in function 'f' lacks a type annotation"},
  {"def f(a: Foo):\n    '''D.\n\n    Args:\n        a: x\n    '''",
   "line 1: the type 'Foo' is not known"},
  {"class K: pass\ndef f(a: K):\n    '''D.\n\n    Args:\n        a: x\n    '''",
   "line 1: class K is not a pydantic model"},
  {"def f(a: Callable[[int], str]):\n    '''D.\n\n    Args:\n        a: x\n    "
   "'''",
   "has no JSON form"},
  {"def f(:", "line 1"},
  {"", "No functions found"},
};

} // namespace

BOOST_DATA_TEST_CASE(an_annotation_becomes_a_property, rows) {
  auto made
    = derive(std::string{classes} + "def f(a: " + sample.annotation
             + "):\n    '''Do it.\n\n    Args:\n        a: what\n    '''\n");
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  auto parameters = made->schema.at("parameters").as_object();
  auto property = parameters.at("properties").at("a").as_object();
  BOOST_TEST(property.at("description").as_string() == "what");
  auto expected = json::parse(sample.property).value();
  property.erase("description");
  BOOST_TEST(json::to_text(property) == json::to_text(expected));
  BOOST_TEST((parameters.at("required").as_array().size() == 1)
             == sample.required);
}

// Each class names the one before it twice.
BOOST_AUTO_TEST_CASE(types_that_double_each_other_are_refused_at_once) {
  const auto doubled = [](int classes, const std::string& parameters) {
    std::string source = "class A0(TypedDict):\n    x: int\n";
    for (int i = 1; i < classes; ++i) {
      auto below = "A" + std::to_string(i - 1);
      source += "class A" + std::to_string(i) + "(TypedDict):\n    a: " + below
        + "\n    b: " + below + "\n";
    }
    return source + "def f(" + parameters + ": A" + std::to_string(classes - 1)
      + "):\n    '''D.'''\n";
  };
  BOOST_TEST(derive(doubled(10, "a")).has_value());
  for (auto parameters : {"a", "*, a"}) {
    auto made = derive(doubled(19, parameters));
    BOOST_REQUIRE(made.has_error());
    BOOST_TEST((made.error().code == ec::invalid_request));
    BOOST_TEST(made.error().text.find("more than 10,000 parts")
                 != std::string::npos,
               made.error().text);
  }
}

BOOST_AUTO_TEST_CASE(the_whole_document_is_the_one_that_is_known) {
  auto made = derive("def roll(sides: int, count: Optional[int] = None):\n"
                     "    \"\"\"\n    Roll dice.\n\n"
                     "    As often as wanted.\n\n    Args:\n"
                     "        sides (int): The number of sides.\n"
                     "        count: How often,\n            at most.\n\n"
                     "    Returns:\n        int: the sum\n    \"\"\"\n");
  BOOST_TEST(json::to_text(made.value().schema)
             == R"({"name":"roll","description":"Roll dice.\n\nAs often as )"
                R"(wanted.","parameters":{"type":"object","properties":)"
                R"({"sides":{"type":"integer","description":"The number of )"
                R"(sides."},"count":{"type":"integer","description":"How )"
                R"(often,\nat most."}},"required":["sides"]}})");
  BOOST_TEST(made->name == "roll");
  BOOST_TEST(made->description == "Roll dice.\n\nAs often as wanted.");
}

// Letta refuses these: a first try should not fail on a word about a number.
BOOST_AUTO_TEST_CASE(a_parameter_may_go_without_a_description) {
  auto made = derive("@cached(size=3)\n"
                     "def add(a: int, /, b: int = -1, c: list = [1, *MORE]):\n"
                     "    '''Adds.\n\n    Args:\n        b: more\n    '''\n"
                     "    def inner(x: str):\n        '''I.'''\n");
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  BOOST_TEST(
    json::to_text(made->schema)
    == R"({"name":"add","description":"Adds.","parameters":{"type":"object",)"
       R"("properties":{"a":{"type":"integer"},"b":{"type":"integer",)"
       R"("description":"more"},"c":{"type":"array","items":{"type":"string"}}},)"
       R"("required":["a"]}})");
}

BOOST_AUTO_TEST_CASE(every_style_of_docstring_is_read) {
  const char* const styles[] = {
    "D.\n\n    Args:\n        a (int): first\n            line two\n"
    "        b (str, optional): second\n    ",
    "D.\n\n    :param int a: first\n        line two\n    :param b: second\n"
    "    :returns: x\n    ",
    "D.\n\n    Parameters\n    ----------\n    a : int\n        first\n"
    "        line two\n    b : str, optional\n        second\n\n"
    "    Returns\n    -------\n    int\n        x\n    ",
    "D.\n\n    @param a: first\n        line two\n    @param b: second\n    "};
  for (const auto* style : styles) {
    auto made = derive("def f(a: int, b: str = 'x'):\n    '''"
                       + std::string{style} + "'''\n");
    BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
    auto p = made->schema.at("parameters").at("properties");
    BOOST_TEST(p.at("a").at("description").as_string() == "first\nline two");
    BOOST_TEST(p.at("b").at("description").as_string() == "second");
    BOOST_TEST(made->description == "D.");
  }
}

BOOST_AUTO_TEST_CASE(the_last_function_at_the_top_wins_unless_named) {
  const auto* source
    = "def a():\n    '''A.'''\ndef b():\n    '''B.'''\n"
      "    def inner(): pass\nclass K:\n    def c(self): pass\n";
  BOOST_TEST(derive(source).value().name == "b");
  BOOST_TEST(derive(source, "a").value().name == "a");
  auto missing = derive(source, "aa");
  BOOST_REQUIRE(missing.has_error());
  BOOST_TEST(missing.error().text.find("did you mean 'a'?")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_none_of_the_source) {
  BOOST_TEST(derive("\xef\xbb\xbf"
                    "def f():\n    '''D.'''")
               .value()
               .name
             == "f");
}

BOOST_AUTO_TEST_CASE(async_functions_count) { // C10
  BOOST_TEST(derive("async def f():\n    '''D.'''").value().name == "f");
}

BOOST_AUTO_TEST_CASE(a_default_that_is_no_literal_is_a_default) { // #3072
  auto made
    = derive("LIMIT = 5\ndef f(a: int = LIMIT, b: int = LIMIT + 1):\n"
             "    '''D.\n\n    Args:\n        a: x\n        b: y\n    '''");
  BOOST_TEST(
    made.value().schema.at("parameters").at("required").as_array().empty());
}

BOOST_AUTO_TEST_CASE(reserved_parameters_are_the_engines) {
  auto made = derive("def f(self, agent_state: 'AgentState', agent_id: str, "
                     "*args, a: int, **more):\n"
                     "    '''D.\n\n    Args:\n        a: x\n    '''");
  auto parameters = made.value().schema.at("parameters");
  BOOST_TEST(parameters.at("properties").as_object().size() == 1u);
  BOOST_TEST(parameters.at("properties").as_object().contains("a"));
}

BOOST_AUTO_TEST_CASE(
  parameters_by_keyword_are_offered_when_they_are_described) {
  auto made
    = derive("def f(a: int, *, b: int = 1, c=2, d: Unknown = 3, e: str = ''):\n"
             "    '''D.\n\n    Args:\n        a: x\n        d: y\n"
             "        e: z\n    '''");
  BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
  auto parameters = made->schema.at("parameters");
  BOOST_TEST(json::to_text(parameters.at("properties"))
             == R"({"a":{"type":"integer","description":"x"},)"
                R"("e":{"type":"string","description":"z"}})");
  BOOST_TEST(json::to_text(parameters.at("required")) == R"(["a"])");
}

BOOST_AUTO_TEST_CASE(guarded_classes_and_functions_are_seen) {
  const std::string body
    = "(a: Item):\n        '''D.\n\n        Args:\n            a: x\n"
      "        '''\n";
  const std::string item
    = "    class Item(BaseModel):\n        n: int = Field(description='how')\n";
  for (const auto& source :
       {"try:\n    import x\n" + item + "except ImportError:\n    def f" + body,
        "if True:\n" + item + "with g():\n    def f" + body,
        "def other():\n" + item
          + "for i in ():\n    pass\nelse:\n    async def f" + body}) {
    auto made = derive(source);
    BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
    BOOST_TEST(made->name == "f");
    auto a = made->schema.at("parameters").at("properties").at("a");
    BOOST_TEST(json::to_text(a.at("properties"))
               == R"({"n":{"type":"integer","description":"how"}})");
  }
}

BOOST_AUTO_TEST_CASE(examples_stay_with_the_description) {
  auto made = derive("def f():\n    '''D.\n\n    Examples:\n        f() -> 1\n"
                     "        f() -> 2\n    '''");
  BOOST_TEST(made.value().description == "D.\n\nExamples:\nf() -> 1\nf() -> 2");
}

BOOST_DATA_TEST_CASE(a_refusal_says_where_and_why, refusals) {
  auto made = derive(sample.source);
  BOOST_REQUIRE(made.has_error());
  BOOST_TEST((made.error().code == ec::invalid_request));
  BOOST_TEST_CONTEXT(made.error().text)
  BOOST_TEST(made.error().text.find(sample.reason) != std::string::npos);
}

// Whoever describes the parameters still wants to know what the function does.
BOOST_AUTO_TEST_CASE(a_description_is_read_beside_unclear_parameters) {
  auto p
    = script::build_schema_program(
        language::python, "def f(data, *, n: Odd):\n    \"\"\"Does it.\"\"\"\n",
        "", test_paths())
        .value();
  auto made = script::parse_schema_answer(carry_out(p).answer);
  BOOST_TEST_REQUIRE(made.has_value());
  BOOST_TEST(made->name == "f");
  BOOST_TEST(made->description == "Does it.");
  BOOST_TEST(made->unclear.find("'data'") != std::string::npos);
  BOOST_TEST(made->schema.empty());
  BOOST_TEST(with_parameters(std::move(made)).has_error());
}

BOOST_AUTO_TEST_CASE(a_missing_answer_is_not_the_sources_fault) {
  BOOST_TEST((script::parse_schema_answer("").error().code == ec::unavailable));
  BOOST_TEST(
    (script::parse_schema_answer("junk").error().code == ec::unavailable));
}

BOOST_AUTO_TEST_SUITE_END()
