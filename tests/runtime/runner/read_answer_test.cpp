#include "runtime/json/json.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/read_answer.hpp"
#include "runtime/runner/request.hpp"
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::testing;
using frame::part;
using script::friendly_message;
using script::truncate_value;

BOOST_AUTO_TEST_SUITE(interpreting)

namespace {

std::string answer(std::string head, std::string body, std::string state = "") {
  frame::message m;
  m.what = frame::kind::answer;
  m[part::head] = std::move(head);
  m[part::body] = std::move(body);
  m[part::state] = std::move(state);
  return frame::encode(m).value();
}

const std::string good = R"({"status":"success","fallback":false})";

run_result judge(const std::string& bytes,
                 exit_reason reason = exit_reason::exited, int exit_code = 0) {
  run_result seen;
  seen.reason = reason;
  seen.exit_code = exit_code;
  script::interpret(a_run(language::python, ""), bytes, seen);
  return seen;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_good_answer_is_a_success) {
  auto seen = judge(answer(good, R"({"a":[1]})"));
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.value_json == R"({"a":[1]})");
  BOOST_TEST(seen.failure.empty());
  BOOST_TEST(seen.detail == "");
}

BOOST_AUTO_TEST_CASE(a_value_is_one_line) { // of a stream with a line per event
  const auto seen = judge(answer(good, "[0,\n{\"type\":\t\"item\\n\"}\r\n]"));
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.value_json == R"([0,{"type":"item\n"}])");
}

BOOST_AUTO_TEST_CASE(no_answer_is_an_error_whatever_the_exit_code) { // C4, P9
  auto seen = judge("");
  BOOST_TEST((seen.status == run_status::error));
  BOOST_TEST(seen.failure.friendly
             == "Error executing function f: NoResult: the process ended with "
                "exit code 0 before it returned a value");
  BOOST_TEST(!seen.detail.empty());
}

BOOST_AUTO_TEST_CASE(a_good_answer_survives_a_bad_end) {
  auto seen = judge(answer(good, "1"), exit_reason::exited, 139);
  BOOST_TEST((seen.status == run_status::success));
  BOOST_REQUIRE(seen.notes.size() == 1u);
  BOOST_TEST(seen.notes[0]
             == "after its answer the process ended with exit code 139");
}

BOOST_AUTO_TEST_CASE(no_answer_outlives_a_limit) {
  const std::pair<exit_reason, const char*> cases[]
    = {{exit_reason::wall_timeout, "TimeoutError"},
       {exit_reason::cpu_timeout, "CpuTimeoutError"},
       {exit_reason::memory_limit, "MemoryLimitError"},
       {exit_reason::output_limit, "OutputLimitError"},
       {exit_reason::pids_limit, "ProcessLimitError"},
       {exit_reason::disk_limit, "DiskLimitError"},
       {exit_reason::syscall_blocked, "SandboxViolation"},
       {exit_reason::policy_denied, "PolicyDenied"},
       {exit_reason::cancelled, "CancelledError"},
       {exit_reason::start_failed, "StartFailed"},
       {exit_reason::lost, "LostError"}};
  for (const auto& [reason, name] : cases) {
    auto seen = judge(answer(good, "1"), reason);
    BOOST_TEST((seen.status == run_status::error));
    BOOST_TEST(seen.failure.name == name);
    BOOST_TEST(seen.value_json == "null");
  }
}

BOOST_AUTO_TEST_CASE(a_value_must_be_json) {
  for (const auto* body :
       {"", "{", "nul", "NaN", "[1,]", "1 2", R"({"a":1,"a":2})", "\"\xff\"",
        "\"\\ud800\"", "'x'", "__import__('os')"}) {
    auto seen = judge(answer(good, body));
    BOOST_TEST_CONTEXT(body) {
      BOOST_TEST((seen.status == run_status::error));
      BOOST_TEST(seen.failure.name == "InvalidAnswer");
      BOOST_TEST(seen.value_json == "null");
    }
  }
  auto deep = std::string(1000, '[') + std::string(1000, ']');
  BOOST_TEST(judge(answer(good, deep)).failure.name == "InvalidAnswer");
}

