// How a Python tool is found, called and heard
// (docs/reference/letta.md#python-tools; the codes C.. and S.. are Letta's
// weaknesses in docs/reference/rules.md).
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(python_tools)

namespace {

struct row {
  const char* name;
  const char* source;
  const char* args;
  const char* json;
  const char* failure = ""; // the friendly message begins so
};

std::ostream& operator<<(std::ostream& out, const row& r) {
  return out << r.name;
}

// -- how functions are found and called --------------------------------------

const row calls[] = {
  {"plain function", "def f(a, b):\n    return a + b", R"({"a":1,"b":2})", "3"},
  {"async function",
   "import asyncio\nasync def f(a):\n    await asyncio.sleep(0)\n    return a",
   R"({"a":1})", "1"},
  {"a plain function that returns a coroutine",
   "async def g(): return 4\ndef f(): return g()", "{}", "4"},
  {"async generator", "async def f():\n    yield 1\n    yield 2", "{}",
   "[1,2]"},
  {"C10 a method called like the tool is not the tool",
   "def f(): return 'right'\nclass K:\n    async def f(self): return 'wrong'",
   "{}", R"("right")"},
  {"C10 a nested function called like the tool is not the tool",
   "def g():\n    def f(): return 'wrong'\n    return f\n"
   "def f(): return 'right'",
   "{}", R"("right")"},
  {"C10 argument names that shadow modules",
   "def f(sys, os, json, struct, hashlib, client, typing):\n"
   "    return [sys, os, json, struct, hashlib, client, typing]",
   R"({"sys":1,"os":2,"json":3,"struct":4,"hashlib":5,"client":6,"typing":7})",
   "[1,2,3,4,5,6,7]"},
  {"C10 future imports",
   "from __future__ import annotations\n"
   "def f(a: int | None = None, b: list[str] = []):\n"
   "    return [a, b]",
   R"({"b":["x"]})", R"([null,["x"]])"},
  {"C10 null for an optional parameter takes its default",
   "def f(a: int = 5, b: str = 'x', c: Optional[int] = 7): return [a, b, c]",
   R"({"a":null,"b":null,"c":null})", R"([5,"x",null])"},
  {"C10 union types", "def f(a: Union[int, str, None]): return a",
   R"({"a":"7"})", R"("7")"},
  {"the main guard is not for calls",
   "x = 0\nif __name__ == '__main__':\n"
   "    x = 1\ndef f(): return x",
   "{}", "0"},
  {"keyword-only, positional-only and defaults",
   "def f(a, /, b, *, c=3): return [a, b, c]", R"({"c":9,"b":2,"a":1})",
   "[1,2,9]"},
  {"rest parameters", "def f(a, *args, **more): return [a, list(args), more]",
   R"({"a":1,"args":[2,3],"z":4})", R"([1,[2,3],{"z":4}])"},
  {"a decorated function",
   "import functools\ndef d(g):\n"
   "    @functools.wraps(g)\n"
   "    def inner(*a, **k): return ['d', g(*a, **k)]\n"
   "    return inner\n@d\ndef f(a: int): return a",
   R"({"a":"1"})", R"(["d",1])"},
  {"names of typing without an import",
   "def f(a: List[int], b: Optional[Dict[str, Any]] = None) -> Tuple[int]:\n"
   "    return a",
   R"({"a":[1]})", "[1]"},
  {"modules that scripts used without importing them",
   "def f(): return [os.sep, sys.maxsize > 0, len(base64.b64encode(b'a'))]",
   "{}", R"(["/",true,4])"},
  {"pickle and asyncio were among them",
   "async def f():\n    await asyncio.sleep(0)\n"
   "    return pickle.loads(pickle.dumps(3))",
   "{}", "3"},
  {"the name of a package is enough for its parts",
   "import urllib, concurrent, http, email\ndef f():\n"
   "    with concurrent.futures.ThreadPoolExecutor(1) as pool:\n"
   "        return [pool.submit(int, '3').result(), urllib.parse.quote('a "
   "b'),\n"
   "                urllib.request.Request('http://x/').host,\n"
   "                http.client.OK, email.utils.quote('a')]",
   "{}", R"([3,"a%20b","x",200,"a"])"},
  {"a source may begin with a byte order mark",
   "\xef\xbb\xbf"
   "def f(): return 1",
   "{}", "1"},
  {"what was annotated as text can be asked for",
   "import typing as t\ndef f(a: 'Optional[int]' = None):\n"
   "    return t.get_type_hints(f)['a'] == t.Optional[int]",
   "{}", "true"},
  {"its own classes can be pickled and found by name",
   "import pickle, dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n"
   "def f(): return pickle.loads(pickle.dumps(P(3)))",
   "{}", R"({"x":3})"},
  {"the client is defined and None without a key",
   "def f(): return [client is None, Letta is None or True]", "{}",
   "[true,true]"},
  {"its source can be inspected",
   "import inspect\ndef f():\n"
   "    return inspect.getsource(f)[:7]",
   "{}", R"~("def f()")~"},
  {"the working directory can be imported from",
   "import sys, os\ndef f(): return sys.path[0] == os.getcwd()", "{}", "true"},
};

// -- arguments ---------------------------------------------------------------

const row arguments[] = {
  {"C1 text that looks like a number", "def f(a: str): return a",
   R"({"a":"1e5"})", R"("1e5")"},
  {"C1 text that looks like a literal", "def f(a: str): return a",
   R"({"a":"true"})", R"("true")"},
  {"C1 text that looks like JSON", "def f(a: str): return a",
   R"({"a":"{\"a\": 1}"})", R"("{\"a\": 1}")"},
  {"C1 text in quotes", "def f(a: str): return a", R"({"a":"\"quoted\""})",
   R"("\"quoted\"")"},
  {"C1 text of a tuple", "def f(a: str): return a", R"~({"a":"(1,2)"})~",
   R"~("(1,2)")~"},
  {"C2 one argument that does not fit leaves the others alone",
   "def f(a: int, b: 'NoSuchName', c: float): return [a, b, c]",
   R"({"a":"5","b":"x","c":2})", R"([5,"x",2.0])"},
  {"S12 an array given as text is data, not code", "def f(a: list): return a",
   R"({"a":"[1, __import__('os').getpid()]"})",
   R"("[1, __import__('os').getpid()]")"},
  {"an array given as its JSON text", "def f(a: List[int]): return a",
   R"({"a":"[1, 2]"})", "[1,2]"},
  {"numbers given as text",
   "def f(a: int, b: float, c: bool): return [a, b, c]",
   R"({"a":"-7","b":"1.5","c":"False"})", "[-7,1.5,false]"},
  {"a number with a fraction is not cut", "def f(a: int): return a",
   R"({"a":5.7})", "5.7"},
  {"nested containers",
   "def f(a: Dict[str, List[Tuple[int, str]]]): return "
   "[type(a['k'][0]).__name__, a]",
   R"({"a":{"k":[["1","x"]]}})", R"(["tuple",{"k":[[1,"x"]]}])"},
  {"sets", "def f(a: Set[int]): return [type(a).__name__, a]",
   R"({"a":[2,1,2]})", R"(["set",[1,2]])"},
  {"dictionaries with integer keys", "def f(a: Dict[int, str]): return list(a)",
   R"({"a":{"1":"x"}})", "[1]"},
  {"literals", "def f(a: Literal['x', 3]): return a", R"({"a":"3"})", "3"},
  {"enums by value and by name",
   "import enum\nclass C(enum.Enum):\n    RED = 'r'\n"
   "def f(a: C, b: C): return [a is C.RED, b is C.RED]",
   R"({"a":"r","b":"RED"})", "[true,true]"},
  {"a value that no enum has is refused by name",
   "import enum\nclass C(enum.Enum):\n    RED = 'r'\ndef f(a: C): return 1",
   R"({"a":"blue"})", "null",
   "Error executing function f: TypeError: argument 'a': 'blue' is none of "
   "'r'"},
  {"dates",
   "import datetime\ndef f(a: datetime.datetime, b: datetime.date):\n"
   "    return [a.year, b.day, a.tzinfo is not None]",
   R"({"a":"2024-01-02T03:04:05Z","b":"2024-01-09"})", "[2024,9,true]"},
  {"decimals, identifiers, paths",
   "import decimal, uuid, pathlib\n"
   "def f(a: decimal.Decimal, b: uuid.UUID, c: pathlib.Path):\n"
   "    return [type(a).__name__, type(b).__name__, c.name]",
   R"({"a":1.10,"b":"00000000-0000-0000-0000-000000000001","c":"/a/b"})",
   R"(["Decimal","UUID","b"])"},
  {"dataclasses, nested",
   "import dataclasses\n@dataclasses.dataclass\nclass I:\n"
   "    n: int\n@dataclasses.dataclass\nclass O:\n"
   "    items: List[I]\n    note: str = '-'\n"
   "def f(o: O): return [o.items[0].n, o.note]",
   R"({"o":{"items":[{"n":"4"}]}})", R"([4,"-"])"},
  {"typed dicts and named tuples",
   "class T(TypedDict):\n    n: int\nclass N(NamedTuple):\n    x: int\n    y: "
   "int\n"
   "def f(t: T, n: N): return [t['n'], n.x, n.y]",
   R"({"t":{"n":"4"},"n":{"x":1,"y":2}})", "[4,1,2]"},
  {"annotated and new types",
   "U = NewType('U', int)\ndef f(a: Annotated[int, 'doc'], u: U): return [a, "
   "u]",
   R"({"a":"1","u":"2"})", "[1,2]"},
  {"optional arms in order",
   "def f(a: Optional[int], b: Union[int, List[int]]): "
   "return [a, b]",
   R"({"a":"3","b":["4"]})", "[3,[4]]"},
  {"null where it is what is missing",
   "def f(a: Optional[int], b: 'Union[str, None]', /, c: Literal['x', None], "
   "*, d: Annotated[Optional[int], 'd']): return [a, b, c, d]",
   R"({"a":null})", "[null,null,null,null]"},
  {"also of a type that is known to type checkers only",
   "def f(a: 'Nope | None', b: 'Optional[Nope]'): return [a, b]", "{}",
   "[null,null]"},
  {"a list of optional values is no optional list",
   "def f(a: 'list[Nope | None | int]'): return 1", "{}", "null",
   "Error executing function f: TypeError: f() missing 1 required"},
  {"anything is not null", "def f(a: Any): return 1", "{}", "null",
   "Error executing function f: TypeError: f() missing 1 required"},
  {"null inside of records and lists",
   "import dataclasses\n@dataclasses.dataclass\nclass D:\n"
   "    x: Optional[int]\n"
   "def f(a: D, b: List[Optional[int]]): return [a, b]",
   R"({"a":{"x":null},"b":[null,"1"]})", R"([{"x":null},[null,1]])"},
  {"an optional enum is an enum",
   "import enum\nclass C(enum.Enum):\n    RED = 'r'\n"
   "def f(a: Optional[C] = None): return 1",
   R"({"a":"blue"})", "null",
   "Error executing function f: TypeError: argument 'a': 'blue' is none of "
   "'r'"},
  {"an optional date is a date",
   "import datetime\ndef f(a: Union[datetime.date, None]): return 1",
   R"({"a":"soon"})", "null",
   "Error executing function f: TypeError: argument 'a': 'soon' is not a valid "
   "date"},
  {"what an arm takes as it is may be anything",
   "import enum\nclass C(enum.Enum):\n    RED = 'r'\n"
   "def f(a: Union[C, int]): return a",
   R"({"a":"blue"})", R"("blue")"},
  {"a dataclass that refuses its values",
   "import dataclasses\n@dataclasses.dataclass\nclass D:\n    kind: int\n"
   "    def __post_init__(self): raise ValueError('too small')\n"
   "def f(a: D): return 1",
   R"({"a":{"kind":1}})", "null",
   "Error executing function f: TypeError: argument 'a': too small"},
  {"enums that look further",
   "import enum\nclass C(enum.Enum):\n    RED = 'r'\n    @classmethod\n"
   "    def _missing_(cls, value): return cls[value.strip().upper()]\n"
   "def f(a: C): return a is C.RED",
   R"({"a":" red"})", "true"},
  {"and do not find it either",
   "import enum\nclass C(enum.Enum):\n    RED = 'r'\n    @classmethod\n"
   "    def _missing_(cls, value): return cls[value.strip().upper()]\n"
   "def f(a: C): return a is C.RED",
   R"({"a":" blue"})", "null",
   "Error executing function f: TypeError: argument 'a': ' blue' is none of"},
  {"several flags in one",
   "import enum\nclass C(enum.Flag):\n    A = 1\n    B = 2\n"
   "def f(a: C): return a == C.A | C.B",
   R"({"a":3})", "true"},
  {"a name for a type checker spoils its own member only",
   "from __future__ import annotations\nimport dataclasses\n"
   "if TYPE_CHECKING:\n    from nowhere import Z\n"
   "@dataclasses.dataclass\nclass D:\n    x: List[int]\n    z: Z\n"
   "    more: List[D] = ()\n"
   "def f(a: D): return a",
   R"({"a":{"x":["1"],"z":"2","more":[{"x":["3"],"z":4}]}})",
   R"({"x":[1],"z":"2","more":[{"x":[3],"z":4,"more":[]}]})"},
  {"a typed dict inside of itself",
   "from __future__ import annotations\n"
   "class T(TypedDict, total=False):\n    a: int\n    b: List[T]\n"
   "def f(t: T): return t",
   R"({"t":{"a":"1","b":[{"a":"2"}]}})", R"({"a":1,"b":[{"a":2}]})"},
  {"a quoted type inside of another",
   "def f(a: List['T'], b: list['T'], c: Optional['T']): return [a, b, c]\n"
   "class T(NamedTuple):\n    n: int",
   R"({"a":[{"n":"1"}],"b":[{"n":"2"}],"c":["3"]})", "[[[1]],[[2]],[3]]"},
  {"a missing argument", "def f(a, b): return 1", R"({"a":1})", "null",
   "Error executing function f: TypeError: f() missing 1 required positional "
   "argument: 'b'"},
  {"an unexpected argument", "def f(a): return 1", R"({"a":1,"z":2})", "null",
   "Error executing function f: TypeError: f() got an unexpected keyword "
   "argument 'z'"},
};

