#include "runtime/base/base64.hpp"
#include "runtime/toolkit/toolkit.hpp"
#include "tests/support/engine/fake_sandboxes.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>

using namespace troupe;
using namespace troupe::toolkit;

BOOST_AUTO_TEST_SUITE(calls_of_tools)

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

/// A toolkit over sandboxes in memory, and a clock that tests step.
struct house {
  test::fake_sandboxes places;
  troupe::toolkit::toolkit tools{&places, {}};
  caller who{default_organization(), {}, {}, 1, {}};
  std::string session = "chat";
  std::deque<std::function<void()>> timers;
  std::vector<std::string> lines;

  call_ptr begin(std::string_view tool, std::string_view arguments,
                 std::optional<outcome>& into) {
    call_hooks hooks;
    hooks.after = [this](std::chrono::milliseconds time, auto then) {
      if (time < std::chrono::seconds{51}) // not what ends the call itself
        timers.push_back(std::move(then));
    };
    hooks.progress = [this](std::string line) { lines.push_back(line); };
    const auto* found = find_tool(tool);
    BOOST_REQUIRE(found);
    return tools.call(who, *found, json::parse_object(arguments).value(),
                      {session, "the test's"}, std::move(hooks),
                      [&into](outcome what) { into = std::move(what); });
  }
  outcome call(std::string_view tool, std::string_view arguments = "{}") {
    std::optional<outcome> came;
    begin(tool, arguments, came);
    BOOST_REQUIRE_MESSAGE(came, tool);
    return *came;
  }
  std::string text(std::string_view tool, std::string_view arguments = "{}") {
    auto came = call(tool, arguments);
    BOOST_TEST(!came.failed, came.text);
    return came.text;
  }
  std::string refused(std::string_view tool,
                      std::string_view arguments = "{}") {
    auto came = call(tool, arguments);
    BOOST_TEST(came.failed, came.text);
    return came.text;
  }
  void step() {
    auto due = std::exchange(timers, {});
    for (auto& each : due)
      each();
  }
};

BOOST_FIXTURE_TEST_CASE(a_file_is_written_read_edited_and_deleted, house) {
  BOOST_TEST(text("file_write", R"({"file":"a.py","content":"x = 1\ny = 2\n"})")
             == "Wrote 2 lines (12 bytes) to a.py (new file).");
  BOOST_TEST(text("file_read", R"({"file":"a.py"})")
             == "     1\tx = 1\n     2\ty = 2\n[end of file, 2 lines]");
  const auto diff
    = text("file_edit", R"({"file":"a.py","old":"y = 2","new":"y = 3"})");
  BOOST_TEST(has(diff, "-y = 2\n+y = 3\n"), diff);
  BOOST_TEST(
    has(text("file_read", R"({"file":"/home/user/a.py","start_line":2})"),
        "     2\ty = 3\n[lines 2-2 of 2; end of file]"));
  BOOST_TEST(has(text("file_read", R"({"file":"~/a.py","line_count":1})"),
                 "next: start_line=2"));
  BOOST_TEST(has(text("file_move", R"({"from":"a.py","to":"b.py"})"),
                 "Moved a.py to b.py."));
  BOOST_TEST(text("file_delete", R"({"file":"b.py"})") == "Deleted b.py.");
  BOOST_TEST(
    has(refused("file_read", R"({"file":"b.py"})"), "There is no b.py."));
}

BOOST_FIXTURE_TEST_CASE(a_missing_file_is_told_with_the_nearest_name, house) {
  text("file_write", R"({"file":"settings.json","content":"{}"})");
  BOOST_TEST(has(refused("file_read", R"({"file":"setings.json"})"),
                 "Did you mean settings.json?"));
}

BOOST_FIXTURE_TEST_CASE(writing_minds_what_is_there, house) {
  text("file_write", R"({"file":"a","content":"one\n"})");
  BOOST_TEST(
    has(refused("file_write", R"({"file":"a","content":"x","mode":"create"})"),
        "is there already"));
  text("file_write", R"({"file":"a","content":"two","mode":"append"})");
  BOOST_TEST(has(text("file_read", R"({"file":"a"})"), "     2\ttwo\n"));
  BOOST_TEST(has(
    refused("file_write", R"({"file":"a","content":"!","encoding":"base64"})"),
    "Base64"));
  BOOST_TEST(has(
    text("file_write", R"({"file":"a","content":"aGk=","encoding":"base64"})"),
    "(2 bytes)"));
}

