// Commands that need an engine: here each opens one of its own, on data that
// outlives it, and one test has an engine running beside them.
#include "app/cli/table.hpp"
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"

#include <fstream>

using namespace troupe;

namespace {

struct fixture {
  temporary_folder place;
  std::string data = "--data-dir=" + (place.path / "data").string();
  // Nobody may listen there, so nobody does.
  std::string listen = "--listen=127.0.0.1:1";

  outcome typed(std::vector<std::string> words) {
    words.push_back(data);
    words.push_back(listen);
    return run_program(std::move(words), place.path);
  }
  std::string file(const std::string& name, std::string_view text) {
    auto path = place.path / name;
    std::ofstream{path} << text;
    return path.string();
  }
  json::value parsed(const std::string& text) {
    auto v = json::parse(text);
    BOOST_REQUIRE_MESSAGE(!!v, text);
    return std::move(*v);
  }
};

// Made by a Letta server's own code.
constexpr auto sealed_by_letta
  = "AAECAwQFBgcICQoLDA0OD2RlZmdoaWprbG1ubyK4vS30Yeq/"
    "uxjs2Z9050ozg/1txo1hDH4lyvvN";
constexpr auto key_of_letta = "letta-test-key";
constexpr auto plain_of_letta = "s3cret-v"; // how it begins

constexpr auto source = R"(
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a (int): The first.
        b (int): The second.
    """
    return a + b
)";

} // namespace

BOOST_FIXTURE_TEST_SUITE(session_commands, fixture)

BOOST_AUTO_TEST_CASE(keep_a_tool_and_run_it) {
  auto path = file("add.py", source);
  auto put = typed({"tool", "put", path, "--tag", "math", "--json"});
  BOOST_TEST_REQUIRE(put.code == 0, put.err);
  auto tool = parsed(put.out).as_object();
  BOOST_TEST(tool.at("name") == "add");
  BOOST_TEST(tool.at("description") == "Add two numbers.");

  auto listed = typed({"tool", "list"});
  BOOST_TEST(contains(listed.out, "NAME"));
  BOOST_TEST(contains(listed.out, "math"));
  auto shown = typed({"tool", "show", "add", "--source"});
  BOOST_TEST(contains(shown.out, "return a + b"));

  auto ran = typed({"tool", "run", "add", "--args", R"({"a": 41})"});
  BOOST_TEST(ran.code == 0, ran.err);
  BOOST_TEST(ran.out == "42\n");
  auto wrong = typed({"tool", "run", "add", "--args", R"({"a": "x"})"});
  BOOST_TEST(wrong.code != 0);
  BOOST_TEST(wrong.out == "");

  BOOST_TEST(typed({"tool", "delete", "add"}).code == 0);
  auto gone = typed({"tool", "show", "add"});
  BOOST_TEST(gone.code == exit_not_found);
  BOOST_TEST(gone.err != "");
}

BOOST_AUTO_TEST_CASE(name_the_option_that_is_wrong) {
  auto no_file = typed({"tool", "put", (place.path / "none.py").string()});
  BOOST_TEST(no_file.code == exit_usage);
  BOOST_TEST(contains(no_file.err, "FILE"));
  auto no_type = typed({"tool", "put", file("tool.txt", source)});
  BOOST_TEST(contains(no_type.err, "--type"));
  auto no_json = typed({"tool", "run", "add", "--args", "{"});
  BOOST_TEST(contains(no_json.err, "--args"));
  auto no_key = typed({"key", "create", "k", "--org", "nobody"});
  BOOST_TEST(contains(no_key.err, "--org"));
  BOOST_TEST(contains(no_key.err, "`new`"), no_key.err);
  auto no_file_of_runs = typed({"batch", file("runs", "{]\n")});
  BOOST_TEST(contains(no_file_of_runs.err, "FILE, request 1"));
  auto not_sure = typed({"org", "delete", "org-x"});
  BOOST_TEST(contains(not_sure.err, "--yes"), not_sure.err);
  auto nobody = typed({"tool", "run", "add", "--async"});
  BOOST_TEST(contains(nobody.err, "troupe serve"), nobody.err);
}

BOOST_AUTO_TEST_CASE(show_runs_and_what_came_of_them) {
  serving engine{place};
  listen = "--server=http://" + engine.address();
  auto path = file(
    "add.py",
    std::string{source}.insert(std::string_view{source}.find("    return"),
                               "    print('adding')\n"));
  BOOST_TEST_REQUIRE(typed({"tool", "put", path}).code == 0);
  auto live
    = typed({"tool", "run", "add", "--args", R"({"a": 41})", "--stream"});
  BOOST_TEST(live.out == "42\n");
  BOOST_TEST(live.err == "adding\n"); // once, and no status line in a file

  auto begun
    = typed({"tool", "run", "add", "--args", R"({"a": 1})", "--async"});
  BOOST_TEST_REQUIRE(begun.code == 0, begun.err);
  auto id = begun.out.substr(0, begun.out.size() - 1);
  auto followed = typed({"runs", "follow", id});
  BOOST_TEST(followed.code == 0, followed.err);
  BOOST_TEST(followed.out == "2\n");
  BOOST_TEST(followed.err == "adding\n");
  BOOST_TEST(typed({"runs", "logs", id}).out == "adding\n");
  auto shown = parsed(typed({"runs", "show", id}).out);
  BOOST_TEST(cell(shown.at("result"), "value") == "2");
  auto all = typed({"runs", "list"}).out;
  BOOST_TEST(contains(all, id), all);
  BOOST_TEST(contains(all, "success"), all);
  auto newest = parsed(typed({"runs", "list", "-n", "1", "--json"}).out);
  BOOST_TEST(newest.as_array().size() == 1u);
  BOOST_TEST(typed({"runs", "cancel", id}).code == 0);
  BOOST_TEST(typed({"runs", "show", "run-x"}).code == exit_not_found);

  auto plan = typed({"runs", "explain", "add", "--args", R"({"a": 1})"});
  BOOST_TEST(plan.code == 0, plan.err);
  BOOST_TEST(contains(plan.out, "local"), plan.out);
  BOOST_TEST(contains(plan.out, "LETTA_TOOL_ID"), plan.out);
  auto backends = typed({"backend", "list"});
  BOOST_TEST(contains(backends.out, "closed"), backends.out << backends.err);
}

BOOST_AUTO_TEST_CASE(run_a_batch_and_print_each_as_it_ends) {
  auto path = file("add.py", source);
  BOOST_TEST_REQUIRE(typed({"tool", "put", path}).code == 0);
  auto lines = file("runs.jsonl",
                    R"({"tool_name": "add", "args": {"a": 1}})"
                    "\n\n"
                    R"({"tool_name": "add", "args": {"a": "x"}})"
                    "\n");
  auto done = typed({"batch", lines, "--concurrency", "1"});
  BOOST_TEST(done.code == exit_tool_failed);
  BOOST_TEST(contains(done.out, "0  success  2\n"), done.out);
  BOOST_TEST(contains(done.out, "1  invalid_request  "), done.out);
  BOOST_TEST(done.err == "troupe: 1 of 2 failed\n");
  auto list = file("runs.json", R"([{"tool_name": "add", "args": {"a": 2}}])");
  auto fine = typed({"batch", list, "--json"});
  BOOST_TEST(fine.code == 0, fine.err);
  BOOST_TEST(contains(fine.out, R"("value":3)"), fine.out);
}

BOOST_AUTO_TEST_CASE(tell_programs_what_they_did) {
  auto set = typed({"var", "set", "A=1", "B=2", "--json"});
  BOOST_TEST(set.out == "{\"set\":[\"A\",\"B\"]}\n");
  auto unset = typed({"var", "unset", "A", "--json"});
  BOOST_TEST(unset.out == "{\"unset\":[\"A\"]}\n");
  auto gone = typed({"sandbox-config", "delete", "local", "--json"});
  BOOST_TEST(gone.out == "{\"deleted\":\"local\"}\n");
  BOOST_TEST(typed({"packages", "list", "--json"}).out == "[]\n");
  BOOST_TEST(contains(typed({"org", "list"}).out, "VARIABLES"));
  BOOST_TEST(
    contains(typed({"org", "show", "--json"}).out, "\"can_run\":true"));
}

BOOST_AUTO_TEST_CASE(keep_variables_that_tools_see_and_nobody_reads) {
  BOOST_TEST(typed({"var", "set", "GREETING=hello-secret"}).code == 0);
  auto listed = typed({"var", "list"});
  BOOST_TEST(contains(listed.out, "GREETING"));
  BOOST_TEST(!contains(listed.out, "hello-secret"));

  auto path = file("greet.py",
                   "import os\ndef greet() -> str:\n    \"\"\"Say "
                   "it.\"\"\"\n    return os.environ['GREETING']\n");
  BOOST_TEST(typed({"tool", "put", path}).code == 0);
  BOOST_TEST(typed({"tool", "run", "greet"}).out == "\"hello-secret\"\n");

  BOOST_TEST(typed({"var", "unset", "GREETING"}).code == 0);
  auto again = typed({"var", "unset", "GREETING"});
  BOOST_TEST(again.code == exit_not_found);
  BOOST_TEST(contains(again.err, "is not set"));
  auto failed = typed({"tool", "run", "greet"});
  BOOST_TEST(failed.code == exit_tool_failed);
  BOOST_TEST(contains(failed.err, "KeyError"));
}

BOOST_AUTO_TEST_CASE(keep_variables_of_an_agent) {
  BOOST_TEST(typed({"var", "set", "--agent", "agent-1", "A=1"}).code == 0);
  BOOST_TEST(contains(typed({"var", "list", "--agent", "agent-1"}).out, "A "));
  BOOST_TEST(typed({"var", "unset", "--agent", "agent-1", "A"}).code == 0);
  BOOST_TEST(!contains(typed({"var", "list", "--agent", "agent-1"}).out, "A "));
}

BOOST_AUTO_TEST_CASE(take_over_what_a_letta_server_stored) {
  auto csv = file("vars.csv",
                  "key,value_enc\nPLAIN,\"a \"\"b\"\", c\"\nSEALED,"
                    + std::string{sealed_by_letta} + "\n");
  auto no_key = typed({"var", "import", csv});
  BOOST_TEST(no_key.code == exit_usage);
  BOOST_TEST(contains(no_key.err, "LETTA_ENCRYPTION_KEY"), no_key.err);
  ::setenv("LETTA_ENCRYPTION_KEY", "another key", 1);
  auto wrong = typed({"var", "import", csv});
  BOOST_TEST(wrong.code != 0);
  BOOST_TEST(contains(wrong.err, "SEALED"), wrong.err);
  BOOST_TEST(!contains(typed({"var", "list"}).out, "PLAIN")); // all or nothing
  ::setenv("LETTA_ENCRYPTION_KEY", key_of_letta, 1);
  auto taken = typed({"var", "import", csv});
  BOOST_TEST(taken.code == 0, taken.err);
  BOOST_TEST(contains(taken.out, "imported PLAIN,SEALED"));
  BOOST_TEST(!contains(taken.out + taken.err, plain_of_letta));
  auto agents = file("vars.json",
                     R"([{"key":"A","value_enc":")"
                       + std::string{sealed_by_letta} + "\"}]");
  BOOST_TEST(typed({"var", "import", agents, "--agent", "agent-1"}).code == 0);
  ::unsetenv("LETTA_ENCRYPTION_KEY");
  BOOST_TEST(contains(typed({"var", "list", "--agent", "agent-1"}).out, "A "));
  auto path = file("show.py",
                   "import os\ndef show() -> str:\n    \"\"\"Show.\"\"\"\n"
                   "    return os.environ['PLAIN'] + os.environ['SEALED']\n");
  BOOST_TEST(typed({"tool", "put", path}).code == 0);
  auto shown = typed({"tool", "run", "show"});
  BOOST_TEST(contains(shown.out, plain_of_letta), shown.out << shown.err);
  BOOST_TEST(contains(shown.out, R"(a \"b\", c)"), shown.out);
}

BOOST_AUTO_TEST_CASE(say_how_tools_run) {
  auto shown = typed({"sandbox-config", "show", "local"});
  BOOST_TEST(shown.code == 0, shown.err);
  BOOST_TEST(contains(shown.out, "\"type\":\"local\""));
  const auto listed = typed({"sandbox-config", "list"}).out;
  BOOST_TEST(contains(listed, "local"));
  BOOST_TEST(contains(listed, "defaults")); // Letta's members change nothing
  BOOST_TEST(!contains(listed, "letta"), listed);
  auto typo
    = typed({"sandbox-config", "set", "local", R"({"sandbox_dri": "/x"})"});
  BOOST_TEST(typo.code == exit_usage);
  BOOST_TEST(contains(typo.err, "sandbox_dir"));
  BOOST_TEST(typed({"sandbox-config", "delete", "local"}).code == 0);
}

BOOST_AUTO_TEST_CASE(make_list_and_delete_keys) {
  auto made = typed({"key", "create", "ci", "--scope", "run,config", "--json"});
  BOOST_TEST_REQUIRE(made.code == 0, made.err);
  auto key = parsed(made.out).as_object();
  auto id = std::string{key.at("id").as_string()};
  auto listed = typed({"key", "list"});
  BOOST_TEST(contains(listed.out, id));
  BOOST_TEST(contains(listed.out, "run,config"));
  BOOST_TEST(!contains(listed.out, std::string{key.at("key").as_string()}));
  BOOST_TEST(typed({"key", "delete", id}).code == 0);
  BOOST_TEST(!contains(typed({"key", "list"}).out, id));

  auto unnamed = typed(
    {"key", "create", "--org", "new", "--scope", "run,config,admin", "--json"});
  BOOST_TEST_REQUIRE(unnamed.code == 0, unnamed.err);
  auto second = parsed(unnamed.out);
  BOOST_TEST(cell(second, "name") == "run+config+admin");
  BOOST_TEST(cell(second, "organization_id") != cell(key, "organization_id"));
  auto foreign = typed({"key", "create", "first", "--org",
                        "org-11111111-1111-4111-8111-111111111111"});
  BOOST_TEST(foreign.code == 0, foreign.err);
  BOOST_TEST(foreign.out.starts_with("troupe_"));
}

BOOST_AUTO_TEST_CASE(copy_all_data_and_put_it_back) {
  BOOST_TEST(typed({"var", "set", "KEPT=1"}).code == 0);
  auto copy = (place.path / "copy").string();
  auto made = typed({"backup", "create", copy});
  BOOST_TEST(made.code == 0, made.err);
  BOOST_TEST(contains(made.out, "master key"));
  BOOST_TEST(typed({"backup", "create", copy}).code == exit_refused);
  BOOST_TEST(typed({"backup", "verify", copy}).code == 0);
  BOOST_TEST(typed({"restore", copy}).code == exit_refused); // data is there

  auto old = place.path / "data";
  auto fresh = place.path / "fresh";
  std::filesystem::create_directories(fresh);
  std::filesystem::copy(old / "master.key", fresh / "master.key");
  data = "--data-dir=" + fresh.string();
  auto restored = typed({"restore", copy});
  BOOST_TEST(restored.code == 0, restored.err);
  BOOST_TEST(contains(typed({"var", "list"}).out, "KEPT"));
}

BOOST_AUTO_TEST_CASE(measure_runs) {
  auto done = typed({"bench", "--count", "4", "--concurrency", "2", "--json"});
  BOOST_TEST_REQUIRE(done.code == 0, done.err);
  BOOST_TEST(parsed(done.out).as_object().at("runs") == 4);
}

BOOST_AUTO_TEST_CASE(find_the_engine_that_runs) {
  serving running{place};
  auto address = running.address();
  // Found by the settings, though its store is locked against a second one.
  listen = "--listen=" + address;
  BOOST_TEST(typed({"var", "set", "A=1"}).code == 0);
  auto top = typed({"top", "--once", "--interval", "0.05"});
  BOOST_TEST(top.code == 0, top.err);
  BOOST_TEST(contains(top.out, "RUNS/S"));
  BOOST_TEST(contains(top.out, "local"));
  // Named, it needs no settings.
  auto server = "http://" + address;
  auto listed = run({"var", "list", "--server", server.c_str()});
  BOOST_TEST(contains(listed.out, "A "));
  BOOST_TEST(running.end(SIGTERM) == 0);
  // Named and gone: no engine of our own takes its place.
  auto gone = run({"var", "list", "--server", server.c_str()});
  BOOST_TEST(gone.code == exit_unreachable);
  BOOST_TEST(contains(gone.err, address));
}

BOOST_AUTO_TEST_CASE(care_for_the_data_of_an_engine_that_runs) {
  serving running{place};
  listen = "--listen=" + running.address();
  BOOST_TEST(typed({"var", "set", "KEPT=before"}).code == 0);
  // A directory is one of the place where the command was typed.
  auto copy = (place.path / "copy").string();
  auto made = typed({"backup", "create", copy});
  BOOST_TEST(made.code == 0, made.err);
  BOOST_TEST(typed({"backup", "verify", copy}).code == 0);
  auto again = typed({"backup", "create", copy});
  BOOST_TEST(again.code == exit_refused);
  BOOST_TEST(contains(again.err, "exists"));

  auto rotated = typed({"key", "rotate-master"});
  BOOST_TEST(rotated.code == 0, rotated.err);
  BOOST_TEST(contains(rotated.out, "is replaced by"));
  BOOST_TEST(typed({"var", "set", "ALSO=after"}).code == 0);
  auto first = typed({"key", "create", "first", "--org",
                      "org-11111111-1111-4111-8111-111111111111"});
  BOOST_TEST(first.code == 0, first.err);
  BOOST_TEST(running.end(SIGTERM) == 0);

  // What was sealed before and after opens with the key that is there now.
  listen = "--listen=127.0.0.1:1";
  auto tool = file("kept.py",
                   "import os\n"
                   "def kept() -> str:\n    \"\"\"What is kept.\"\"\"\n"
                   "    return os.environ['KEPT']"
                   " + os.environ['ALSO']\n");
  BOOST_TEST(typed({"tool", "put", tool}).code == 0);
  auto ran = typed({"tool", "run", "kept"});
  BOOST_TEST(contains(ran.out, "beforeafter"), ran.err);
}

BOOST_AUTO_TEST_CASE(watch_only_an_engine_that_runs) {
  auto top = typed({"top", "--once"});
  BOOST_TEST(top.code == exit_usage);
  BOOST_TEST(contains(top.err, "troupe serve"));
}

BOOST_AUTO_TEST_CASE(print_the_interface_and_the_manual) {
  BOOST_TEST(parsed(run({"openapi"}).out).is_object());
  auto man = run({"man"});
  BOOST_TEST(man.out.starts_with(".TH TROUPE 1"));
  BOOST_TEST(contains(man.out, "tool put FILE"));
  BOOST_TEST(contains(man.out, "\\-\\-concurrency"));
}

BOOST_AUTO_TEST_SUITE_END()
