// Classes that an args_json_schema makes
// (docs/reference/letta.md#models-of-arguments), with pydantic 1, with pydantic
// 2 and without: each says the same of the same arguments.
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(python_models)

namespace {

struct row {
  const char* name;
  const char* properties;
  const char* definitions;
  const char* source;
  const char* args;
  const char* json;
};

std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.name;
}

constexpr const char* whole = "def f(**k): return repr(list(k.values()))";
constexpr const char* task
  = R"("Task":{"type":"object","title":"Task","properties":{"title":
    {"type":"string"},"n":{"type":"integer","default":1},
    "m":{"type":"integer"}},"required":["title"]})";
constexpr const char* tasks = R"("task":{"$ref":"#/$defs/Task"},
     "tasks":{"type":"array","items":{"$ref":"#/$defs/Task"}})";
constexpr const char* two_tasks
  = R"({"task":{"title":"a"},"tasks":[{"title":"b","n":2}]})";

const row rows[] = {
  {"a number is not cut to the integer that comes first",
   R"("a":{"anyOf":[{"type":"integer"},{"type":"number"}]})", "", whole,
   R"({"a":1.5})", R"("[1.5]")"},
  {"an integer is no boolean",
   R"("a":{"anyOf":[{"type":"boolean"},{"type":"integer"}]})", "", whole,
   R"({"a":1})", R"("[1]")"},
  {"text stays text beside integers",
   R"("a":{"anyOf":[{"type":"integer"},{"type":"string"}]},
      "b":{"type":["integer","string"]})",
   "", whole, R"({"a":"5","b":"5"})", R"("['5', '5']")"},
  {"each item keeps its own kind",
   R"("a":{"type":"array","items":{"anyOf":[{"type":"integer"},
      {"type":"string"},{"type":"number"},{"type":"boolean"}]}})",
   "", whole, R"({"a":[1.5,"x",true,3]})", R"("[[1.5, 'x', True, 3]]")"},
  {"a list of numbers is none of integers",
   R"("a":{"anyOf":[{"type":"array","items":{"type":"integer"}},
      {"type":"array","items":{"type":"number"}}]},
      "b":{"anyOf":[{"type":"object","additionalProperties":
      {"type":"integer"}},{"type":"object","additionalProperties":
      {"type":"number"}}]})",
   "", whole, R"({"a":[1.5],"b":{"x":1.5}})", R"("[[1.5], {'x': 1.5}]")"},
  {"the sources class of the same name is the one that is wanted", tasks, task,
   R"(
try:
    from pydantic import BaseModel
    class Task(BaseModel):
        title: str
        n: int = 1
        m: int = 7
except ImportError:
    @__import__('dataclasses').dataclass
    class Task:
        title: str
        n: int = 1
        m: int = 7
def f(task: Task, tasks: List[Task]):
    return [type(task) is Task, type(tasks[0]) is Task, task, tasks])",
   two_tasks,
   R"([true,true,{"title":"a","n":1,"m":7},[{"title":"b","n":2,"m":7}]])"},
  {"so are a dataclass and a typed dict", tasks, task,
   "import dataclasses\n@dataclasses.dataclass\nclass D:\n    title: str\n"
   "    n: int = 3\nclass T(TypedDict):\n    title: str\n"
   "def f(task: D, tasks: List[T]): return repr([task, tasks])",
   two_tasks, R"~("[D(title='a', n=3), [{'title': 'b', 'n': 2}]]")~"},
  {"a dictionary that is wanted is one", tasks, task,
   "def f(task: dict, tasks: List[Dict[str, Any]]): return repr([task, tasks])",
   two_tasks, R"("[{'title': 'a'}, [{'title': 'b', 'n': 2}]]")"},
  {"what does not fit the sources class comes as the schemas", tasks, task,
   "import dataclasses\n@dataclasses.dataclass\nclass D:\n    other: str\n"
   "def f(task: D, tasks): return [type(task).__name__, task.title]",
   two_tasks, R"(["Task","a"])"},
  {"a reference in an allOf of its own",
   R"("t":{"title":"T","allOf":[{"$ref":"#/$defs/Task"}]})", task,
   "def f(t): return [type(t).__name__, t.title]", R"({"t":{"title":"x"}})",
   R"(["Task","x"])"},
  {"a class inside of itself", R"("t":{"$ref":"#/$defs/N"})",
   R"("N":{"title":"N","type":"object","properties":{"v":{"type":"integer"},
      "kids":{"type":"array","items":{"$ref":"#/$defs/N"}}}})",
   "def f(t): return [type(t.kids[0].kids[0]).__name__, t.kids[0].kids[0].v]",
   R"({"t":{"v":1,"kids":[{"v":2,"kids":[{"v":3}]}]}})", R"(["N",3])"},
  {"a class in a mapping of itself", R"("t":{"$ref":"#/$defs/N"})",
   R"("N":{"title":"N","type":"object","properties":{"kids":{"type":"object",
      "additionalProperties":{"$ref":"#/$defs/N"}}}})",
   "def f(t): return type(t.kids['a']).__name__", R"({"t":{"kids":{"a":{}}}})",
   R"("N")"},
  {"classes inside of each other", R"("a":{"$ref":"#/$defs/A"})",
   R"("A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},
      "B":{"type":"object","properties":{"c":{"$ref":"#/$defs/x-C"}}},
      "x-C":{"type":"object","properties":{"a":{"type":"array",
      "items":{"$ref":"#/$defs/A"}}}})",
   "def f(a):\n    last = a.b.c.a[0]\n"
   "    return [type(x).__name__ for x in (a.b, a.b.c, last, last.b)]",
   R"({"a":{"b":{"c":{"a":[{"b":{}}]}}}})", R"(["B","x-C","A","B"])"},
  {"a type inside of itself", R"("a":{"$ref":"#/$defs/J"})",
   R"("J":{"anyOf":[{"type":"string"},{"type":"array",
      "items":{"$ref":"#/$defs/J"}}]})",
   "def f(a): return a", R"({"a":["x",["y"]]})", R"(["x",["y"]])"},
  {"a name that begins with a line", R"("_p":{"type":"integer"})", "",
   "def f(_p): return _p", R"({"_p":4})", "4"},
  {"members that pydantic has names for", R"("c":{"$ref":"#/$defs/C"})",
   R"("C":{"type":"object","properties":{"_p":{"type":"integer"},
      "json":{"type":"integer"},"model_config":{"type":"integer"},
      "q":{"type":"integer"}}})",
   "def f(c): return [c._p, c.q, c]",
   R"({"c":{"_p":1,"json":2,"model_config":3,"q":4}})",
   R"([1,4,{"_p":1,"json":2,"model_config":3,"q":4}])"},
  {"a schema of nothing", "", "", "def f(): return 1", "{}", "1"},
};

} // namespace