BOOST_AUTO_TEST_CASE(a_head_must_make_sense) {
  for (const auto* head :
       {"", "[]", "{", R"({"status":1})", "{}", R"({"status":"error"})",
        R"({"status":"error",)"
        R"("error":[]})"})
    BOOST_TEST((judge(answer(head, "1")).status == run_status::error));
}

BOOST_AUTO_TEST_CASE(a_damaged_frame_is_an_error) {
  auto bytes = answer(good, "1");
  bytes.back() = '2';
  auto seen = judge(bytes);
  BOOST_TEST(seen.failure.name == "InvalidAnswer");
  BOOST_TEST(judge(bytes.substr(0, 40)).failure.name == "InvalidAnswer");
  BOOST_TEST(judge("garbage on the channel").failure.name == "InvalidAnswer");
}

BOOST_AUTO_TEST_CASE(the_tool_does_not_tell_status_usage_or_ids) { // P9
  run_result seen;
  seen.reason = exit_reason::exited;
  seen.usage.peak_memory_bytes = 7;
  script::interpret(
    a_run(language::python, ""),
    answer(R"({"status":"success","id":"run-x","usage":{"wall":1},)"
           R"("exit_code":5,"reason":"cancelled"})",
           "1"),
    seen);
  BOOST_TEST(seen.usage.peak_memory_bytes == 7u);
  BOOST_TEST(seen.exit_code == 0);
  BOOST_TEST((seen.reason == exit_reason::exited));
}

BOOST_AUTO_TEST_CASE(tells_an_error_that_was_raised_from_an_exit) {
  const auto raised
    = answer(R"({"status":"error","error":{"name":"ValueError"}})", "");
  BOOST_TEST((judge(raised).reason == exit_reason::raised));
  BOOST_TEST(
    (judge(raised, exit_reason::signaled).reason == exit_reason::signaled));
  BOOST_TEST((judge("", exit_reason::exited, 3).reason == exit_reason::exited));
}

BOOST_AUTO_TEST_CASE(an_answer_beyond_the_limits_is_refused) {
  auto run = a_run(language::python, "");
  run.limits.result_bytes = 2000;
  auto bytes = answer(good, "\"" + std::string(4000, 'x') + "\"");
  run_result seen;
  seen.reason = exit_reason::exited;
  script::interpret(run, bytes, seen);
  BOOST_TEST(seen.failure.name == "InvalidAnswer");
  BOOST_TEST(script::max_answer_bytes(run) > 2000u);
}

BOOST_AUTO_TEST_CASE(a_friendly_message_has_at_most_1000_characters) {
  auto text = friendly_message("f", "E", std::string(2000, 'x'));
  BOOST_TEST(text.size() == 1000u);
  BOOST_TEST(text.starts_with("Error executing function f: E: xxx"));
  std::string umlauts;
  for (int i = 0; i < 2000; ++i)
    umlauts += "\xc3\xa4";
  text = friendly_message("f", "E", umlauts);
  BOOST_TEST(json::is_utf8(text));
  BOOST_TEST(text.size() > 1900u);
  BOOST_TEST(friendly_message("", "E", "m") == "Error executing code: E: m");
  BOOST_TEST(friendly_message("f", "E", "\xff")
             == "Error executing function f: "
                "E: \xef\xbf\xbd");
}

BOOST_AUTO_TEST_CASE(the_return_limit_limits) { // C8
  BOOST_TEST(truncate_value(R"("abc")", 3) == "");
  BOOST_TEST(truncate_value(R"("abcd")", 3)
             == "\"abc... [NOTE: function output was truncated since it "
                "exceeded the character limit (4 > 3)]\"");
  BOOST_TEST(truncate_value("[1,2,3]", 3).starts_with("\"[1,..."));
  BOOST_TEST(truncate_value("\"\xc3\xa4\xc3\xa4\xc3\xa4\"", 3) == "");
  BOOST_TEST(truncate_value("\"\\u00e4\\u00e4\\u00e4\"", 3) == "");
  BOOST_TEST(truncate_value(R"("abc")", 3, 9).find("(9 > 3)")
             != std::string::npos);
  BOOST_TEST(truncate_value("12345", 0) == "");
}

