#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(sandbox_contexts_api)

namespace {

json::object body_of(const test::raw_answer& a) {
  auto o = json::parse_object(a.body);
  BOOST_REQUIRE_MESSAGE(o, a.body);
  return *o;
}

} // namespace

struct house_with_sandbox {
  http_house house;
  std::string one = "/v1/sandboxes/"
    + std::string{
      body_of(house.post("/v1/sandboxes", "{}")).at("id").as_string()};

  std::string context() {
    auto made = house.post(one + "/contexts", R"({"language":"python"})");
    BOOST_REQUIRE_MESSAGE(made.status == 201, made.body);
    return made.fields["location"];
  }
};

BOOST_FIXTURE_TEST_CASE(a_cell_answers_with_output_values_and_status,
                        house_with_sandbox) {
  auto a = house.post(one + "/execute", R"({"language":"python","code":"hi"})");
  BOOST_TEST(a.status == 200, a.body);
  const auto o = body_of(a);
  BOOST_TEST(o.at("status").as_string() == "ok");
  BOOST_TEST(o.at("state").as_string() == "kept");
  BOOST_TEST(o.at("stdout").as_string() == "hi\n");
  const auto& data = o.at("results").at(0).at("data");
  BOOST_TEST(data.at("text/plain").as_string() == "hi");
  BOOST_TEST(data.at("application/json").at("a").as_int64() == 1);
  BOOST_TEST(o.at("error").is_null());
}

BOOST_FIXTURE_TEST_CASE(code_that_raises_is_a_result, house_with_sandbox) {
  auto a = house.post(context() + "/execute", R"({"code":"raise"})");
  BOOST_TEST(a.status == 200, a.body);
  const auto o = body_of(a);
  BOOST_TEST(o.at("status").as_string() == "error");
  BOOST_TEST(o.at("error").at("name").as_string() == "Error");
  BOOST_TEST(o.at("results").as_array().empty());
}

BOOST_FIXTURE_TEST_CASE(a_stream_tells_in_order_and_ends_once,
                        house_with_sandbox) {
  auto a = house.post(one + "/execute", R"({"language":"bash","code":"hi"})",
                      "Accept: application/x-ndjson\r\n");
  BOOST_TEST(a.status == 200);
  const auto out = a.body.find(R"("type":"stdout","text":"hi\n")");
  const auto value = a.body.find(R"("type":"result")");
  const auto end = a.body.find(R"("type":"end")");
  BOOST_TEST((out < value && value < end && end != a.body.npos), a.body);
  BOOST_TEST(a.body.find(R"("type":"end")", end + 1) == a.body.npos);
}

BOOST_FIXTURE_TEST_CASE(an_interrupt_ends_a_cell_that_waits,
                        house_with_sandbox) {
  const auto context = this->context();
  raw_client reader{house.port};
  const std::string body = R"({"code":"wait"})";
  reader.send("POST " + context
              + "/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                "application/json\r\nAccept: "
                "application/x-ndjson\r\nContent-Length: "
              + std::to_string(body.size()) + "\r\n\r\n" + body);
  BOOST_TEST(reader.sees("\r\n\r\n"));
  auto a = house.post(context + "/interrupt", "");
  BOOST_TEST(a.status == 200, a.body);
  BOOST_TEST(body_of(a).at("interrupted").as_bool());
  BOOST_TEST(reader.sees(R"("status":"interrupted")"));
}

BOOST_FIXTURE_TEST_CASE(a_language_that_is_not_one_is_named,
                        house_with_sandbox) {
  auto a = house.post(one + "/contexts", R"({"language":"cobol"})");
  BOOST_TEST(a.status == 422);
  BOOST_TEST(a.body.find("/language") != a.body.npos, a.body);
}

BOOST_AUTO_TEST_SUITE_END()
