// What a Python tool returns, and what arrives
// (docs/reference/letta.md#python-tools).
#include "runtime/model/value_notes.hpp"
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(python_values)

namespace {

struct row {
  const char* name;
  const char* expression;
  const char* json;
  bool fallback = false;
};

std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.name;
}

const row rows[] = {
  {"none", "None", "null"},
  {"true", "True", "true"},
  {"integer", "-7", "-7"},
  {"integer beyond 64 bits", "2**70", "1180591620717411303424"},
  {"float", "1.5", "1.5"},
  {"float of an integer", "3.0", "3.0"},
  {"nan is text, for JSON has none", "float('nan')", R"("NaN")"},
  {"infinities", "[float('inf'), float('-inf')]",
   R"(["Infinity","-Infinity"])"},
  {"text", "'it\\'s \"fine\"\\n\\\\ \\u00e9 \\U0001f600'",
   "\"it's \\\"fine\\\"\\n\\\\ \xc3\xa9 \xf0\x9f\x98\x80\""},
  {"nul character", "'a\\0b'", R"("a\u0000b")"},
  {"lone surrogate", "'x\\ud800y'", "\"x\xef\xbf\xbdy\""},
  {"list", "[1, 'a', None, [True]]", R"([1,"a",null,[true]])"},
  {"tuple", "(1, 2)", "[1,2]"},
  {"dict", "{'a': {'b': []}}", R"({"a":{"b":[]}})"},
  {"keys become text", "{1: 1, 1.5: 2, True: 3, None: 4}",
   R"({"1":3,"1.5":2,"null":4})"},
  {"tuple keys", "{(1, 2): 'x'}", R"~({"(1, 2)":"x"})~", true},
  {"keys that collide: the later one, flagged", "{1: 'a', '1': 'b'}",
   R"({"1":"b"})", true},
  {"set", "{3, 1, 2}", "[1,2,3]"},
  {"frozenset of what does not sort", "len(f'{frozenset([1, None])}') > 0",
   "true"},
  {"bytes of text", "b'ab'", R"("YWI=")"},
  {"bytes of no text", "b'\\xff\\xfe'", R"("//4=")"},
  {"range", "range(3)", "[0,1,2]"},
  {"generator", "(i * i for i in range(4))", "[0,1,4,9]"},
  {"dict view", "{'a': 1}.keys()", R"(["a"])"},
  {"deque", "__import__('collections').deque([1, 2])", "[1,2]"},
  {"counter", "__import__('collections').Counter('aab')", R"({"a":2,"b":1})"},
  {"datetime", "__import__('datetime').datetime(2024, 1, 2, 3, 4, 5)",
   R"("2024-01-02T03:04:05")"},
  {"date", "__import__('datetime').date(2024, 1, 2)", R"("2024-01-02")"},
  {"timedelta in seconds", "__import__('datetime').timedelta(minutes=1.5)",
   "90.0"},
  {"decimal keeps its digits", "__import__('decimal').Decimal('1.10')",
   R"("1.10")"},
  {"uuid", "__import__('uuid').UUID(int=1)",
   R"("00000000-0000-0000-0000-000000000001")"},
  {"path", "__import__('pathlib').Path('/a/b')", R"("/a/b")"},
  {"complex", "1+2j", R"~("(1+2j)")~"},
  {"fraction", "__import__('fractions').Fraction(1, 3)", R"("1/3")"},
  {"ip address", "__import__('ipaddress').ip_address('::1')", R"("::1")"},
  {"enum", "Color.RED", R"("red")"},
  {"integer enum", "Level.HIGH", "3"},
  {"enum as key and inside", "{Color.RED: [Color.RED]}", R"({"red":["red"]})"},
  {"dataclass", "Point(1, [Point(2, None)])",
   R"({"x":1,"y":[{"x":2,"y":null}]})"},
  {"namedtuple", "Pair(1, 'b')", R"([1,"b"])"},
  {"subclasses of scalars", "[Text('t'), Number(4)]", R"(["t",4])"},
  {"what dumps itself as pydantic 2 does", "Model()", R"({"a":[1]})"},
  {"own class: its text, flagged", "Plain()", R"("plain!")", true},
  {"class whose text fails", "Broken()", R"("<Broken without a text form>")",
   true},
  {"a dict with attributes is a dict", "[Loose(a=1), Strict(a=1)]",
   R"([{"a":1},{"a":1}])"},
  {"what raises at any question is its text", "[Rude(), {1: Rude()}]",
   R"(["rude!",{"1":"rude!"}])", true},
  {"so is what fails to tell its members", "Shy()", R"("shy!")", true},
  {"function", "len", R"("<built-in function len>")", true},
  {"mapping of another kind", "__import__('types').MappingProxyType({'a': 1})",
   R"({"a":1})"},
};

const char* const definitions = R"(
import enum, dataclasses, typing
class Color(enum.Enum):
    RED = "red"
class Level(enum.IntEnum):
    HIGH = 3
@dataclasses.dataclass
class Point:
    x: int
    y: object
class Pair(typing.NamedTuple):
    a: int
    b: str
class Text(str):
    pass
class Number(int):
    pass
class Model:
    def model_dump(self, mode="python"): return {"a": [1]}
class Plain:
    def __str__(self): return "plain!"
class Loose(dict):
    __getattr__ = dict.get
class Strict(dict):
    __getattr__ = dict.__getitem__
class Rude:
    def __getattribute__(self, name): raise RuntimeError(name)
    def __str__(self): return "rude!"
class Shy:
    def to_dict(self): raise KeyError
    def __str__(self): return "shy!"
class Broken:
    def __str__(self): raise RuntimeError
def f():
    return )";

} // namespace

