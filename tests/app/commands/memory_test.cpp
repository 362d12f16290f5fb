// Secrets are wiped where they were: the memory of a serving engine is searched
// for them when their runs are over.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"

#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <random>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(secrets_in_memory)

namespace {

constexpr int runs_of_each = 30;

/// Nowhere else, neither in another test's nor in this source.
std::string random_word() {
  static std::random_device random;
  static constexpr std::string_view letters
    = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  std::string word;
  while (word.size() < 48)
    word += letters[random() % letters.size()];
  return word;
}

/// What allocators write over what is freed is at its beginning.
std::string tail(const std::string& word) {
  return word.substr(24);
}

/// How often each word stands in what the process may write to. Nothing when
/// this host does not let us look.
std::optional<std::map<std::string, int>>
search(pid_t pid, const std::vector<std::string>& words) {
  const auto of_process = "/proc/" + std::to_string(pid) + "/";
  const int memory = ::open((of_process + "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0)
    return {};
  std::map<std::string, int> found;
  std::ifstream maps{of_process + "maps"};
  std::string bytes;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t from = 0, to = 0;
    char mode[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, mode) != 3
        || mode[1] != 'w')
      continue;
    bytes.resize(to - from);
    const auto n
      = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(from));
    if (n <= 0)
      continue;
    const std::string_view seen{bytes.data(), static_cast<std::size_t>(n)};
    for (const auto& word : words)
      for (auto at = seen.find(tail(word)); at != seen.npos;
           at = seen.find(tail(word), at + 1))
        ++found[word];
  }
  ::close(memory);
  return found;
}

struct told {
  std::string config = random_word();
  std::string agent = random_word();
  std::string run = random_word();
  std::string large = random_word();
  std::string escaped = random_word();
  std::string failing = random_word();
  std::string idempotent = random_word();
  std::string refused = random_word();
  std::string open = random_word();
};

std::string run_with(const std::string& value, bool fails = false) {
  json::object body;
  body["source"] = std::string{"import os\n\ndef look() -> bool:\n"
                               "    \"\"\"Looks.\"\"\"\n"}
    + (fails ? "    raise ValueError('no')\n"
             : "    return all(n in os.environ for n in "
               "('OF_CONFIG', 'OF_AGENT', 'OF_RUN'))\n");
  body["agent_id"] = "agent-1";
  body["env"] = json::object{{"OF_RUN", value}};
  return json::to_text(body);
}

void tell_variables(const std::string& address, const told& words) {
  auto config
    = talk(address, "POST /v1/sandbox-configs/default", R"({"type": "local"})");
  json::object variable{{"key", "OF_CONFIG"}};
  variable["value"] = words.config;
  const auto id = std::string{config.body.at("id").as_string()};
  // With a key, it is remembered which request it was.
  auto kept = ask(address, "POST /v1/sandbox-configs/" + id + "/variables",
                  json::to_text(variable), "Idempotency-Key: k\r\n");
  BOOST_TEST(contains(kept, " 201 "), kept);
  json::object agent;
  agent["values"] = json::object{{"OF_AGENT", words.agent}};
  BOOST_TEST(
    talk(address, "PATCH /v1/agents/agent-1/variables", json::to_text(agent))
      .status
    == 200);
}

void run_all(const std::string& address, const told& words) {
  for (int i = 0; i < runs_of_each; ++i) {
    for (const auto& value :
         {words.run, words.large + std::string(40'000, 'x') + words.large,
          words.escaped + "\n\"\t" + words.escaped}) {
      auto seen = talk(address, "POST /v1/runs", run_with(value));
      BOOST_TEST(seen.body.at("value") == true, json::to_text(seen.body));
    }
    auto failed = talk(address, "POST /v1/runs", run_with(words.failing, true));
    BOOST_TEST(failed.body.at("status") == "error");
    const auto key = "Idempotency-Key: k" + std::to_string(i / 2) + "\r\n";
    auto once = ask(address, "POST /v1/runs", run_with(words.idempotent), key);
    BOOST_TEST(contains(once, "\"value\":true"), once);
  }
  auto refused
    = talk(address, "POST /v1/runs",
           R"({"source": "x", "env": {"A B": ")" + words.refused + R"("}})");
  BOOST_TEST(refused.status == 422);
}

} // namespace

BOOST_AUTO_TEST_CASE(are_gone_when_their_runs_are_over) {
  temporary_folder place;
  serving engine{place};
  const auto address = engine.address();
  const told words;
  tell_variables(address, words);
  run_all(address, words);
  // A word that nobody wipes, to see that searching finds.
  talk(address, "PUT /v1/tools",
       R"({"source_type": "python", "source_code": "def f() -> int:\n    )"
       R"(\"\"\")"
         + words.open + R"(\"\"\"\n    return 1"})");
  const std::vector<std::pair<std::string, std::string>> secrets{
    {"a config's variable", words.config},
    {"an agent's variable", words.agent},
    {"a run's variable", words.run},
    {"a large one", words.large},
    {"one with escapes", words.escaped},
    {"a failing run's", words.failing},
    {"an idempotent run's", words.idempotent},
    {"a refused run's", words.refused}};
  std::vector<std::string> all{words.open};
  for (const auto& [what, word] : secrets)
    all.push_back(word);
  // The last of them is let go a moment after its answer.
  const auto until
    = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  for (;;) {
    auto found = search(engine.pid(), all);
    if (!found) {
      BOOST_TEST_MESSAGE("this host lets nobody read a process's memory");
      return;
    }
    BOOST_TEST(found->contains(words.open));
    found->erase(words.open);
    if (!found->empty() && std::chrono::steady_clock::now() < until) {
      ask(address, "GET /livez");
      continue;
    }
    for (const auto& [what, word] : secrets)
      BOOST_TEST((*found)[word] == 0, what << " is left in memory");
    break;
  }
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
