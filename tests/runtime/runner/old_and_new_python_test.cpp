// Our own Python must be read by 3.9 and must not ask for what 3.13 no longer
// has, also where only one of them is installed.
#include "runtime/local/warm/warm_launcher.hpp"
#include "tests/runtime/runner/plain_child.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

using namespace troupe;
using namespace troupe::testing;

BOOST_AUTO_TEST_SUITE(old_and_new_python)

namespace {

// Of what is read: the grammar of 3.9, and names that came later or are gone.
// A guarded use is a getattr or hasattr, which holds no such name.
constexpr const char* look = R"py(
import ast, sys

GONE = set("""aifc asynchat asyncore audioop binhex cgi cgitb chunk crypt
distutils formatter imghdr imp lib2to3 mailcap msilib nis nntplib ossaudiodev
parser pipes smtpd sndhdr spwd sunau symbol telnetlib uu xdrlib""".split())
NEW = {"tomllib", "annotationlib", "compression"}
NAMES = {
    "ast": "Num Str Bytes NameConstant Ellipsis Index ExtSlice Match TypeAlias",
    "asyncio": "coroutine TaskGroup Runner timeout timeout_at get_event_loop"
    " get_event_loop_policy set_event_loop_policy",
    "builtins": "ExceptionGroup BaseExceptionGroup aiter anext",
    "datetime": "UTC",
    "enum": "StrEnum EnumType member nonmember",
    "importlib": "find_loader",
    "inspect": "getargspec formatargspec get_annotations",
    "itertools": "pairwise batched",
    "locale": "format",
    "os": "process_cpu_count unshare setns",
    "sys": "exception stdlib_module_names orig_argv",
    "types": "UnionType NoneType EllipsisType get_original_bases",
    "typing": "Self TypeAlias ParamSpec Concatenate TypeGuard Required"
    " NotRequired Never override io re",
}
ARGUMENTS = {"zip": {"strict"}, "dataclass": {"slots", "kw_only"}, "bisect": {"key"}}
bad = []

def look_at(name, tree):
    def complain(node, what):
        bad.append("%s:%d: %s" % (name, getattr(node, "lineno", 0), what))
    def module(node, spelled):
        root = spelled.split(".")[0]
        if root in GONE or root in NEW:
            complain(node, "module " + root)
    late = {n for n in NAMES["builtins"].split()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                module(node, one.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module(node, node.module)
            for one in node.names:
                if one.name in NAMES.get(node.module, "").split():
                    complain(node, node.module + "." + one.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NAMES.get(node.value.id, "").split():
                complain(node, node.value.id + "." + node.attr)
        elif isinstance(node, ast.Name) and node.id in late:
            complain(node, node.id)
        elif isinstance(node, ast.Call):
            f = node.func
            called = getattr(f, "id", getattr(f, "attr", None))
            for one in node.keywords:
                if one.arg in ARGUMENTS.get(called, ()):
                    complain(node, "%s(%s=)" % (called, one.arg))
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            if isinstance(node.annotation, ast.BinOp):
                complain(node, "a union by |")

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    try:
        look_at(name, ast.parse(text, name, feature_version=(3, 9)))
    except SyntaxError as e:
        bad.append("%s:%s: %s" % (name, e.lineno, e.msg))
print("\n".join(bad) if bad else "fine")
)py";

std::string complaints(const std::vector<std::string>& files) {
  script::program p;
  p.argv = {pythons().front(), "-I", "-c", look};
  p.argv.insert(p.argv.end(), files.begin(), files.end());
  const auto report = carry_out(p);
  BOOST_REQUIRE_MESSAGE(report.exit_code == 0, report.err);
  return report.out;
}

} // namespace

BOOST_AUTO_TEST_CASE(read_what_runs_beside_a_tool) {
  std::vector<std::string> files;
  for (const auto& file : script::runner_files())
    if (file.path.ends_with(".py"))
      files.push_back(runners_directory() + "/" + std::string{file.path});
  BOOST_TEST(files.size() > 10u);
  tests::temporary_directory place;
  zygote::warm_launcher::paths where;
  BOOST_REQUIRE(zygote::install(place.path().string(), where));
  files.push_back(where.boot);
  BOOST_TEST(complaints(files) == "fine\n");
}

/// The twin: it sees what it is to see.
BOOST_AUTO_TEST_CASE(would_not_read_what_is_too_new_or_gone) {
  tests::temporary_directory place;
  for (const auto& [text, found] :
       std::vector<std::pair<std::string, std::string>>{
         {"match 1:\n    case 1: pass\n", "bad.py:"},
         {"try: pass\nexcept* ValueError: pass\n", "bad.py:"},
         {"type X = int\n", "bad.py:"},
         {"import imp\n", "module imp"},
         {"from distutils.util import x\n", "module distutils"},
         {"import tomllib\n", "module tomllib"},
         {"import datetime\nx = datetime.UTC\n", "datetime.UTC"},
         {"from typing import Self\n", "typing.Self"},
         {"x = list(zip([], [], strict=True))\n", "zip(strict=)"},
         {"def f(x: int | None): pass\n", "a union by |"},
         {"import ast\nx = ast.Str\n", "ast.Str"},
         {"raise ExceptionGroup('x', [])\n", "ExceptionGroup"},
       }) {
    const auto file = (place / "bad.py").string();
    std::ofstream{file} << text;
    const auto said = complaints({file});
    BOOST_TEST(said != "fine\n", text);
    BOOST_TEST(said.find(found) != said.npos, said);
  }
}

BOOST_AUTO_TEST_SUITE_END()