BOOST_DATA_TEST_CASE(a_value_arrives_as_json, rows) {
  auto seen = run_plainly(
    a_run(language::python, std::string{definitions} + sample.expression));
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.value_json == sample.json);
  BOOST_TEST(seen.value_is_text_fallback == sample.fallback);
}

// A text of that spelling is a text.
BOOST_AUTO_TEST_CASE(numbers_that_are_none_in_json_are_told) {
  auto noted = [](const std::string& expression) {
    auto seen = run_plainly(a_run(
      language::python, "import math\ndef f(): return " + expression + "\n"));
    BOOST_TEST(seen.failure.friendly == "");
    return std::ranges::count(seen.notes, odd_numbers_note);
  };
  for (auto odd :
       {"math.nan", "[1, {'a': -math.inf}]", "type('F', (float,), {})('inf')"})
    BOOST_TEST(noted(odd) == 1, odd);
  for (auto even : {"'NaN'", "1.5", "['Infinity']"})
    BOOST_TEST(noted(even) == 0, even);
}

BOOST_AUTO_TEST_CASE(an_object_that_has_every_attribute_is_no_awaitable) {
  for (const auto* how :
       {"class D(dict):\n __getattr__ = dict.get\ndef f(): return D(a=1)",
        "class D(dict):\n __getattr__ = dict.__getitem__\n"
        "def f(): return D(a=1)",
        "class D(dict):\n def __getattr__(self, name): return lambda *_: 1\n"
        "async def f(): return D(a=1)"})
    BOOST_TEST(run_plainly(a_run(language::python, how)).value_json
               == R"({"a":1})");
}

BOOST_AUTO_TEST_CASE(integers_of_any_size_leave_the_limit_on_digits_alone) {
  const auto big = "1" + std::string(4999, '0');
  auto run = a_run(language::python,
                   "def f(a):\n"
                   " limit = getattr(sys, 'get_int_max_str_digits', lambda: "
                   "4300)\n"
                   " return [limit(), a, {a: -a}, limit()]",
                   "{\"a\":" + big + "}");
  auto seen = run_plainly(run);
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST((seen.value_json
              == "[4300," + big + ",{\"" + big + "\":-" + big + "},4300]"));
}

BOOST_AUTO_TEST_CASE(a_list_inside_of_itself_is_told_by_its_text) {
  auto seen = run_plainly(
    a_run(language::python, "a = [1]\na.append(a)\ndef f(): return a"));
  BOOST_TEST(seen.value_json == R"([1,"[1, [...]]"])");
  BOOST_TEST(seen.value_is_text_fallback);
}

BOOST_AUTO_TEST_CASE(nesting_ends_where_the_engine_stops_reading) {
  auto seen
    = run_plainly(a_run(language::python,
                        "def f():\n x = 1\n for i in range(5000): x = [x]\n"
                        " return x"));
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.value_is_text_fallback);
  BOOST_TEST(seen.value_json.starts_with(std::string(60, '[') + "\""));
}

BOOST_AUTO_TEST_CASE(a_small_object_that_unfolds_without_end_is_refused) {
  auto seen = run_plainly(
    a_run(language::python,
          "def f():\n x = []\n for i in range(50): x = [x, x]\n return x"));
  BOOST_TEST(seen.failure.name == "ResultTooLarge");
}

BOOST_AUTO_TEST_CASE(an_endless_generator_is_refused) {
  auto seen = run_plainly(a_run(
    language::python, "import itertools\ndef f(): return itertools.count()"));
  BOOST_TEST(seen.failure.name == "ResultTooLarge");
}

BOOST_AUTO_TEST_CASE(pydantic_models_become_objects) {
  auto seen = run_plainly(a_run(language::python, R"(
try:
    import pydantic
except ImportError:
    pydantic = None
def f():
    if pydantic is None:
        return {"a": 1, "inner": [{"b": "x"}]}
    class Inner(pydantic.BaseModel):
        b: str
    class Outer(pydantic.BaseModel):
        a: int
        inner: List[Inner]
    return Outer(a=1, inner=[Inner(b="x")])
)"));
  BOOST_TEST(seen.value_json == R"({"a":1,"inner":[{"b":"x"}]})");
  BOOST_TEST(!seen.value_is_text_fallback);
}

BOOST_AUTO_TEST_SUITE_END()
