// Contexts of bash, JavaScript and TypeScript.
#include "runtime/runner/program.hpp"
#include "tests/runtime/local/sandbox/kernels.hpp"

namespace troupe {

using namespace test;

struct said_by_cell {
  std::string code;
  std::string text; // its output, or its value
};

struct context_in_sandbox {
  explicit context_in_sandbox(context_language language)
      : kernel{host, *sandbox, language} {}

  sandbox_host host;
  living sandbox{host};
  kernel_under_test kernel;

  told_cell run(const std::string& code) { return kernel.run(code); }
};

BOOST_AUTO_TEST_SUITE(bash_contexts)

struct bash : context_in_sandbox {
  bash() : context_in_sandbox{context_language::bash} {}
};

BOOST_FIXTURE_TEST_CASE(what_is_set_stays, bash) {
  const said_by_cell table[] = {
    {"x=5; cd /tmp; f() { echo in f; return 3; }", ""},
    {"echo $x $PWD", "5 /tmp\n"},
    {"if true; then\n  echo yes\nfi", "yes\n"},
    {"cat", ""},
    {"read a; echo \"[$a]\"", "[]\n"},
    {"export A=b; env | grep ^A=", "A=b\n"},
    {"echo \xc3\xbc", "\xc3\xbc\n"},
    {"break; echo on", "on\n"},
    {"", ""},
  };
  for (const auto& [code, text] : table) {
    const auto cell = run(code);
    BOOST_TEST(cell.ok() == true, code);
    BOOST_TEST(cell.out == text, code);
  }
}

BOOST_FIXTURE_TEST_CASE(a_status_that_is_not_0_is_an_error, bash) {
  run("f() { return 3; }");
  for (const said_by_cell& each :
       {said_by_cell{"false", "exit code 1"}, said_by_cell{"f", "exit code 3"},
        said_by_cell{"return 7", "exit code 7"},
        said_by_cell{"(exit 130)", "exit code 130"},
        said_by_cell{"echo 'open", "exit code 2"}}) {
    const auto cell = run(each.code);
    BOOST_TEST(cell.failed(), each.code);
    BOOST_REQUIRE(!cell.events.empty());
    BOOST_TEST(cell.events.back().value == each.text);
  }
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_leaves_every_loop_and_function, bash) {
  run("x=1; f() { while :; do :; done; }; g() { while :; do f; done; }");
  for (const std::string code :
       {"sleep 1000", "while :; do :; done", "g",
        "for ((;;)); do for ((;;)); do sleep 1000; done; done"}) {
    const auto cell = kernel.interrupt("echo ready\n" + code);
    BOOST_REQUIRE(cell.answer);
    BOOST_TEST((cell.answer->status == cell_status::interrupted), code);
  }
  BOOST_TEST(run("echo $x").out == "1\n");
}

BOOST_FIXTURE_TEST_CASE(exit_ends_it, bash) {
  kernel.begin("exit 4");
  const auto cell = kernel.wait();
  BOOST_REQUIRE(cell.end);
  BOOST_TEST((*cell.end)->exit_code == 4);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(node_contexts)

struct javascript : context_in_sandbox {
  javascript() : context_in_sandbox{context_language::javascript} {}
};

BOOST_FIXTURE_TEST_CASE(values_await_and_declarations, javascript) {
  const said_by_cell table[] = {
    {"1 + 1", "2"},
    {"let x = 5", ""},
    {"let x = 6; x", "6"},
    {"const y = await Promise.resolve(7); y", "7"},
    {"undefined", ""},
    {"_", "7"},
    {"'text'", "'text'"},
    {"10n", "10n"},
    {"require('os').platform()", "'linux'"},
    {"import fs from 'fs'\nfs.existsSync('/tmp')", "true"},
    {"(await import('path')).basename('/a/b')", "'b'"},
    {"z = 3; z", "3"},
  };
  for (const auto& [code, text] : table) {
    const auto cell = run(code);
    BOOST_TEST(cell.ok(), code);
    BOOST_TEST(cell.form() == text, code << " is " << cell.form());
  }
  BOOST_TEST(run("({a: [1]})").form("application/json") == R"({"a":[1]})");
}

BOOST_FIXTURE_TEST_CASE(output_errors_and_rejections, javascript) {
  const auto cell = run("console.log('out'); console.error('err'); 3");
  BOOST_TEST(cell.out == "out\n");
  BOOST_TEST(cell.err == "err\n");
  const auto thrown = run("function f() { throw new TypeError('no') }\nf()");
  BOOST_TEST(thrown.failed());
  BOOST_TEST(thrown.raised() == "TypeError");
  BOOST_TEST(thrown.events.back().value == "no");
  const auto& stack = thrown.events.back().traceback;
  BOOST_TEST(stack.find("cell-2:1") != stack.npos, stack);
  BOOST_TEST(stack.find("[stdin]") == stack.npos, stack);
  BOOST_TEST(run("x = ;").raised() == "SyntaxError");
  BOOST_TEST(run("await Promise.reject(new Error('now'))").failed());
  BOOST_TEST(run("Promise.reject(new Error('later')); 1").ok());
  BOOST_TEST(run("2").ok()); // which did not end it
}

BOOST_FIXTURE_TEST_CASE(a_busy_loop_and_a_promise_can_be_interrupted,
                        javascript) {
  run("x = 1");
  for (const std::string code :
       {"while (true) {}", "await new Promise(() => {})",
        "await null; while (true) {}"}) {
    const auto cell = kernel.interrupt("console.log('ready');" + code);
    BOOST_REQUIRE(cell.answer);
    BOOST_TEST((cell.answer->status == cell_status::interrupted), code);
  }
  BOOST_TEST(run("x").form() == "1");
}

BOOST_AUTO_TEST_CASE(typescript_is_javascript_without_its_types) {
  if (!script::typescript_available())
    return; // and then it is refused by name
  context_in_sandbox typed{context_language::typescript};
  const auto cell = typed.run("interface I { a: string }\n"
                              "enum E { A = 4 }\nconst q: number = 5\nE.A + q");
  BOOST_TEST(cell.ok());
  BOOST_TEST(cell.form() == "9");
  BOOST_TEST(typed.run("q as number").form() == "5");
  BOOST_TEST(typed.run("let a: = 5").failed());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