BOOST_FIXTURE_TEST_CASE(pictures_are_shown_and_other_bytes_are_not, house) {
  text("file_write",
       R"({"file":"a.png","content":")"
         + frame::to_base64("\x89PNG\r\n\x1a\n....")
         + R"(","encoding":"base64"})");
  auto shown = call("file_read", R"({"file":"a.png"})");
  BOOST_REQUIRE(shown.pictures.size() == 1u);
  BOOST_TEST(shown.pictures[0].mime == "image/png");
  text("file_write",
       R"({"file":"a.zip","content":"UEsDBAAA","encoding":"base64"})");
  BOOST_TEST(has(refused("file_read", R"({"file":"a.zip"})"),
                 "a binary file (application/zip, 6 bytes)"));
}

BOOST_FIXTURE_TEST_CASE(paths_stay_what_they_are, house) {
  for (auto hostile : {R"({"file":"a\u0000b"})", R"({"file":""})",
                       R"({"file":["a"]})", R"({"file":7})"})
    BOOST_TEST(!refused("file_read", hostile).empty());
  BOOST_TEST(has(refused("file_delete", R"({"file":".","recursive":true})"),
                 "sandbox_delete"));
  BOOST_TEST(has(refused("file_delete", R"({"file":"../..","recursive":true})"),
                 "sandbox_delete"));
  BOOST_TEST(has(refused("file_read", R"({"file":"../../etc/x"})"),
                 "There is no /etc/x."));
}

BOOST_FIXTURE_TEST_CASE(a_command_answers_with_its_output_and_its_end, house) {
  const auto said = text("shell_exec", R"({"command":"echo hi"})");
  BOOST_TEST(has(said, "hi\n[exit 0 · "), said);
  // A program that fails is no failure of the call.
  BOOST_TEST(has(text("shell_exec", R"({"command":"false"})"), "[exit 1 · "));
}

BOOST_FIXTURE_TEST_CASE(a_command_that_goes_on_is_handed_back, house) {
  std::optional<outcome> came;
  begin("shell_exec", R"({"command":"wait"})", came);
  BOOST_TEST(!came.has_value());
  step();
  BOOST_REQUIRE(came);
  BOOST_TEST(has(came->text, "still running after 45.0 s: process_id=p_"),
             came->text);
  const auto at = came->text.find("p_");
  const auto id = came->text.substr(at, came->text.find(';', at) - at);
  BOOST_TEST(
    has(text("process_list"), R"("command":"wait","state":"running")"));
  std::optional<outcome> read;
  begin("process_output", R"({"process_id":")" + id + R"("})", read);
  step();
  BOOST_REQUIRE(read);
  BOOST_TEST(has(read->text, "[nothing new]"), read->text);
  BOOST_TEST(has(text("process_kill", R"({"process_id":")" + id + R"("})"),
                 "killed by signal 15"));
  BOOST_TEST(has(text("process_kill", R"({"process_id":")" + id + R"("})"),
                 "already ended"));
  BOOST_TEST(has(refused("process_output", R"({"process_id":"p_none"})"),
                 "There is no process p_none."));
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_command_is_killed_and_not_answered, house) {
  std::optional<outcome> came;
  auto begun = begin("shell_exec", R"({"command":"wait"})", came);
  BOOST_REQUIRE(begun);
  begun->cancel();
  step();
  BOOST_TEST(!came.has_value());
  BOOST_TEST(has(text("process_list"), R"("state":"exited")"));
}

BOOST_FIXTURE_TEST_CASE(a_command_has_no_nul, house) {
  BOOST_TEST(
    has(refused("shell_exec", R"({"command":"echo a\u0000b"})"), "NUL"));
}

BOOST_FIXTURE_TEST_CASE(what_was_written_early_is_progress, house) {
  std::optional<outcome> came;
  begin("shell_exec", R"({"command":"wait","stdin":"first\nsecond\n"})", came);
  BOOST_REQUIRE(!lines.empty());
  BOOST_TEST(lines[0] == "second");
}

BOOST_FIXTURE_TEST_CASE(a_call_that_was_answered_is_let_go, house) {
  std::optional<outcome> came;
  auto begun = begin("shell_exec", R"({"command":"echo hi"})", came);
  BOOST_REQUIRE(came);
  std::weak_ptr<toolkit_call> left = begun;
  begun->on_cancel([begun] {});
  begun.reset();
  step();
  BOOST_TEST(left.expired());
}

