// kill -9 of the serving engine at any moment: what was acknowledged is there
// afterwards, what had not ended reads `lost`, nothing is left on the host.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

using namespace troupe;
using test::raw_answer;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(crashes)

namespace {

unsigned number_from(const char* name, unsigned otherwise) {
  const char* given = std::getenv(name);
  return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
               : otherwise;
}

/// Status 0: the engine went away before its answer was whole. Only a whole one
/// acknowledges anything.
raw_answer try_ask(std::uint16_t port, std::string_view verb,
                   std::string_view path, std::string_view body,
                   std::string_view fields = {}) {
  try {
    auto answer = test::ask(port, verb, path, body, fields);
    return answer.whole ? answer : raw_answer{};
  } catch (const std::runtime_error&) { // nobody listens any more
    return {};
  }
}

/// Does one thing again and again until the engine is gone, and remembers what
/// was acknowledged.
struct client {
  std::string name;
  std::function<raw_answer(std::uint16_t, const std::string& item)> act;
  /// Whether it is still so after a restart; `answer`: the acknowledgement.
  std::function<void(std::uint16_t, const std::string& item,
                     const std::string& answer)>
    check;
  std::vector<std::pair<std::string, std::string>> acknowledged;

  void work(std::uint16_t port, std::atomic<unsigned>& all) {
    for (int i = 0;; ++i) {
      const auto item = name + std::to_string(i);
      auto answer = act(port, item);
      if (answer.status == 0)
        return;
      if (answer.status >= 300)
        continue;
      acknowledged.emplace_back(item, std::move(answer.body));
      ++all;
      all.notify_all();
    }
  }
};

raw_answer make_tool(std::uint16_t port, const std::string& name) {
  return try_ask(port, "POST", "/v1/tools",
                 R"({"name":")" + name + R"(","source_code":"def )" + name
                   + R"((): return 1\n","json_schema":{"name":")" + name
                   + R"(","description":"d","parameters":{"type":"object",)"
                     R"("properties":{}}}})");
}

void expect_tool(std::uint16_t port, const std::string& name,
                 const std::string&) {
  auto a = test::ask(port, "GET", "/v1/tools?search=" + name, {}, {});
  BOOST_TEST(a.body.find("\"name\":\"" + name + "\"") != std::string::npos,
             name << " was acknowledged: " << a.body);
}

raw_answer set_variable(std::uint16_t port, const std::string& name) {
  return try_ask(port, "PATCH", "/v1/agents/someone/variables",
                 R"({"values":{")" + name + R"(":"v"}})");
}

void expect_variable(std::uint16_t port, const std::string& name,
                     const std::string&) {
  auto a
    = test::ask(port, "GET", "/v1/agents/someone/variables?limit=1000", {}, {});
  BOOST_TEST(a.body.find('"' + name + '"') != std::string::npos,
             name << " was acknowledged: " << a.body);
}

std::string key_field(const std::string& name) {
  return "Idempotency-Key: " + name + "\r\n";
}

raw_answer run_keyed(std::uint16_t port, const std::string& name) {
  return try_ask(port, "POST", "/v1/runs",
                 R"({"command":"echo )" + name + R"("})", key_field(name));
}

/// Whatever became of the run, its key is taken: for another body above all.
void expect_known_key(std::uint16_t port, const std::string& name,
                      const std::string&) {
  auto a = test::ask(port, "POST", "/v1/runs",
                     R"({"command":"echo other than )" + name + R"("})",
                     key_field(name));
  BOOST_TEST((a.status == 409 || a.status == 422),
             name << " was carried out: " << a.body);
}

raw_answer start_detached(std::uint16_t port, const std::string& name) {
  return try_ask(port, "POST", "/v1/runs",
                 R"({"command":"echo )" + name + R"("})",
                 "Prefer: respond-async\r\n");
}

void expect_ended(std::uint16_t port, const std::string& name,
                  const std::string& answer) {
  auto accepted = json::parse_object(answer);
  BOOST_REQUIRE_MESSAGE(accepted.has_value(), answer);
  const auto id = std::string{accepted->at("id").as_string()};
  auto a = test::ask(port, "GET", "/v1/runs/" + id, {}, {});
  BOOST_TEST((a.status == 200 && a.body.find("\"ended\"") != std::string::npos),
             name << " was accepted: " << a.body);
}

std::vector<client> mixed_clients() {
  return {{"tool_", make_tool, expect_tool, {}},
          {"VARIABLE_", set_variable, expect_variable, {}},
          {"key-", run_keyed, expect_known_key, {}},
          {"detached-", start_detached, expect_ended, {}}};
}

std::vector<std::string> groups_below(const fs::path& state) {
  std::vector<std::string> groups;
  std::error_code ignored;
  for (const auto& instance : fs::directory_iterator(state, ignored)) {
    std::ifstream file{instance.path() / "cgroups"};
    for (std::string line; std::getline(file, line);)
      groups.push_back(line);
  }
  return groups;
}

std::string text_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Living processes with this word on their command line.
std::size_t processes_with(const std::string& word) {
  std::size_t n = 0;
  std::error_code ignored;
  for (const auto& p : fs::directory_iterator("/proc", ignored))
    if (text_of(p.path() / "cmdline").find(word) != std::string::npos)
      ++n;
  return n;
}

/// The warden cleans up behind an engine that is gone, beside the next one.
void expect_nothing_left(const std::string& word,
                         const std::vector<std::string>& groups) {
  auto left = [&] {
    return processes_with(word) > 0
      || std::any_of(groups.begin(), groups.end(),
                     [](const auto& group) { return fs::exists(group); });
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (left() && std::chrono::steady_clock::now() < limit)
    std::this_thread::yield();
  BOOST_TEST(!left());
}

/// A run that sleeps until somebody ends it; its id.
std::string start_sleeper(std::uint16_t port, const std::string& word) {
  auto a = test::ask(port, "POST", "/v1/runs",
                     R"({"command":"exec sleep )" + word + R"("})",
                     "Prefer: respond-async\r\n");
  BOOST_REQUIRE_MESSAGE(a.status == 202, a.body);
  return std::string{json::parse(a.body)->at("id").as_string()};
}

/// Looks until it runs, or has run.
void wait_until_begun(std::uint16_t port, const std::string& id) {
  for (;;) {
    auto a = test::ask(port, "GET", "/v1/runs/" + id, {}, {});
    BOOST_REQUIRE_MESSAGE(a.status == 200, a.body);
    if (a.body.find("\"running\"") != std::string::npos
        || a.body.find("\"ended\"") != std::string::npos)
      return;
    std::this_thread::yield();
  }
}

/// A child of this process with the word on its command line, or -1.
pid_t child_with(pid_t parent, const std::string& word) {
  std::error_code ignored;
  for (const auto& p : fs::directory_iterator("/proc", ignored)) {
    auto stat = text_of(p.path() / "stat");
    auto at = stat.rfind(") ");
    if (at == std::string::npos || std::atoi(stat.c_str() + at + 4) != parent)
      continue;
    if (text_of(p.path() / "cmdline").find(word) != std::string::npos)
      return std::atoi(p.path().filename().c_str());
  }
  return -1;
}

constexpr std::string_view end_line = R"("type":"end")";

void kill_in_the_middle(unsigned round, std::mt19937& random) {
  temporary_folder folder;
  const auto word
    = "98765" + std::to_string(::getpid()) + std::to_string(round);
  auto clients = mixed_clients();
  std::vector<std::string> sleepers;
  std::vector<std::string> groups;
  {
    serving engine{folder};
    auto port = port_in(engine.address());
    for (int i = 0; i < 3; ++i)
      sleepers.push_back(start_sleeper(port, word));
    wait_until_begun(port, sleepers.front());
    groups = groups_below(folder.path / "state");
    std::atomic<unsigned> made{0};
    std::vector<std::thread> threads;
    for (auto& c : clients)
      threads.emplace_back([&] { c.work(port, made); });
    // From before the first of them to well into the stream.
    const auto enough = random() % 150;
    for (auto n = made.load(); n < enough; n = made.load())
      made.wait(n);
    engine.end(SIGKILL);
    for (auto& t : threads)
      t.join();
  }
  serving engine{folder};
  auto port = port_in(engine.address());
  for (const auto& c : clients)
    for (const auto& [item, answer] : c.acknowledged)
      c.check(port, item, answer);
  for (const auto& id : sleepers) {
    auto a = test::ask(port, "GET", "/v1/runs/" + id, {}, {});
    BOOST_TEST_REQUIRE(a.status == 200, a.body);
    BOOST_TEST(a.body.find("\"reason\":\"lost\"") != std::string::npos, a.body);
  }
  expect_nothing_left(word, groups);
  BOOST_TEST(text_of("/proc/self/mountinfo").find(folder.path.string())
             == std::string::npos);
  BOOST_TEST(engine.end(SIGTERM) == 0);
  auto audit = run_program(
    {"audit", "verify", "--data-dir=" + (folder.path / "data").string()},
    folder.path);
  BOOST_TEST(audit.code == 0, audit.out << audit.err);
}

} // namespace

BOOST_AUTO_TEST_CASE(lose_nothing_that_was_acknowledged_and_leave_nothing) {
  const auto seed = number_from("TROUPE_CHAOS_SEED", 20261118);
  const auto rounds = number_from("TROUPE_KILL_ROUNDS", 3);
  BOOST_TEST_MESSAGE("TROUPE_CHAOS_SEED=" << seed);
  std::mt19937 random{seed};
  for (unsigned round = 0; round < rounds; ++round)
    BOOST_TEST_CONTEXT("round " << round)
  kill_in_the_middle(round, random);
}

BOOST_AUTO_TEST_CASE(come_at_once_when_an_operator_asks_twice) {
  temporary_folder folder;
  serving engine{folder};
  auto port = port_in(engine.address());
  const auto word = "98763" + std::to_string(::getpid());
  auto id = start_sleeper(port, word);
  wait_until_begun(port, id);
  const auto groups = groups_below(folder.path / "state");
  // The first asks for an end in order, which the run keeps from coming.
  int status = 0;
  while (::waitpid(engine.pid(), &status, WNOHANG) == 0) {
    ::kill(engine.pid(), SIGTERM);
    std::this_thread::yield();
  }
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGTERM);
  engine.forget();
  expect_nothing_left(word, groups);
}

