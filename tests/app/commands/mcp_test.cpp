// `troupe mcp` as a client starts it: the real binary, messages on its pipes.
#include "tests/app/ask.hpp"
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(mcp_command)

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// A client of the command: what it says goes to its input.
class mcp_process {
public:
  explicit mcp_process(const temporary_folder& folder,
                       std::vector<std::string> more = {}) {
    int in[2], out[2];
    BOOST_REQUIRE(
      (::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0));
    std::vector<std::string> words{
      TROUPE_BINARY_DIR "/troupe",
      "mcp",
      "--http.listen=127.0.0.1:0",
      "--data-dir=" + (folder.path / "data").string(),
      "--local.runtime-dir=" + (folder.path / "state").string(),
    };
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const auto log = (folder.path / "mcp.log").string();
    ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    BOOST_REQUIRE(
      ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ)
      == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~mcp_process() {
    if (pid_ > 0)
      end();
    ::close(out_);
  }

  void say(std::string line) {
    line += '\n';
    BOOST_REQUIRE(::write(in_, line.data(), line.size())
                  == static_cast<ssize_t>(line.size()));
  }
  std::string hear() {
    std::size_t end = 0;
    while ((end = rest_.find('\n')) == rest_.npos) {
      pollfd ready{out_, POLLIN, 0};
      char some[16 << 10];
      ssize_t n = 0;
      if (::poll(&ready, 1, 60'000) <= 0
          || (n = ::read(out_, some, sizeof some)) <= 0)
        return std::exchange(rest_, {});
      rest_.append(some, static_cast<std::size_t>(n));
    }
    auto line = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    return line;
  }
  std::string ask(std::string line) {
    say(std::move(line));
    return hear();
  }
  /// Ends its input; the exit code.
  int end() {
    ::close(in_);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string rest_;
};

std::string modern(std::string_view method, std::string_view params = {}) {
  std::string text{R"({"jsonrpc":"2.0","id":1,"method":")"};
  text.append(method).append(R"(","params":{)").append(params);
  return text.append(params.empty() ? "" : ",")
    .append(
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
}

const std::string initialize
  = R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})";

} // namespace

BOOST_AUTO_TEST_CASE(a_client_that_only_looks_opens_nothing) {
  temporary_folder folder;
  mcp_process client{folder};
  BOOST_TEST(has(client.ask(modern("server/discover")), "supportedVersions"));
  BOOST_TEST(has(client.ask(initialize), R"("protocolVersion":"2025-06-18")"));
  BOOST_TEST(client.ask(R"({"jsonrpc":"2.0","id":5,"method":"ping"})")
             == R"({"jsonrpc":"2.0","id":5,"result":{}})");
  BOOST_TEST(has(client.ask("no json"), "-32700"));
  BOOST_TEST(has(client.ask("[]"), "-32600"));
  BOOST_TEST(client.end() == 0);
  BOOST_TEST(!std::filesystem::exists(folder.path / "data"));
}

BOOST_AUTO_TEST_CASE(both_forms_are_served_by_an_engine_of_its_own) {
  temporary_folder folder;
  mcp_process client{folder, {"--toolsets", "sandbox,system"}};
  client.ask(initialize);
  client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const auto legacy
    = client.ask(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})");
  BOOST_TEST(has(legacy, R"("id":"a")"), legacy);
  BOOST_TEST(has(legacy, "sandbox_info"), legacy);
  BOOST_TEST(!has(legacy, "shell_exec"), legacy);
  const auto call = client.ask(
    modern("tools/call", R"("name":"sandbox_info","arguments":{})"));
  BOOST_TEST(has(call, R"("resultType":"complete")"), call);
  BOOST_TEST(has(call, R"(\"state\":\"none\")"), call);
  const auto unknown = client.ask(modern("tools/call", R"("name":"no")"));
  BOOST_TEST(has(unknown, "-32602"), unknown);
  BOOST_TEST(client.end() == 0);
}

BOOST_AUTO_TEST_CASE(the_engine_that_serves_is_used) {
  temporary_folder folder;
  serving engine{folder};
  const auto address = "http://" + engine.address();
  mcp_process client{folder, {"--server", address, "--session", "chat"}};
  const auto said = client.ask(
    modern("tools/call", R"("name":"sandbox_info","arguments":{})"));
  BOOST_TEST(has(said, R"(\"session\":\"chat\")"), said);
  BOOST_TEST(client.end() == 0);
}

BOOST_AUTO_TEST_CASE(prints_what_clients_are_configured_with) {
  auto claude = run({"mcp", "install", "claude", "--session", "x"});
  BOOST_TEST(claude.code == 0, claude.err);
  BOOST_TEST(
    claude.out
    == "{\"mcpServers\":{\"troupe\":{\"command\":\"troupe\",\"args\":[\"mcp\","
       "\"--session\",\"x\"]}}}\n");
  BOOST_TEST(has(run({"mcp", "install", "vscode"}).out, "{\"servers\":"));
  BOOST_TEST(run({"mcp", "install", "emacs"}).code != 0);
  BOOST_TEST(has(run({"mcp", "install"}).err, "name the client"));
}

BOOST_AUTO_TEST_SUITE_END()