// -- failures ----------------------------------------------------------------

const row failures[] = {
  {"exception", "def f(): raise ValueError('bad thing')", "{}", "null",
   "Error executing function f: ValueError: bad thing"},
  {"C6 message of several lines", "def f(): raise ValueError('a\\nb\\nc\\nd')",
   "{}", "null", "Error executing function f: ValueError: a\nb\nc\nd"},
  {"exception without a message", "def f(): raise StopIteration", "{}", "null",
   "Error executing function f: StopIteration: "},
  {"half a character, as from a file's name",
   "def f(): raise ValueError('cannot read ' + '\\udcff')", "{}", "null",
   "Error executing function f: ValueError: cannot read \\udcff"},
  {"KeyError", "def f(): return {}['x']", "{}", "null",
   "Error executing function f: KeyError: 'x'"},
  {"keyboard interrupt", "def f(): raise KeyboardInterrupt", "{}", "null",
   "Error executing function f: KeyboardInterrupt: "},
  {"own exception whose text fails",
   "class E(Exception):\n    def __str__(self): raise RuntimeError\n"
   "def f(): raise E",
   "{}", "null", "Error executing function f: E: (the exception's own __str__"},
  {"async exception", "async def f(): raise OSError('no')", "{}", "null",
   "Error executing function f: OSError: no"},
  {"C4 exit(0)", "def f(): exit(0)", "{}", "null",
   "Error executing function f: SystemExit: the tool called exit(0) instead of "
   "returning a value"},
  {"C4 sys.exit with a text", "def f(): sys.exit('done')", "{}", "null",
   "Error executing function f: SystemExit: the tool called exit('done')"},
  {"C4 the process is simply gone", "def f(): os._exit(0)", "{}", "null",
   "Error executing function f: NoResult: the process ended with exit code 0 "
   "before it returned a value"},
  {"killed by its own signal",
   "import signal\n"
   "def f(): os.kill(os.getpid(), 9)",
   "{}", "null",
   "Error executing function f: NoResult: the process was killed by "
   "signal 9"},
  {"syntax error", "def f(:\n    pass", "{}", "null",
   "Error executing function f: SyntaxError: "},
  {"error at the top level", "1 / 0\ndef f(): pass", "{}", "null",
   "Error executing function f: ZeroDivisionError: division by zero"},
  {"no such function", "def fetch(): pass\ndef ff(): pass", "{}", "null",
   "Error executing function f: NameError: the source defines no function 'f' "
   "at "
   "its top level; did you mean 'ff'?"},
  {"no function", "f = 3", "{}", "null",
   "Error executing function f: TypeError: 'f' in the source is not a function "
   "but a "
   "int"},
  {"recursion without end", "def f(): return f()", "{}", "null",
   "Error executing function f: RecursionError: "},
};

void check(const row& sample) {
  auto seen = run_plainly(a_run(language::python, sample.source, sample.args));
  auto friendly = seen.failure.friendly;
  if (std::string{sample.failure}.empty())
    BOOST_TEST(friendly == "");
  else
    BOOST_TEST(friendly.substr(0, std::string{sample.failure}.size())
               == sample.failure);
  BOOST_TEST((seen.status == run_status::success) == friendly.empty());
  BOOST_TEST(seen.value_json == sample.json);
}

} // namespace

BOOST_DATA_TEST_CASE(a_function_is_called_as_its_signature_says, calls) {
  check(sample);
}

BOOST_DATA_TEST_CASE(arguments_become_what_annotations_say, arguments) {
  check(sample);
}

BOOST_DATA_TEST_CASE(a_failure_tells_what_happened, failures) {
  check(sample);
}

BOOST_AUTO_TEST_SUITE_END()
