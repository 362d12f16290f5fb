// Traces of a serving engine: a collector gets them, the tool is part of them.
#include "runtime/json/json.hpp"
#include "tests/app/serving.hpp"
#include "tests/support/http/scripted_server.hpp"

#include <condition_variable>
#include <mutex>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(telemetry)

namespace {

/// Takes what is sent to it, and waits for a span.
class collector {
public:
  std::string address() const {
    return "http://127.0.0.1:" + std::to_string(server_.port());
  }
  json::object span_named(std::string_view name) {
    std::unique_lock lock{mutex_};
    json::object found;
    auto there = [&] {
      for (const auto& s : spans_)
        if (s.at("name").as_string() == name) {
          found = s;
          return true;
        }
      return false;
    };
    BOOST_REQUIRE(came_.wait_for(lock, std::chrono::seconds{60}, there));
    return found;
  }

private:
  void take(const std::string& request) {
    auto body
      = json::parse_object(request.substr(request.find("\r\n\r\n") + 4));
    if (!body)
      return;
    std::lock_guard lock{mutex_};
    for (const auto& s : body->at("resourceSpans")
                           .at(0)
                           .at("scopeSpans")
                           .at(0)
                           .at("spans")
                           .as_array())
      spans_.push_back(s.as_object());
    came_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<json::object> spans_;
  test::scripted_server server_{[this](test::peer& p, int) {
    for (auto r = p.read_request(); !r.empty(); r = p.read_request()) {
      take(r);
      p.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    }
  }};
};

constexpr auto look = R"j({"source":"import os\ndef look():\n)j"
                      R"j(    return os.environ['TRACEPARENT']"})j";

} // namespace

BOOST_AUTO_TEST_CASE(puts_a_run_between_its_caller_and_its_tool) {
  collector there;
  temporary_folder folder;
  serving engine{folder, {"--telemetry.otlp-endpoint=" + there.address()}};
  auto address = address_in(engine.greeting());
  auto answer = ask(
    address, "POST /v1/runs", look,
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  auto body = json::parse_object(answer.substr(answer.find("\r\n\r\n") + 4));
  BOOST_TEST_REQUIRE((body && body->contains("value")), answer);
  std::string inside{body->at("value").as_string()};
  auto run = there.span_named("execute_tool look");
  BOOST_TEST(run.at("traceId").as_string()
             == "0af7651916cd43dd8448eb211c80319c");
  BOOST_TEST(run.at("parentSpanId").as_string() == "b7ad6b7169203331");
  BOOST_TEST(inside.substr(3, 32) == "0af7651916cd43dd8448eb211c80319c");
  BOOST_TEST(inside.substr(36, 16) == run.at("spanId").as_string());
  auto stage = there.span_named("stage run");
  BOOST_TEST(stage.at("parentSpanId").as_string()
             == run.at("spanId").as_string());
  BOOST_TEST(engine.end(SIGTERM) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
