#include "runtime/json/json.hpp"
#include "runtime/settings/key.hpp"
#include "tests/app/typed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(command_line)

namespace {

struct variable {
  const char* name;
  variable(const char* n, const char* value) : name{n} {
    ::setenv(n, value, 1);
  }
  ~variable() { ::unsetenv(name); }
};

} // namespace

BOOST_AUTO_TEST_CASE(explains_itself_with_examples_and_exit_codes) {
  auto help = run({"--help"});
  BOOST_TEST(help.code == 0);
  BOOST_TEST(contains(help.out, "Examples:"));
  BOOST_TEST(contains(help.out, "Exit codes: 0"));
  BOOST_TEST(help.err.empty());
  for (auto command : {"serve", "config", "version", "completion"})
    BOOST_TEST(contains(help.out, command));
  BOOST_TEST(contains(run({"serve", "--help"}).out, "--listen"));
  BOOST_TEST(!contains(run({"serve", "--help"}).out, "troupe tool put"));
  auto shared = run({"help", "options"});
  BOOST_TEST(contains(shared.out, "--server URL"), shared.out);
  BOOST_TEST(contains(shared.out, "--group.key=value"), shared.out);
}

BOOST_AUTO_TEST_CASE(shows_the_help_when_no_command_is_named) {
  auto bare = run({});
  BOOST_TEST(bare.code == exit_usage);
  BOOST_TEST(contains(bare.err, "Usage: troupe"));
  BOOST_TEST(contains(run({"config"}).err, "Usage: troupe config"));
}

BOOST_AUTO_TEST_CASE(suggests_the_nearest_command_and_option) {
  auto bad = run({"serv"});
  BOOST_TEST(bad.code == exit_usage);
  BOOST_TEST(bad.err
             == "troupe: unknown command 'serv'; did you mean 'serve'? "
                "See troupe --help.\n");
  BOOST_TEST(contains(run({"config", "shwo"}).err, "did you mean 'show'?"));
  BOOST_TEST(contains(run({"serve", "--lisen", "x:1"}).err,
                      "did you mean '--listen'? See troupe serve --help."));
  BOOST_TEST(contains(run({"tool", "list", "--jsn"}).err,
                      "did you mean '--json'? See troupe tool list --help."));
  BOOST_TEST(contains(run({"serve", "--http.lisen=x:1"}).err,
                      "did you mean '--http.listen'?"));
  BOOST_TEST(run({"version", "extra"}).err
             == "troupe: unexpected argument 'extra'. "
                "See troupe version --help.\n");
}

BOOST_AUTO_TEST_CASE(takes_options_before_the_command) {
  BOOST_TEST(run({"--json", "version"}).out == run({"version", "--json"}).out);
  auto before = run({"--http.listen", "127.0.0.1:9", "config", "--origin",
                     "show", "--aio.port=99"});
  BOOST_TEST(before.code == 0);
  BOOST_TEST(contains(before.out, "127.0.0.1:9\" ; --http.listen"), before.out);
  BOOST_TEST(contains(before.out, "port = 99 ; --aio.port"), before.out);
  // One that takes a value takes no word of the command, and no more words.
  BOOST_TEST(
    contains(run({"--server", "nonsense", "runs", "list"}).err, "--server"));
  auto greedy = run({"--pip", "six", "run", "/nowhere/tool.py"});
  BOOST_TEST(contains(greedy.err, "/nowhere/tool.py"), greedy.err);
}

BOOST_AUTO_TEST_CASE(refuses_an_early_option_where_it_means_nothing) {
  BOOST_TEST(run({"--server", "http://a", "version"}).err
             == "troupe: unknown option '--server'. "
                "See troupe version --help.\n");
  BOOST_TEST(contains(run({"--sever", "http://a", "runs", "list"}).err,
                      "did you mean '--server'? See troupe runs list --help."));
  auto group = run({"--server", "http://a", "runs"});
  BOOST_TEST(group.code == exit_usage);
  BOOST_TEST(contains(group.err, "Usage: troupe runs"), group.err);
  BOOST_TEST(contains(run({"--server", "http://a", "runns"}).err,
                      "did you mean 'runs'?"));
  BOOST_TEST(
    contains(run({"--nothing-near"}).err, "unknown option '--nothing-near'"));
}

BOOST_AUTO_TEST_CASE(an_option_that_repeats_takes_one_word_each_time) {
  auto put = run({"tool", "put", "--tag", "a", "--tag", "b", "/nowhere.py"});
  BOOST_TEST(!contains(put.err, "required"), put.err);
  auto made = run({"key", "create", "--scope", "run", "ci", "--server", "no"});
  BOOST_TEST(!contains(made.err, "--scope"), made.err);
}