BOOST_DATA_TEST_CASE(arguments_are_what_their_schema_says, rows) {
  auto run = a_run(language::python, sample.source, sample.args);
  run.args_json_schema = std::string{R"({"type":"object","properties":{)"}
    + sample.properties + R"(},"$defs":{)" + sample.definitions + "}}";
  for (const auto& python : pythons())
    BOOST_TEST_CONTEXT(python) {
      run.interpreter = python;
      auto seen = run_plainly(run);
      BOOST_TEST(seen.failure.friendly == "");
      BOOST_TEST(seen.value_json == sample.json);
    }
}

BOOST_AUTO_TEST_CASE(annotations_as_text_need_no_import_of_typing) {
  for (const auto* written :
       {"    x: 'Optional[int]' = None\n    y: 'List[int]' = ()\n",
        "    x: Optional[int] = None\n    y: List[int] = ()\n"})
    for (const auto* how : {"", "from __future__ import annotations\n"}) {
      auto run
        = a_run(language::python,
                std::string{how}
                  + "import dataclasses\ntry:\n"
                    "    from pydantic import BaseModel\n"
                    "except ImportError:\n"
                    "    BaseModel = None\n"
                    "base = BaseModel or object\n"
                    "class A(base):\n"
                  + written
                  + "if base is object:\n    A = dataclasses.dataclass(A)\n"
                    "@dataclasses.dataclass\nclass B:\n"
                  + written + "def f(a: A, b: 'B'): return [a, b]",
                R"({"a":{"x":"1","y":["2"]},"b":{"x":"1","y":["2"]}})");
      for (const auto& python : pythons())
        BOOST_TEST_CONTEXT(python << "\n" << run.source) {
          run.interpreter = python;
          auto seen = run_plainly(run);
          BOOST_TEST(seen.failure.friendly == "");
          BOOST_TEST(seen.value_json == R"([{"x":1,"y":[2]},{"x":1,"y":[2]}])");
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