BOOST_FIXTURE_TEST_CASE(giant_output_is_cut_in_the_middle, house) {
  std::string words;
  for (int i = 0; i < 50'000; ++i)
    words += " word" + std::to_string(i);
  auto came = call("shell_exec",
                   R"({"command":"echo)" + words.substr(0, 90'000) + R"("})");
  BOOST_TEST(came.text.size() < 40'000u);
  BOOST_TEST(has(came.text, "characters (0 lines) left out"));
  BOOST_TEST(has(came.text, "[exit 0"));
}

BOOST_FIXTURE_TEST_CASE(code_answers_with_output_value_and_end, house) {
  const auto said = text("python_exec", R"({"code":"hi"})");
  BOOST_TEST(has(said, "hi\n→ hi\n[ok · "), said);
  const auto raised = text("node_exec", R"({"code":"raise"})");
  BOOST_TEST(has(raised, "Error: it was asked to\n[Error · "), raised);
  BOOST_TEST(
    has(text("python_exec", R"({"code":"a","context":"other"})"), "[ok"));
}

BOOST_FIXTURE_TEST_CASE(code_that_goes_on_keeps_its_context_busy, house) {
  std::optional<outcome> came;
  begin("python_exec", R"({"code":"wait","context":"w"})", came);
  step();
  BOOST_REQUIRE(came);
  BOOST_TEST(has(came->text, "process_id=cell-1"), came->text);
  BOOST_TEST(has(refused("python_exec", R"({"code":"a","context":"w"})"),
                 "still runs cell-1"));
  BOOST_TEST(
    has(text("process_kill", R"({"process_id":"cell-1"})"), "[interrupted"));
  BOOST_TEST(has(text("python_exec", R"({"code":"a","context":"w"})"), "[ok"));
}

BOOST_FIXTURE_TEST_CASE(sessions_see_their_own_files_only, house) {
  text("file_write", R"({"file":"secret","content":"mine"})");
  session = "another chat";
  refused("file_read", R"({"file":"secret"})");
  session = "chat";
  BOOST_TEST(has(text("file_read", R"({"file":"secret"})"), "mine"));
  who.organization = organization_id::make();
  refused("file_read", R"({"file":"secret"})");
}

BOOST_FIXTURE_TEST_CASE(a_made_up_session_is_told_apart_from_none, house) {
  for (std::string id : {std::string{"chat"}, std::string{"sandbox-1"},
                         make_session_id(), std::string{"../x"}}) {
    const auto why = refused("file_list", R"({"session_id":")" + id + R"("})");
    BOOST_TEST(has(why, "leave session_id out, or call sandbox_create"), why);
  }
  // Of another organization, it is one that is not there.
  const auto made = json::parse_object(text("sandbox_create")).value();
  const std::string id{made.at("session_id").as_string()};
  const auto named
    = R"({"file":"a","content":"x","session_id":")" + id + R"("})";
  text("file_write", named);
  refused("file_read", R"({"file":"a"})");
  who.organization = organization_id::make();
  BOOST_TEST(has(refused("file_write", named), "There is no session"));
}

BOOST_FIXTURE_TEST_CASE(a_sandbox_that_has_ended_is_replaced_and_told, house) {
  text("file_write", R"({"file":"a","content":"x"})");
  BOOST_TEST(has(text("sandbox_info"), R"("state":"running")"));
  std::optional<sandbox_id> id;
  places.list(who, {}, [&](auto found) { id = found->items.at(0)->id; });
  places.remove(who, *id, [](auto) {});
  BOOST_TEST(has(text("sandbox_info"), R"("state":"none")"));
  const auto said = refused("file_read", R"({"file":"a"})");
  BOOST_TEST(said.starts_with("[new sandbox: the one before has ended"), said);
  BOOST_TEST(!has(refused("file_read", R"({"file":"a"})"), "[new sandbox"));
}

BOOST_FIXTURE_TEST_CASE(a_deleted_sandbox_makes_a_fresh_start, house) {
  BOOST_TEST(has(text("sandbox_delete"), "There was no sandbox."));
  text("file_write", R"({"file":"a","content":"x"})");
  BOOST_TEST(has(text("sandbox_delete"), "Deleted the sandbox"));
  BOOST_TEST(has(refused("file_read", R"({"file":"a"})"), "There is no a."));
}

BOOST_FIXTURE_TEST_CASE(what_is_out_of_reach_says_so, house) {
  places.next_failure
    = sandbox_error{sandbox_problem::queue_full, ec::exhausted, "no room"};
  BOOST_TEST(has(refused("file_list"), "no room. Busy or out of reach"));
  troupe::toolkit::toolkit none{nullptr, {}};
  std::optional<outcome> came;
  none.call(who, *find_tool("file_list"), {}, {}, {},
            [&](outcome what) { came = std::move(what); });
  BOOST_REQUIRE(came);
  BOOST_TEST(has(came->text, "no sandboxes"));
}

BOOST_FIXTURE_TEST_CASE(wrong_arguments_are_an_answer_with_every_mistake,
                        house) {
  const auto why = refused("file_read", R"({"fil":"a","line_count":0})");
  BOOST_TEST(has(why, "/file"), why);
  BOOST_TEST(has(why, "/line_count"), why);
  BOOST_TEST(has(why, "Correct them and call it again."), why);
}

BOOST_AUTO_TEST_SUITE_END()