BOOST_AUTO_TEST_CASE(explains_a_command_that_one_asks_about) {
  auto help = run({"help", "tool", "put"});
  BOOST_TEST(help.code == 0);
  BOOST_TEST(help.out == run({"tool", "put", "--help"}).out);
  BOOST_TEST(contains(run({"help"}).out, "Examples:"));
  auto bad = run({"help", "tool", "putt"});
  BOOST_TEST(bad.code == exit_usage);
  BOOST_TEST(contains(bad.err, "did you mean 'put'?"), bad.err);
}

BOOST_AUTO_TEST_CASE(refuses_a_missing_value_and_a_wrong_choice) {
  BOOST_TEST(run({"serve", "--listen"}).code == exit_usage);
  BOOST_TEST(run({"completion", "tcsh"}).code == exit_usage);
  BOOST_TEST(run({"completion"}).code == exit_usage);
}

BOOST_AUTO_TEST_CASE(prints_its_version) {
  BOOST_TEST(run({"version"}).out == "troupe " TROUPE_VERSION "\n");
  BOOST_TEST(run({"--version"}).out == "troupe " TROUPE_VERSION "\n");
  auto parsed = json::parse_object(run({"version", "--json"}).out);
  BOOST_TEST_REQUIRE(!!parsed);
  BOOST_TEST(parsed->at("version") == TROUPE_VERSION);
}

BOOST_AUTO_TEST_CASE(shows_settings_with_their_origin_and_without_secrets) {
  variable key{"E2B_API_KEY", "hunter2hunter2"};
  auto shown = run({"config", "show", "--origin", "--aio.port=99"});
  BOOST_TEST(shown.code == 0);
  BOOST_TEST(contains(shown.out, "port = 99 ; --aio.port"));
  BOOST_TEST(contains(shown.out, "api-key = \"***\" ; E2B_API_KEY"));
  BOOST_TEST(!contains(shown.out, "hunter2"));
  auto as_json = run({"config", "show", "--json", "--aio.port=99"});
  auto parsed = json::parse_object(as_json.out);
  BOOST_TEST_REQUIRE(!!parsed);
  auto& port = parsed->at("aio").as_object().at("port").as_object();
  BOOST_TEST(port.at("value") == 99);
  BOOST_TEST(port.at("origin") == "flag");
  BOOST_TEST(!contains(as_json.out, "hunter2"));
}

BOOST_AUTO_TEST_CASE(checks_a_config_file_and_names_line_and_key) {
  auto path = (std::filesystem::temp_directory_path()
               / ("troupe-cli-" + std::to_string(::getpid()) + ".ini"))
                .string();
  std::ofstream{path} << "[http]\nlistn = \"a:1\"\n";
  auto bad = run({"config", "check", "--config-file", path.c_str()});
  BOOST_TEST(bad.code == exit_usage);
  BOOST_TEST(
    bad.err
    == "troupe: " + path
      + ":2: http.listn is not a setting; did you mean http.listen?\n");
  BOOST_TEST(
    run({"serve", "--check-config", "--config-file", path.c_str()}).code
    == exit_usage);
  auto refused = json::parse_object(
    run({"serve", "--check-config", "--json", "--config-file", path.c_str()})
      .out);
  BOOST_TEST_REQUIRE(!!refused);
  BOOST_TEST(refused->at("ok") == false);
  std::ofstream{path} << "[http]\nlisten = \"a:1\"\n";
  auto good = run({"config", "check", "--config-file", path.c_str()});
  BOOST_TEST(good.code == 0);
  BOOST_TEST(good.out == path + " is valid (1 setting)\n");
  for (auto words : {std::vector{"config", "check"},
                     std::vector{"serve", "--check-config"}}) {
    words.insert(words.end(), {"--json", "--config-file", path.c_str()});
    auto told = json::parse_object(run(words).out);
    BOOST_TEST_REQUIRE(!!told);
    BOOST_TEST(told->at("ok") == true);
    BOOST_TEST(told->at("settings") == 1);
  }
  BOOST_TEST(contains(run({"serve", "--json"}).err, "--check-config"));
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(explains_every_setting) {
  auto all = run({"config", "keys"}).out;
  for (auto& key : setting_keys())
    BOOST_TEST(contains(all, key.path()), key.path());
  BOOST_TEST(run({"config", "keys", "nonsense"}).code == exit_usage);
  BOOST_TEST(contains(run({"config", "keys", "aio", "--json"}).out,
                      R"("SANDBOX_PORT")"));
}

BOOST_AUTO_TEST_CASE(completes_commands_options_and_settings) {
  BOOST_TEST(run({"__complete", "config", "sh"}).out == "show\n");
  BOOST_TEST(run({"__complete", "ser"}).out == "serve\n");
  BOOST_TEST(run({"__complete", "serve", "--http.li"}).out
             == "--http.listen\n");
  BOOST_TEST(contains(run({"__complete", ""}).out, "config\n"));
  for (auto shell : {"bash", "zsh", "fish"})
    BOOST_TEST(contains(run({"completion", shell}).out, "troupe __complete"));
}

BOOST_AUTO_TEST_SUITE_END()
