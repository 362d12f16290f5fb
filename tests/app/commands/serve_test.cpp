#include "runtime/json/json.hpp"
#include "tests/app/serving.hpp"

#include <cstdlib>
#include <fstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(serve)

namespace {

constexpr auto addition = R"({"source": "def add(a: int, b: int) -> int:\n)"
                          R"(    \"\"\"Adds.\"\"\"\n    return a + b",)"
                          R"( "args": {"a": 2, "b": 40}})";

} // namespace

BOOST_AUTO_TEST_CASE(runs_a_tool_over_http_and_ends_when_told_to) {
  temporary_folder folder;
  serving engine{folder};
  auto address = address_in(engine.greeting());
  auto answer = ask(address, "POST /v1/runs", addition);
  BOOST_TEST(answer.find(" 200 ") != answer.npos, answer);
  auto body = json::parse_object(answer.substr(answer.find("\r\n\r\n") + 4));
  BOOST_TEST_REQUIRE(!!body, answer);
  BOOST_TEST(body->at("status") == "success", answer);
  BOOST_TEST(body->at("value") == 42, answer);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(leaves_no_core_of_the_secrets_that_it_holds) {
  temporary_folder folder;
  serving engine{folder};
  engine.greeting();
  std::ifstream limits{"/proc/" + std::to_string(engine.pid()) + "/limits"};
  const std::string text{std::istreambuf_iterator<char>{limits}, {}};
  const auto at = text.find("Max core file size");
  BOOST_TEST_REQUIRE(at != text.npos);
  const auto line = text.substr(at, text.find('\n', at) - at);
  // Soft and hard.
  BOOST_TEST(line.find_first_of("123456789u") == line.npos, line);
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(runs_tools_whose_usual_directory_is_somebody_elses) {
  temporary_folder folder;
  const auto usual = folder.path / ".letta" / "tool_execution_dir";
  std::filesystem::create_directories(usual);
  std::ofstream{usual / "old.txt"} << "of another program";
  const auto seen = [&](const std::vector<std::string>& flags) {
    serving engine{folder, flags};
    const auto address = engine.address();
    const auto answer
      = talk(address, "POST /v1/runs",
             R"-({"source": "import os\n\ndef look() -> list:\n)-"
             R"-(    \"\"\"Looks.\"\"\"\n    return os.listdir('.')",)-"
             R"-( "backend": "local"})-");
    BOOST_TEST(engine.end(SIGTERM) == 0);
    return json::to_text(answer.body);
  };
  const auto* home = std::getenv("HOME");
  const std::string before = home ? home : "/";
  ::setenv("HOME", folder.path.c_str(), 1);
  const auto ignored = seen({});
  const auto shared = seen({"--local.sandbox-dir=" + usual.string()});
  ::setenv("HOME", before.c_str(), 1);
  BOOST_TEST(ignored.find(R"("status":"success")") != ignored.npos, ignored);
  BOOST_TEST(ignored.find("old.txt") == ignored.npos, ignored);
  BOOST_TEST(shared.find(R"("status":"success")") != shared.npos, shared);
  BOOST_TEST(shared.find("old.txt") != shared.npos, shared);
}

BOOST_AUTO_TEST_CASE(outlives_whoever_read_its_output) {
  temporary_folder folder;
  serving engine{folder};
  auto address = address_in(engine.greeting());
  engine.close_reader();
  auto answer = ask(address, "GET /livez");
  BOOST_TEST(answer.find(" 200 ") != answer.npos, answer);
  BOOST_TEST(engine.end(SIGINT) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
