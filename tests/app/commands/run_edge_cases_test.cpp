// What `troupe run` and `troupe doctor` make of files and hosts that are not
// quite as usual, and what programs read when something fails.
#include "runtime/json/json.hpp"
#include "tests/app/typed.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_manners)

struct files {
  tests::temporary_directory folder;

  std::string write(const std::string& name, const std::string& text) {
    auto path = folder / name;
    std::ofstream{path} << text;
    return path.string();
  }
  outcome says(std::vector<std::string> words) {
    return run_program(std::move(words), folder.path());
  }
};

namespace {

json::object object_in(const outcome& s) {
  auto parsed = json::parse_object(s.out);
  BOOST_REQUIRE_MESSAGE(parsed, s.out << s.err);
  return *parsed;
}

} // namespace

BOOST_FIXTURE_TEST_CASE(a_script_runs_in_the_shell_of_its_first_line, files) {
  constexpr auto body = "\n[[ a == a ]] && echo \"${BASH_VERSION:+bash} $-\"\n";
  for (auto line : {"#!/bin/bash", "#!/usr/bin/env bash", "#! /usr/bin/bash\r",
                    "#!/usr/bin/env -S bash"}) {
    const auto s = says({"run", write("b.sh", std::string{line} + body)});
    BOOST_TEST(s.out.starts_with("bash "), line << ": " << s.out << s.err);
  }
  const auto with = says({"run", write("e.sh", "#!/bin/bash -ef\necho $-\n")});
  BOOST_TEST(contains(with.out, "ef"), with.err);
  BOOST_TEST(says({"run", write("f.sh", "#!/bin/bash\nexit 3\n")}).code == 1);
}

BOOST_FIXTURE_TEST_CASE(a_script_of_no_shell_of_ours_runs_as_any_other, files) {
  for (auto line : {"", "#!", "#!/bin/sh", "#!/no/such/bash", "#!/usr/bin/env",
                    "#!/usr/bin/python3", "#!/usr/bin/env fish", "#!bash"}) {
    const auto s = says(
      {"run", write("s.sh", std::string{line} + "\necho [$BASH_VERSION]\n")});
    if (!std::filesystem::read_symlink("/bin/sh").string().ends_with("bash"))
      BOOST_TEST(s.out == "[]\n", line << ": " << s.out << s.err);
  }
}

BOOST_FIXTURE_TEST_CASE(arguments_for_a_script_are_refused, files) {
  const auto script = write("s.sh", "echo x\n");
  const auto s = says({"run", script, "--args", R"({"a":1})"});
  BOOST_TEST(s.code == 2);
  BOOST_TEST(contains(s.err, "--args: shell scripts take no arguments"), s.err);
  BOOST_TEST(says({"run", script, "--args", "{}"}).out == "x\n");
}

BOOST_FIXTURE_TEST_CASE(a_failure_is_told_by_the_name_without_its_ending,
                        files) {
  // The function that was called has a name of its own.
  auto s
    = says({"run", write("tool.py", "def f():\n  raise ValueError('no')\n")});
  BOOST_TEST(contains(s.err, "Error executing function f: ValueError: no"),
             s.err);
  BOOST_TEST(contains(s.err, "\"tool.py\", line 2"), s.err);
  // None was reached: all there is to name is the file.
  const auto early = write("tool.py", "\nraise ValueError('no')\n");
  s = says({"run", early, "--args", "{}"});
  BOOST_TEST(contains(s.err, "Error executing function tool: ValueError: no"),
             s.err);
  BOOST_TEST(contains(s.err, "\"tool.py\", line 2"), s.err);
  // And a program is no function.
  s = says({"run", early});
  BOOST_TEST(contains(s.err, "Error executing code: ValueError: no"), s.err);
  BOOST_TEST(contains(s.err, "\"tool.py\", line 2"), s.err);
}

BOOST_FIXTURE_TEST_CASE(a_helper_behind_what_is_exported_is_not_called, files) {
  const auto file = write("t.ts",
                          "export function main(x: number) { return x }\n"
                          "function helper() { return 'helper' }\n");
  BOOST_TEST(says({"run", file, "--args", R"({"x":5})"}).out == "5\n");
}

BOOST_FIXTURE_TEST_CASE(programs_get_one_object_when_the_engine_fails, files) {
  const auto tool = write("t.py", "def f(): return 1\n");
  const auto nowhere = "--engine.data-dir=" + write("file", "") + "/data";
  auto s = says({"run", tool, "--json", "--pip", "six", nowhere});
  BOOST_TEST(s.code == 69, s.err);
  auto o = object_in(s);
  BOOST_TEST(o.at("status").as_string() == "error");
  BOOST_TEST(o.at("reason").as_string() == "start_failed");
  BOOST_TEST(contains(s.err, std::string{o.at("detail").as_string()}), s.err);
  BOOST_TEST(
    contains(std::string{o.at("detail").as_string()}, "open the package sets"));
  // Packages that cannot be had are the caller's business.
  s = says({"run", tool, "--json", "--pip", "six",
            "--engine.data-dir=" + (folder / "data").string(),
            "--local.python=/no/such/python"});
  BOOST_TEST(s.code == 2, s.err);
  o = object_in(s);
  BOOST_TEST(o.at("reason").as_string() == "start_failed");
  BOOST_TEST(contains(std::string{o.at("detail").as_string()},
                      "the packages could not be installed"));
}

BOOST_FIXTURE_TEST_CASE(a_file_may_stand_behind_two_dashes, files) {
  const auto file = write("-t.py", "def f(a: int = 1): return a\n");
  BOOST_TEST(says({"run", "--", file}).out == "1\n");
  BOOST_TEST(says({"run", "--args", R"({"a":2})", "--", file}).out == "2\n");
  const auto s = says({"run", "--", file, "--json"});
  BOOST_TEST(s.code == 2);
  BOOST_TEST(contains(s.err,
                      "unexpected argument '--json': no options are allowed "
                      "after --"),
             s.err);
}

BOOST_FIXTURE_TEST_CASE(the_doctor_says_which_languages_cannot_run, files) {
  const std::string python = "--local.python=/no/such/python";
  const std::string node = "--local.node=/no/such/node";
  auto s = says({"doctor", python, node});
  BOOST_TEST(s.code == 1);
  BOOST_TEST(contains(s.out,
                      "This host cannot run tools: no interpreter for Python "
                      "or TypeScript and JavaScript"),
             s.out);
  s = says({"doctor", python, node, "--json"});
  BOOST_TEST(s.code == 1);
  BOOST_TEST(!object_in(s).at("ready").as_bool());
  s = says({"doctor", node});
  BOOST_TEST(contains(s.out, ", but none in TypeScript and JavaScript"), s.out);
}

BOOST_AUTO_TEST_SUITE_END()
