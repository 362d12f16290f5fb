// A line for every answer of a serving process.
#include "tests/app/serving.hpp"

#include <fstream>
#include <optional>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(access_lines)

namespace {

/// Everything that the process logged, once it has ended.
std::vector<json::object> lines_of(const temporary_folder& folder) {
  std::ifstream file{folder.path / "serve.log"};
  std::vector<json::object> all;
  for (std::string line; std::getline(file, line);)
    if (auto parsed = json::parse_object(line))
      all.push_back(std::move(*parsed));
  return all;
}

std::vector<json::object> answers_in(const temporary_folder& folder) {
  auto all = lines_of(folder);
  std::erase_if(all, [](const json::object& line) {
    return line.at("message") != "http request";
  });
  return all;
}

void visit(serving& engine) {
  auto address = engine.address();
  ask(address, "GET /livez");
  ask(address, "GET /v1/tools", {},
      "X-Request-Id: asked-1\r\ntraceparent: "
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

} // namespace

BOOST_AUTO_TEST_CASE(are_json_with_numbers_unless_they_are_unwanted) {
  temporary_folder folder;
  serving engine{folder};
  visit(engine);
  auto answers = answers_in(folder);
  BOOST_TEST_REQUIRE(answers.size() == 1u); // not the probe
  const auto& line = answers.front();
  BOOST_TEST(line.at("level") == "info");
  BOOST_TEST(line.at("method") == "GET");
  BOOST_TEST(line.at("route") == "/v1/tools");
  BOOST_TEST(line.at("status") == 200);
  BOOST_TEST(line.at("bytes_out").is_int64());
  BOOST_TEST(line.at("duration_us").is_int64());
  BOOST_TEST(line.at("request_id") == "asked-1");
  BOOST_TEST(line.at("trace_id") == "0af7651916cd43dd8448eb211c80319c");
  BOOST_TEST(line.at("organization").as_string().starts_with("org-"));
}

BOOST_AUTO_TEST_CASE(are_left_out_where_log_access_says_so) {
  temporary_folder folder;
  serving engine{folder, {"--log.access=off"}};
  visit(engine);
  BOOST_TEST(answers_in(folder).empty());
}

BOOST_AUTO_TEST_SUITE_END()