BOOST_AUTO_TEST_CASE(a_value_that_is_too_long_is_null_and_tells_its_size) {
  for (const char* source :
       {"def f(): return 'x' * 100", "def f(): return ['ä' * 96]",
        "def f(): return b'x' * 75"}) {
    auto run = a_run(language::python, source);
    run.return_char_limit = 99;
    const auto seen = run_plainly(run);
    BOOST_TEST((seen.status == run_status::success));
    BOOST_TEST(seen.value_truncated);
    BOOST_TEST(seen.value_json == "null");
    BOOST_TEST(seen.value_encoding == "");
    BOOST_TEST(seen.value_size == 100u);
    run.return_char_limit = 100;
    BOOST_TEST(!run_plainly(run).value_truncated);
    run.return_char_limit = 0; // none
    BOOST_TEST(!run_plainly(run).value_truncated);
  }
}

BOOST_AUTO_TEST_CASE(at_letta_a_long_value_is_cut_and_flagged) {
  auto run = a_run(language::python, "def f(): return 'x' * 100");
  run.as_letta = true;
  run.return_char_limit = 10;
  auto seen = run_plainly(run);
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.value_truncated);
  BOOST_TEST(seen.value_json
             == "\"xxxxxxxxxx... [NOTE: function output was truncated since it "
                "exceeded the character limit (100 > 10)]\"");
}

BOOST_AUTO_TEST_CASE(text_beyond_the_byte_limit_is_cut_in_the_sandbox) {
  for (auto lang : {language::python, language::javascript}) {
    auto run = a_run(lang,
                     lang == language::python
                       ? "def f(): return '\u00e4' * 50000"
                       : "function f() { return '\u00e4'.repeat(50000) }");
    run.limits.result_bytes = 60'000;
    run.return_char_limit = 1000;
    auto seen = run_plainly(run);
    BOOST_TEST(seen.failure.friendly == "");
    BOOST_TEST(seen.value_json == "null");
    BOOST_TEST(seen.value_size == 50'000u);
    run.as_letta = true;
    seen = run_plainly(run);
    BOOST_TEST(seen.failure.friendly == "");
    BOOST_TEST(seen.value_truncated);
    BOOST_TEST(seen.value_json.find("(50000 > 1000)") != std::string::npos);
    run.source = lang == language::python
      ? "def f(): return ['x' * 100000]"
      : "function f() { return ['x'.repeat(100000)] }";
    BOOST_TEST(run_plainly(run).failure.name == "ResultTooLarge");
  }
}

BOOST_AUTO_TEST_CASE(a_command_succeeds_by_its_exit_code) {
  prepared_run run;
  run.kind = run_kind::command;
  run.name = "command";
  run.command = "cat; echo $A; exit 0";
  run.stdin_text = "in\n";
  run.env.emplace("A", secret{"b"});
  auto seen = run_plainly(run);
  BOOST_TEST((seen.status == run_status::success));
  BOOST_TEST(seen.stdout_text == "in\nb\n");
  run.command = "exit 4";
  seen = run_plainly(run);
  BOOST_TEST((seen.status == run_status::error));
  BOOST_TEST(seen.exit_code == 4);
  BOOST_TEST(seen.failure.name == "CommandError");
  run.argv = {"/bin/echo", "a  b", "$A"};
  BOOST_TEST(run_plainly(run).stdout_text == "a  b $A\n");
}

BOOST_AUTO_TEST_CASE(schemas_that_are_no_json_stop_before_the_run) {
  auto run = a_run(language::python, "");
  run.args_json_schema = R"({"a":1},"op":"code")";
  BOOST_TEST(script::build_program(run).has_error());
}

BOOST_AUTO_TEST_CASE(counts_seconds_as_people_do) {
  auto run = a_run(language::python, "");
  auto message_after = [&](std::chrono::milliseconds wall, bool as_letta) {
    run.limits.wall = wall;
    run.as_letta = as_letta;
    run_result seen;
    seen.reason = exit_reason::wall_timeout;
    script::interpret(run, "", seen);
    return seen.failure.message;
  };
  using std::chrono::milliseconds;
  BOOST_TEST(message_after(milliseconds{1000}, false).ends_with(" 1 second."));
  BOOST_TEST(
    message_after(milliseconds{1500}, false).ends_with(" 1.5 seconds."));
  BOOST_TEST(message_after(milliseconds{1000}, true).ends_with(" 1 seconds."));
}

BOOST_AUTO_TEST_SUITE_END()
