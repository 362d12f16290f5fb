#include "runtime/json/json.hpp"
#include "tests/app/serving.hpp"

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