BOOST_AUTO_TEST_CASE(of_the_warden_leave_no_run_without_its_end) {
  temporary_folder folder;
  serving engine{folder};
  auto port = port_in(engine.address());
  std::mt19937 random{number_from("TROUPE_CHAOS_SEED", 20261118)};
  const auto word = "98764" + std::to_string(::getpid());
  std::vector<std::string> ids;
  int killed = 0;
  for (int i = 0; i < 120; ++i) {
    ids.push_back(start_sleeper(
      port, random() % 2 == 0 ? "0." + std::to_string(random() % 9) : word));
    if (i % 40 == 20) {
      wait_until_begun(port, ids[static_cast<std::size_t>(i) - 10]);
      if (auto warden = child_with(engine.pid(), "__warden"); warden > 0)
        killed += ::kill(warden, SIGKILL) == 0 ? 1 : 0;
    }
  }
  BOOST_TEST(killed > 0);
  for (const auto& id : ids)
    test::ask(port, "POST", "/v1/runs/" + id + "/cancel", {}, {});
  for (const auto& id : ids) {
    auto events = test::ask(port, "GET", "/v1/runs/" + id + "/events", {},
                            "Accept: application/x-ndjson\r\n");
    std::size_t ends = 0;
    for (auto at = events.body.find(end_line); at != std::string::npos;
         at = events.body.find(end_line, at + 1))
      ++ends;
    BOOST_TEST(ends == 1u, events.body);
  }
  auto after
    = test::ask(port, "POST", "/v1/runs", R"({"command":"echo alive"})", {});
  BOOST_TEST(after.body.find("alive") != std::string::npos, after.body);
  auto metrics = test::ask(port, "GET", "/metrics", {}, {}).body;
  for (auto gauge : {"troupe_runs_running 0", "troupe_runs_queued 0"})
    BOOST_TEST(metrics.find(gauge) != std::string::npos, gauge);
  BOOST_TEST(processes_with(word) == 0u);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(do_not_make_a_request_with_a_known_key_happen_twice) {
  temporary_folder folder;
  const std::string key = "Idempotency-Key: once\r\n";
  const std::string body
    = R"({"name":"f","source_code":"def f(): return 1\n","json_schema":)"
      R"({"name":"f","description":"d","parameters":{"type":"object",)"
      R"("properties":{}}}})";
  std::string first;
  {
    serving engine{folder};
    auto port = port_in(engine.address());
    auto a = test::ask(port, "POST", "/v1/tools", body, key);
    BOOST_TEST_REQUIRE(a.status == 201, a.body);
    first = a.body;
    auto run
      = test::ask(port, "POST", "/v1/runs", R"({"command":"echo once"})", key);
    BOOST_TEST_REQUIRE(run.status == 200, run.body);
    // An answer is kept right behind the answer; an orderly end waits for it.
    BOOST_TEST(engine.end(SIGTERM) == 0);
  }
  serving engine{folder};
  auto port = port_in(engine.address());
  auto again = test::ask(port, "POST", "/v1/tools", body, key);
  BOOST_TEST(again.status == 201, again.body);
  BOOST_TEST(again.body == first);
  BOOST_TEST(again.fields["idempotency-replayed"] == "true");
  auto other = test::ask(port, "POST", "/v1/tools", "{}", key);
  BOOST_TEST(other.status == 422, other.body);
  auto run
    = test::ask(port, "POST", "/v1/runs", R"({"command":"echo twice"})", key);
  BOOST_TEST(run.status == 422, run.body);
}

BOOST_AUTO_TEST_SUITE_END()
