// `troupe sandbox` against an engine that serves, whose place is a toy.
#include "net/api/api.hpp"
#include "net/server/server.hpp"
#include "runtime/json/json.hpp"
#include "tests/app/ask.hpp"
#include "tests/app/typed.hpp"
#include "tests/support/sandboxes/sandbox_fixture.hpp"

using namespace troupe;

namespace {

struct fixture {
  temporary_folder folder;
  test::sandbox_fixture house;
  net::http_server server{house.troop->engine(), listening()};
  std::string where;

  fixture() {
    net::api_options api;
    api.sandboxes = &house.engine();
    net::add_api(server.routes(), house.troop->engine(), api);
    BOOST_REQUIRE(server.start());
    where = "--server=http://127.0.0.1:" + std::to_string(server.port());
  }
  ~fixture() {
    house.troop->host->stop();
    server.stop();
  }

  static net::server_options listening() {
    net::server_options o;
    o.listen = {"127.0.0.1:0"};
    o.threads = 1;
    return o;
  }
  outcome sandbox(std::string command, std::vector<std::string> words = {}) {
    std::vector<std::string> all{"sandbox", std::move(command), where};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<const char*> pointers;
    for (const auto& word : all)
      pointers.push_back(word.c_str());
    return run(pointers);
  }
  std::string created(std::vector<std::string> words = {}) {
    auto made = sandbox("create", std::move(words));
    BOOST_REQUIRE_MESSAGE(made.code == 0, made.err);
    BOOST_REQUIRE(made.out.size() == sandbox_id::length + 1);
    return made.out.substr(0, sandbox_id::length);
  }
  std::string file(const std::string& name, std::string_view bytes) {
    auto path = folder.path / name;
    std::ofstream{path, std::ios::binary} << bytes;
    return path.string();
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(sandbox_commands, fixture)

BOOST_AUTO_TEST_CASE(make_show_list_renew_and_delete_one) {
  const auto id
    = created({"--name", "web", "--timeout", "10m", "--metadata", "chat=42"});
  auto shown = sandbox("show", {id});
  BOOST_TEST(shown.code == 0, shown.err);
  auto o = json::parse_object(shown.out);
  BOOST_REQUIRE(o);
  BOOST_TEST(o->at("state").as_string() == "running");
  BOOST_TEST(o->at("timeout").as_int64() == 600);
  BOOST_TEST(o->at("metadata").at("chat").as_string() == "42");
  auto listed = sandbox("list");
  BOOST_TEST(has(listed.out, id));
  BOOST_TEST(has(listed.out, "web"));
  BOOST_TEST(!has(sandbox("list", {"--name", "other"}).out, id));
  BOOST_TEST(sandbox("renew", {id, "20m"}).code == 0);
  BOOST_TEST(has(sandbox("show", {id}).out, "1200"));
  BOOST_TEST(sandbox("delete", {id}).code == 0);
  BOOST_TEST(house.toy.provider->living() == 0u);
  auto gone = sandbox("show", {id});
  BOOST_TEST(gone.code != 0);
  BOOST_TEST(has(gone.err, "has ended"), gone.err);
}

BOOST_AUTO_TEST_CASE(pause_resume_change_and_watch_one) {
  const auto id = created({"--session", "chat-1", "--idle-timeout", "10m"});
  BOOST_TEST(created({"--session", "chat-1"}) == id);
  auto paused = sandbox("pause", {id});
  BOOST_TEST(paused.out == "paused\n", paused.err);
  BOOST_TEST(sandbox("connect", {id}).out == "running\n");
  BOOST_TEST(sandbox("resume", {id}).out == "running\n");
  auto set = sandbox("set",
                     {id, "--metadata", "a=b", "--on-idle", "pause",
                      "--without", "c", "--json"});
  BOOST_TEST(has(set.out, R"("metadata":{"a":"b"})"), set.out << set.err);
  auto network
    = sandbox("set", {id, "--network", "allow=a.test,b.test:80", "--json"});
  BOOST_TEST(has(network.out, R"({"allow":["a.test","b.test:80"]})"),
             network.out << network.err);
  BOOST_TEST(has(sandbox("set", {id}).err, "nothing is to be changed"));
  auto events = sandbox("events", {id});
  BOOST_TEST(has(events.out, "  state  paused"), events.out << events.err);
  BOOST_TEST(sandbox("delete", {id}).code == 0);
  auto followed = sandbox("events", {id, "--follow", "--after", "2"});
  BOOST_TEST(has(followed.out, "  state  deleted  deleted"), followed.err);
  BOOST_TEST(!has(followed.out, "  creating"), followed.out);
}

BOOST_AUTO_TEST_CASE(keep_the_files_of_one_and_make_others_from_them) {
  const auto id = created();
  BOOST_TEST(sandbox("exec", {id, "echo one > a"}).code == 0);
  auto snapshot = sandbox("snapshot", {id, "--name", "clean"});
  BOOST_REQUIRE_MESSAGE(snapshot.code == 0, snapshot.err);
  BOOST_TEST(has(sandbox("snapshots").out, "clean"));
  BOOST_TEST(sandbox("exec", {id, "echo two > a"}).code == 0);
  const auto other = created({"--snapshot", "clean"});
  BOOST_TEST(sandbox("exec", {other, "cat a"}).out == "one\n");
  BOOST_TEST(sandbox("rollback", {id, "clean"}).out == "running\n");
  BOOST_TEST(sandbox("exec", {id, "cat a"}).out == "one\n");
  auto forks = sandbox("fork", {id, "--count", "2"});
  BOOST_TEST(forks.code == 0, forks.err);
  BOOST_REQUIRE(forks.out.size() == 2 * (sandbox_id::length + 1));
  BOOST_TEST(
    sandbox("exec", {forks.out.substr(0, sandbox_id::length), "cat a"}).out
    == "one\n");
  BOOST_TEST(sandbox("forget", {"clean"}).code == 0);
  BOOST_TEST(has(sandbox("forget", {"clean"}).err, "there is no snapshot"));
}

BOOST_AUTO_TEST_CASE(contexts_go_on_in_branches) {
  const auto id = created();
  BOOST_TEST(has(sandbox("branch", {id}).err, "no context of python"));
  auto cell = sandbox("run", {id, "-c", "set kept"});
  BOOST_REQUIRE_MESSAGE(cell.code == 0, cell.err);
  auto branches = sandbox("branch", {id, "--count", "2"});
  BOOST_REQUIRE_MESSAGE(branches.code == 0, branches.err);
  BOOST_REQUIRE(branches.out.size() == 2 * (sandbox_id::length + 1));
  const auto first = branches.out.substr(0, sandbox_id::length);
  const auto second
    = branches.out.substr(sandbox_id::length + 1, sandbox_id::length);
  BOOST_TEST(sandbox("run", {first, "-c", "set changed"}).code == 0);
  BOOST_TEST(has(sandbox("run", {first, "-c", "get"}).out, "changed"));
  BOOST_TEST(has(sandbox("run", {second, "-c", "get"}).out, "kept"));
  BOOST_TEST(has(sandbox("run", {id, "-c", "get"}).out, "kept"));
}

BOOST_AUTO_TEST_CASE(a_program_is_run_as_if_it_ran_here) {
  const auto id = created({"--env", "WHO=world"});
  auto ran = sandbox("exec", {id, "echo hello $WHO; echo oops >&2; exit 3"});
  BOOST_TEST(ran.code == 3);
  BOOST_TEST(ran.out == "hello world\n");
  BOOST_TEST(ran.err == "oops\n");
  auto with_words = sandbox("exec", {id, "--", "printf", "%s-%s", "-a", "b"});
  BOOST_TEST(with_words.code == 0, with_words.err);
  BOOST_TEST(with_words.out == "-a-b");
  auto bytes = sandbox("exec", {id, "printf '\\000\\377'"});
  BOOST_TEST((bytes.out == std::string{"\0\xff", 2}));
  auto read
    = sandbox("exec", {"--stdin", file("in", "from here\n"), id, "cat"});
  BOOST_TEST(read.out == "from here\n");
  auto killed = sandbox("exec", {id, "kill -9 $$"});
  BOOST_TEST(killed.code == 128 + 9);
}

BOOST_AUTO_TEST_CASE(much_output_arrives_whole) {
  const auto id = created();
  auto ran = sandbox("exec", {id, "seq 1 50000"});
  BOOST_TEST(ran.code == 0, ran.err);
  BOOST_TEST(ran.out.size() == 288894u);
  BOOST_TEST(ran.out.ends_with("\n50000\n"));
}

BOOST_AUTO_TEST_CASE(files_go_in_and_out) {
  const auto id = created();
  const std::string bytes{"a\0b\xff", 4};
  BOOST_TEST(sandbox("cp", {file("there", bytes), id + ":/tmp/"}).code == 0);
  auto listed = sandbox("ls", {id + ":/tmp"});
  BOOST_TEST(has(listed.out, "there"), listed.err);
  auto back = (folder.path / "back").string();
  BOOST_TEST(sandbox("cp", {id + ":/tmp/there", back}).code == 0);
  BOOST_TEST((read(back) == bytes));
  BOOST_TEST((sandbox("cat", {id + ":/tmp/there"}).out == bytes));
  auto missing = sandbox("cat", {id + ":/tmp/none"});
  BOOST_TEST(missing.code != 0);
  BOOST_TEST(has(missing.err, "no such file"), missing.err);
  BOOST_TEST(sandbox("cp", {"a", "b"}).code == exit_usage);
}

BOOST_AUTO_TEST_CASE(code_runs_in_a_context_that_keeps_its_state) {
  const auto id = created();
  BOOST_TEST(sandbox("run", {id, "-c", "set kept"}).code == 0);
  auto value = sandbox("run", {id, "-c", "get"});
  BOOST_TEST(value.code == 0, value.err);
  BOOST_TEST(value.out == "kept\n");
  auto printed = sandbox("run", {id, file("cell", "say from a file")});
  BOOST_TEST(printed.out == "from a file");
  BOOST_TEST(sandbox("run", {id, "-c", "raise"}).code == 1);
  auto line = sandbox("run", {"--json", id, "-c", "get"});
  BOOST_TEST(has(line.out, R"("type":"end")"), line.out);
  BOOST_TEST(sandbox("run", {id}).code == exit_usage);
  auto ended = sandbox("run", {id, "-c", "exit"});
  BOOST_TEST(ended.code == exit_ours);
  BOOST_TEST(has(ended.err, "exit code 3"), ended.err);
}

BOOST_AUTO_TEST_CASE(contexts_are_made_listed_restarted_and_deleted) {
  const auto id = created();
  auto context = [&](std::vector<std::string> words) {
    std::vector<const char*> all{"sandbox", "context"};
    for (const auto& word : words)
      all.push_back(word.c_str());
    all.push_back(where.c_str());
    return run(all);
  };
  auto made = context({"create", id, "--name", "main"});
  BOOST_REQUIRE_MESSAGE(made.code == 0, made.err);
  const auto name = made.out.substr(0, made.out.size() - 1);
  BOOST_TEST(has(context({"list", id}).out, "main"));
  BOOST_TEST(sandbox("run", {id, "--context", name, "-c", "set x"}).code == 0);
  BOOST_TEST(context({"restart", id, name}).out == "idle\n");
  BOOST_TEST(sandbox("run", {id, "--context", name, "-c", "get"}).out == "");
  BOOST_TEST(context({"interrupt", id, name}).code != 0);
  BOOST_TEST(context({"delete", id, name}).code == 0);
  BOOST_TEST(!has(context({"list", id}).out, "main"));
}

BOOST_AUTO_TEST_CASE(a_mistake_is_told_with_its_way_out) {
  auto wrong = sandbox("create", {"--timeout", "soon"});
  BOOST_TEST(wrong.code == exit_usage);
  BOOST_TEST(has(wrong.err, "timeout"), wrong.err);
  BOOST_TEST(sandbox("create", {"--metadata", "nothing"}).code == exit_usage);
  auto unknown = sandbox("exec", {"nosuchsandbox", "true"});
  BOOST_TEST(unknown.code != 0);
  BOOST_TEST(has(unknown.err, "there is no sandbox"), unknown.err);
}

BOOST_AUTO_TEST_SUITE_END()
