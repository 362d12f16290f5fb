#include "runtime/local/warden/protocol.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(local_backend_tests)

BOOST_AUTO_TEST_CASE(runs_a_shell_line_and_keeps_both_outputs) {
  auto r = shared_host().run(shell("echo out; echo err >&2; exit 3"));
  BOOST_TEST(to_string(r.reason) == "exited");
  BOOST_TEST(r.exit_code == 3);
  BOOST_TEST(r.stdout_text == "out\n");
  BOOST_TEST(r.stderr_text == "err\n");
  BOOST_TEST((r.status == run_status::error));
}

BOOST_AUTO_TEST_CASE(runs_a_program_with_stdin_and_variables) {
  auto run = program({"sh", "-c", "cat; echo $GREETING"});
  run.stdin_text = "fed\n";
  run.env["GREETING"] = secret{"hello"};
  auto r = shared_host().run(run);
  BOOST_TEST(r.stdout_text == "fed\nhello\n");
  BOOST_TEST((r.status == run_status::success));
}

BOOST_AUTO_TEST_CASE(runs_a_python_tool_and_takes_its_value) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = language::python;
  run.name = run.function = "add";
  run.source = "def add(a: int, b: int):\n    print('adding')\n"
               "    return {'sum': a + b}\n";
  run.args_json = R"({"a": 2, "b": 40})";
  auto r = shared_host().run(run);
  BOOST_TEST(r.value_json == R"({"sum":42})");
  BOOST_TEST(r.stdout_text == "adding\n");
  BOOST_TEST((r.status == run_status::success));
  BOOST_TEST(r.usage.peak_memory_bytes > 1u << 20);
  BOOST_TEST(r.usage.cpu.count() > 0);
}

BOOST_AUTO_TEST_CASE(knows_a_program_that_was_started_as_a_warden) {
  using namespace std::string_view_literals;
  BOOST_TEST(warden::is_warden("troupe-warden\0__warden\0003\0"sv));
  BOOST_TEST(warden::is_warden("x\0__warden"sv));
  BOOST_TEST(!warden::is_warden("__warden\0serve\0"sv));
  BOOST_TEST(!warden::is_warden("troupe\0run\0__warden\0"sv));
  BOOST_TEST(!warden::is_warden("troupe\0__wardens\0"sv));
  BOOST_TEST(!warden::is_warden(""sv));
}

BOOST_AUTO_TEST_SUITE_END()
