#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/runner/program.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

/// The same tools and the same answers, wherever they run.
namespace troupe::test {

struct result_row {
  const char* name;
  language lang;
  const char* source; // of the function `tool`
  const char* args;
  const char* document; // what must come of it
};

inline const std::vector<result_row>& result_rows() {
  static const std::vector<result_row> rows{
    {"a value and both kinds of output", language::python,
     "import sys\n"
     "def tool(a: int, b: int):\n"
     "  print('out')\n"
     "  print('err', file=sys.stderr)\n"
     "  return {'sum': a + b, 'list': [1.5, None, True]}\n",
     R"({"a": 2, "b": 3})",
     R"({"status": "success", "reason": "exited", "exit_code": 0,
         "value": {"sum": 5, "list": [1.5, null, true]},
         "stdout": "out\n", "stderr": "err\n", "error": null})"},
    {"what Python raises", language::python,
     "def tool():\n  raise ValueError('it\\'s \"no\"')\n", "{}",
     R"({"status": "error", "reason": "raised", "exit_code": 0, "value": null,
         "stdout": "", "stderr": "ValueError: it's \"no\"",
         "error": {"name": "ValueError", "message": "it's \"no\"",
           "friendly":
             "Error executing function tool: ValueError: it's \"no\""}})"},
    {"texts of every kind in Python", language::python,
     "def tool(s: str):\n  return s\n",
     R"({"s": "it's \"q\" \\ \n \r ` ${0} \u0000 \u2028 \ud83d\ude00"})",
     R"({"status": "success", "reason": "exited", "exit_code": 0,
         "value": "it's \"q\" \\ \n \r ` ${0} \u0000 \u2028 \ud83d\ude00",
         "stdout": "", "stderr": "", "error": null})"},
    {"a value of JavaScript", language::javascript,
     "export async function tool(s) {\n"
     "  console.log('out');\n"
     "  console.error('err');\n"
     "  await new Promise((done) => setTimeout(done, 1));\n"
     "  return { s, n: [1, null, false] };\n}\n",
     R"({"s": "x"})",
     R"({"status": "success", "reason": "exited", "exit_code": 0,
         "value": {"s": "x", "n": [1, null, false]},
         "stdout": "out\n", "stderr": "err\n", "error": null})"},
    {"what JavaScript throws", language::javascript,
     "export function tool() { throw new TypeError('no'); }\n", "{}",
     R"({"status": "error", "reason": "raised", "exit_code": 0, "value": null,
         "stdout": "", "stderr": "TypeError: no",
         "error": {"name": "TypeError", "message": "no",
           "friendly": "Error executing function tool: TypeError: no"}})"},
    {"texts of every kind in TypeScript", language::typescript,
     "interface Given { s: string }\n"
     "export function tool(s: string): Given {\n"
     "  const kept: Given = { s: s as string };\n"
     "  return kept;\n}\n",
     R"({"s": "it's \"q\" \\ \n \r ` ${0} \u0000 \u2028 </script> \u00e9"})",
     R"({"status": "success", "reason": "exited", "exit_code": 0,
         "value":
           {"s": "it's \"q\" \\ \n \r ` ${0} \u0000 \u2028 </script> \u00e9"},
         "stdout": "", "stderr": "", "error": null})"},
  };
  return rows;
}

/// What a result says about its run, without where and how long it was: of a
/// traceback, which names places, its error only.
inline json::value document_of(const run_result& r) {
  json::object o;
  o["status"] = to_string(r.status);
  o["reason"] = to_string(r.reason);
  o["exit_code"] = r.exit_code;
  o["value"] = json::parse(r.value_json).value();
  o["stdout"] = r.stdout_text;
  o["stderr"] = r.stderr_text;
  o["error"] = nullptr;
  auto raised = r.failure.name + ": " + r.failure.message;
  if (!r.failure.empty() && r.stderr_text.find(raised) != std::string::npos)
    o["stderr"] = raised;
  if (!r.failure.empty())
    o["error"] = json::object{{"name", r.failure.name},
                              {"message", r.failure.message},
                              {"friendly", r.failure.friendly}};
  return o;
}

/// Every row; `answer` carries out a run whose tool is filled in.
inline void
check_result_rows(const std::function<run_result(const result_row&)>& answer) {
  for (const auto& row : result_rows()) {
    if (row.lang == language::typescript && !script::typescript_available())
      continue;
    BOOST_TEST_CONTEXT(row.name) {
      auto expected = json::parse(row.document);
      BOOST_REQUIRE(expected.has_value());
      auto found = document_of(answer(row));
      BOOST_TEST((found == *expected), json::to_text(found));
    }
  }
}

} // namespace troupe::test
