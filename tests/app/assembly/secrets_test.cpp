// Whatever an engine was told in confidence is in no file that it leaves.
#include "tests/app/serving.hpp"
#include "tests/app/typed.hpp"
#include "tests/support/readable_forms.hpp"

#include <fstream>

using namespace troupe;
using namespace troupe::tests;

BOOST_AUTO_TEST_SUITE(secrets_at_rest)

namespace {

// Each told in another way, so that the one that leaks is named.
const std::string of_config = "CANARY-config-5e1f77aa01";
const std::string of_agent = "CANARY-agent-5e1f77aa02";
const std::string of_run = "CANARY-run-5e1f77aa03";
const std::string of_failure = "CANARY-fail-5e1f77aa04";
const std::string open_word = "OPEN-word-5e1f77aa05";

std::string read(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string run_with(const std::string& source, const std::string& value) {
  json::object body{{"source", source}, {"agent_id", "agent-1"}};
  body["env"] = json::object{{"FROM_RUN", value}};
  return json::to_text(body);
}

void tell_everything(const std::string& address) {
  auto config
    = talk(address, "POST /v1/sandbox-configs/default", R"({"type": "local"})");
  auto id = std::string{config.body.at("id").as_string()};
  json::object variable{{"key", "FROM_CONFIG"}};
  variable["value"] = of_config;
  BOOST_TEST(talk(address, "POST /v1/sandbox-configs/" + id + "/variables",
                  json::to_text(variable))
               .status
             == 201);
  json::object agent;
  agent["values"] = json::object{{"FROM_AGENT", of_agent}};
  BOOST_TEST(
    talk(address, "PATCH /v1/agents/agent-1/variables", json::to_text(agent))
      .status
    == 200);
  auto seen = talk(
    address, "POST /v1/runs",
    run_with("import os\n\ndef look() -> bool:\n    \"\"\"" + open_word
               + "\"\"\"\n    return all(os.environ.get(n, '').startswith"
                 "('CANARY') for n in ('FROM_CONFIG', 'FROM_AGENT', "
                 "'FROM_RUN'))",
             of_run));
  BOOST_TEST(seen.body.at("value") == true, json::to_text(seen.body));
  // A request that is refused must not be quoted either.
  auto refused
    = talk(address, "POST /v1/runs",
           R"({"source": "x", "env": {"A B": ")" + of_failure + R"("}})");
  BOOST_TEST(refused.status == 422, json::to_text(refused.body));
  BOOST_TEST(!contains(json::to_text(refused.body), of_failure));
}

} // namespace

BOOST_AUTO_TEST_CASE(stand_in_no_file_and_no_log) {
  temporary_folder place;
  serving engine{place, {"--log.level=debug"}};
  auto address = engine.address();
  tell_everything(address);
  auto key
    = talk(address, "POST /v1/keys", R"({"name": "k", "scopes": ["run"]})");
  auto key_text = std::string{key.body.at("key").as_string()};
  // And named once more, in a file that is searched, so that searching is seen
  // to work.
  talk(address, "PUT /v1/tools",
       R"({"source_type": "python", "source_code": "def f() -> int:\n    )"
       R"(\"\"\")"
         + open_word + R"(\"\"\"\n    return 1"})");
  BOOST_TEST(engine.end(SIGTERM) == 0);

  int open_hits = 0, files = 0;
  for (const auto& f :
       std::filesystem::recursive_directory_iterator{place.path}) {
    if (!f.is_regular_file())
      continue;
    ++files;
    auto bytes = read(f.path());
    for (const auto& text : {of_config, of_agent, of_run, of_failure, key_text})
      for (const auto& form : readable_forms(text))
        BOOST_TEST(!contains(bytes, form), f.path() << " tells " << text);
    open_hits += contains(bytes, open_word);
  }
  BOOST_TEST(files > 5);
  BOOST_TEST(open_hits > 0);
  BOOST_TEST(contains(read(place.path / "serve.log"), "stopped"));
}

BOOST_AUTO_TEST_SUITE_END()
