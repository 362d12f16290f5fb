#include "runtime/json/json.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/read_files.hpp"
#include "tests/runtime/runner/plain_child.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(run_files_in_and_out)

namespace {

/// Runs happen in a directory of their own.
struct in_a_folder {
  in_a_folder() { fs::current_path(scratch.path()); }
  ~in_a_folder() { fs::current_path(before); }

  fs::path before = fs::current_path();
  tests::temporary_directory scratch;
};

prepared_run a_program(language lang, std::string source) {
  auto run = a_run(lang, std::move(source));
  run.function.clear();
  run.may_be_script = true;
  return run;
}

std::string names_of(const run_result& r) {
  std::string all;
  for (const auto& f : r.files)
    all += f.name + "=" + f.content + ";";
  return all;
}

bool notes_have(const run_result& r, std::string_view text) {
  return std::ranges::any_of(r.notes, [&](const std::string& note) {
    return note.find(text) != note.npos;
  });
}

struct hostile {
  language lang;
  const char* source;
  const char* note;
};
std::ostream& operator<<(std::ostream& out, const hostile& h) {
  return out << h.source;
}

// Each leaves "ok.txt" beside what must not come back.
const hostile attempts[] = {
  {language::python,
   "import os\nos.symlink('/etc/passwd', 'a.txt')\n"
   "os.symlink('/etc', 'd.txt')\nopen('ok.txt', 'w').write('ok')",
   "'a.txt' is left out: a symbolic link"},
  {language::python,
   "import os\nos.mkfifo('a.txt')\nopen('ok.txt', 'w').write('ok')",
   "'a.txt' is left out: not a regular file"},
  {language::python,
   "open('a.txt', 'w').truncate(1 << 40)\nopen('ok.txt', 'w').write('ok')",
   "'a.txt' is left out: the files of a run may have"},
  {language::python,
   "import os\nos.mkdir('many')\nopen('ok.txt', 'w').write('ok')\n"
   "for i in range(60000): os.link('ok.txt', f'many/{i}.txt')",
   "only 50000 entries of directories were looked at"},
  {language::python,
   "import socket\nsocket.socket(socket.AF_UNIX).bind('a.txt')\n"
   "open('ok.txt', 'w').write('ok')",
   "'a.txt' is left out"},
  {language::javascript,
   "const fs = require('fs')\nfs.symlinkSync('/etc/passwd', 'a.txt')\n"
   "fs.writeFileSync('ok.txt', 'ok')",
   "'a.txt' is left out: a symbolic link"},
  {language::javascript,
   "const fs = require('fs')\n"
   "require('child_process').execFileSync('mkfifo', ['a.txt'])\n"
   "fs.writeFileSync('ok.txt', 'ok')",
   "'a.txt' is left out: not a regular file"},
  {language::javascript,
   "const fs = require('fs')\nfs.writeFileSync('a.txt', '')\n"
   "fs.truncateSync('a.txt', 2 ** 40)\nfs.writeFileSync('ok.txt', 'ok')",
   "'a.txt' is left out: the files of a run may have"},
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(of_a_runner, in_a_folder)

BOOST_AUTO_TEST_CASE(
  a_run_finds_its_files_and_gives_back_what_it_is_asked_for) {
  for (auto run :
       {a_program(language::python,
                  "import os\ntext = open('data/in.csv').read()\n"
                  "open('out.bin', 'wb').write(b'\\xff\\x00' + text.encode())\n"
                  "os.makedirs('deep/er')\n"
                  "open('deep/er/a.txt', 'w').write('A')\n"
                  "open('other.log', 'w').write('no')"),
        a_program(
          language::javascript,
          "const fs = require('fs')\n"
          "const text = fs.readFileSync('data/in.csv', 'utf8')\n"
          "fs.writeFileSync('out.bin', Buffer.concat([Buffer.from([255,"
          " 0]), Buffer.from(text)]))\n"
          "fs.mkdirSync('deep/er', { recursive: true })\n"
          "setTimeout(() => fs.writeFileSync('deep/er/a.txt', 'A'), 5)\n"
          "fs.writeFileSync('other.log', 'no')")}) {
    run.files = {{"data/in.csv", "1,2"}, {"empty", ""}};
    run.outputs = {"*.bin", "**/*.txt", "none/*"};
    const auto seen = run_plainly(run);
    BOOST_TEST(seen.failure.friendly == "");
    BOOST_REQUIRE(seen.files.size() == 2u);
    BOOST_TEST(seen.files[0].name == "out.bin");
    BOOST_TEST(seen.files[0].content == std::string("\xff\0", 2) + "1,2");
    BOOST_TEST(seen.files[0].size == 5u);
    BOOST_TEST(seen.files[0].media_type == "application/octet-stream");
    BOOST_TEST(seen.files[1].name == "deep/er/a.txt");
    BOOST_TEST(seen.files[1].media_type == "text/plain");
    fs::remove_all("deep");
  }
}

BOOST_AUTO_TEST_CASE(a_command_has_files_and_ends_as_it_did) {
  prepared_run run;
  run.kind = run_kind::command;
  run.command = "cat - in.txt > out.txt; echo said; exit 3";
  run.stdin_text = "typed, ";
  run.files = {{"in.txt", "sent"}};
  run.outputs = {"out.txt"};
  auto seen = run_plainly(run);
  BOOST_TEST((seen.status == run_status::error));
  BOOST_TEST(seen.exit_code == 3);
  BOOST_TEST(seen.stdout_text == "said\n");
  BOOST_TEST(names_of(seen) == "out.txt=typed, sent;");
  run.command = "kill -9 $$";
  seen = run_plainly(run);
  BOOST_TEST(seen.signal == 9);
  run.command = "true";
  run.files = {{"in.txt", ""}, {"in.txt/x", ""}};
  seen = run_plainly(run);
  BOOST_TEST((seen.status == run_status::error));
  BOOST_TEST(seen.failure.message.find("in.txt/x") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_that_fails_still_gives_back_what_it_left) {
  for (auto run : {a_program(language::python,
                             "open('a.log', 'w').write('so far')\n1 / 0"),
                   a_program(language::javascript,
                             "require('fs').writeFileSync('a.log', 'so far')\n"
                             "throw new Error('no')")}) {
    run.outputs = {"*.log"};
    const auto seen = run_plainly(run);
    BOOST_TEST((seen.status == run_status::error));
    BOOST_TEST(names_of(seen) == "a.log=so far;");
  }
}

BOOST_DATA_TEST_CASE(only_regular_files_within_the_bounds_come_back, attempts) {
  auto run = a_program(sample.lang, sample.source);
  run.outputs = {"**/*.txt", "ok.txt"};
  run.file_bounds.bytes_out = 1u << 20;
  run.file_bounds.count = 10;
  const auto seen = run_plainly(run, std::chrono::seconds{120});
  BOOST_TEST((seen.status == run_status::success), seen.failure.friendly);
  BOOST_TEST(notes_have(seen, sample.note),
             (seen.notes.empty() ? "" : seen.notes.front()));
  BOOST_TEST(seen.files.size() <= 10u);
  BOOST_TEST(std::ranges::any_of(
    seen.files, [](const auto& f) { return f.content == "ok"; }));
  for (const auto& f : seen.files)
    BOOST_TEST(f.content == "ok");
}

BOOST_AUTO_TEST_CASE(more_than_was_allowed_is_left_out) {
  auto run = a_program(language::python,
                       "for i in range(5): open(f'{i}.txt', 'w').write('xx')");
  run.outputs = {"*.txt"};
  run.file_bounds.count = 3;
  auto seen = run_plainly(run);
  BOOST_TEST(seen.files.size() == 3u);
  BOOST_TEST(notes_have(seen, "more than 3 files match"));
  run.file_bounds.count = 100;
  run.file_bounds.bytes_out = 5;
  seen = run_plainly(run);
  BOOST_TEST(seen.files.size() == 2u);
  BOOST_TEST(notes_have(seen, "may have 1 more bytes"));
}

BOOST_AUTO_TEST_CASE(a_forged_answer_is_refused) {
  auto run = a_run(language::python, "");
  run.outputs = {"*"};
  run.file_bounds = {.count = 2, .bytes_in = 1, .bytes_out = 4};
  const char* const heads[]{R"({"files":[["../a",1]]})",
                            R"({"files":[["/a",1]]})",
                            R"({"files":[["a",5]]})",
                            R"({"files":[["a",-1]]})",
                            R"({"files":[["a",1],["a",1]]})",
                            R"({"files":[["a",0],["b",0],["c",0]]})",
                            R"({"files":[["a"]]})",
                            R"({"files":["a"]})",
                            R"({"files":[["a\u0000",1]]})",
                            R"({"files":[[1,1]]})",
                            R"({"displays":[[["png",1]]]})",
                            R"({"displays":[["image/png",1]]})",
                            R"({"displays":[[["a/b\n",1]]]})",
                            R"({})",
                            R"({"files":[["a",18446744073709551615]]})"};
  for (const char* head : heads) {
    run_result seen;
    const auto taken
      = script::take_files(run, json::parse_object(head).value(), "xx", seen);
    BOOST_TEST(!taken, head);
    BOOST_TEST(seen.files.empty());
    BOOST_TEST(seen.displays.empty());
  }
  run_result seen;
  BOOST_TEST(!script::take_files(run, {}, "12345", seen));
  run.outputs.clear();
  BOOST_TEST(!script::take_files(
    run, json::parse_object(R"({"files":[["a",1]]})").value(), "x", seen));
}

BOOST_AUTO_TEST_CASE(a_program_shows_values_in_all_their_forms) {
  auto seen = run_plainly(
    a_program(language::python,
              "class Chart:\n"
              "    def _repr_png_(self): return b'\\x89PNG'\n"
              "    def _repr_html_(self): return '<b>chart</b>'\n"
              "    def _repr_json_(self): return {'a': 1}\n"
              "class Bad:\n"
              "    def _repr_html_(self): raise ValueError('no')\n"
              "display(Chart())\nBad()"));
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_REQUIRE(seen.displays.size() == 1u);
  const display_bundle wanted{{"image/png", "\x89PNG"},
                              {"text/html", "<b>chart</b>"},
                              {"application/json", R"({"a": 1})"}};
  BOOST_TEST((seen.displays[0] == wanted));
  seen = run_plainly(a_program(
    language::javascript,
    "({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': '<b>' }) })"));
  BOOST_REQUIRE(seen.displays.size() == 1u);
  BOOST_TEST((seen.displays[0] == display_bundle{{"text/html", "<b>"}}));
  // A call has its value and nothing else.
  auto call = a_run(language::python,
                    "class C:\n    def _repr_html_(self): return 'x'\n"
                    "def f(): return C()");
  BOOST_TEST(run_plainly(call).displays.empty());
}

BOOST_AUTO_TEST_CASE(bytes_stay_bytes) {
  struct {
    language lang;
    const char* source;
    const char* json;
    const char* encoding;
  } const cases[]{
    {language::python, "def f(): return b'ab'", R"("YWI=")", "base64"},
    {language::python, "def f(): return b'\\xff\\xfe'", R"("//4=")", "base64"},
    {language::python, "def f(): return [b'ab', 'ab']",
     R"([{"$bytes":"YWI="},"ab"])", ""},
    {language::javascript, "function f() { return Buffer.from('ab') }",
     R"("YWI=")", "base64"},
    {language::javascript,
     "function f() { return { a: new Uint8Array([255]) } }",
     R"({"a":{"$bytes":"/w=="}})", ""},
  };
  for (const auto& c : cases) {
    auto run = a_run(c.lang, c.source);
    auto seen = run_plainly(run);
    BOOST_TEST(seen.value_json == c.json);
    BOOST_TEST(seen.value_encoding == c.encoding);
    BOOST_TEST(!seen.value_is_text_fallback);
    run.as_letta = true; // text where they are UTF-8, else base64 and a flag
    seen = run_plainly(run);
    BOOST_TEST(seen.value_encoding == "");
    BOOST_TEST(seen.value_json.find("$bytes") == std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
