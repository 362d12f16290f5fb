#include "net/telemetry/exporter.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/http/scripted_server.hpp"

#include <boost/test/unit_test.hpp>

#include <future>
#include <mutex>

using namespace troupe;
using namespace troupe::net;

BOOST_AUTO_TEST_SUITE(span_exporters)

namespace {

/// A collector that keeps what it is sent.
struct collector {
  explicit collector(std::string status = "200 OK")
      : status_{std::move(status)}, server_{[this](test::peer& p, int) {
          for (auto r = p.read_request(); !r.empty(); r = p.read_request()) {
            {
              std::lock_guard lock{mutex_};
              requests_.push_back(r);
            }
            p.write("HTTP/1.1 " + status_
                    + "\r\nContent-Type: application/json\r\n"
                      "Content-Length: 2\r\n\r\n{}");
          }
        }} {}

  exporter_options options() {
    exporter_options o;
    o.endpoint = "http://127.0.0.1:" + std::to_string(server_.port());
    o.headers = secret{"x-token=a%20b, x-team=tools"};
    o.pause = std::chrono::milliseconds{5};
    o.timeout = std::chrono::milliseconds{5'000};
    return o;
  }
  std::vector<std::string> requests() {
    std::lock_guard lock{mutex_};
    return requests_;
  }

private:
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::string status_;
  test::scripted_server server_;
};

span a_span(std::string name) {
  span s;
  s.context = next_span({}, 1);
  s.name = std::move(name);
  s.begin = std::chrono::system_clock::time_point{std::chrono::seconds{1}};
  s.end = s.begin + std::chrono::milliseconds{5};
  s.attributes.emplace_back("troupe.usage.cpu_us", std::int64_t{7});
  return s;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(send_what_is_queued_before_they_go) {
  collector there;
  {
    auto exporter = span_exporter::open(there.options());
    BOOST_TEST_REQUIRE(exporter.has_value());
    for (int i = 0; i < 700; ++i) // more than one batch
      (*exporter)->add(a_span("execute_tool t" + std::to_string(i)));
  }
  auto requests = there.requests();
  BOOST_TEST_REQUIRE(requests.size() >= 2u);
  const auto& first = requests.front();
  BOOST_TEST(first.starts_with("POST /v1/traces HTTP/1.1\r\n"));
  BOOST_TEST(contains(first, "x-token: a b\r\n"));
  BOOST_TEST(contains(first, "x-team: tools\r\n"));
  std::size_t seen = 0;
  for (const auto& r : requests) {
    auto body = json::parse_object(r.substr(r.find("\r\n\r\n") + 4));
    BOOST_TEST_REQUIRE(body.has_value());
    const auto& spans = body->at("resourceSpans")
                          .at(0)
                          .at("scopeSpans")
                          .at(0)
                          .at("spans")
                          .as_array();
    const auto& s = spans.at(0).as_object();
    BOOST_TEST(s.at("traceId").as_string().size() == 32u);
    BOOST_TEST(s.at("startTimeUnixNano").as_string() == "1000000000");
    BOOST_TEST(s.at("endTimeUnixNano").as_string() == "1005000000");
    BOOST_TEST(s.at("attributes").at(0).at("value").at("intValue").as_string()
               == "7");
    seen += spans.size();
  }
  BOOST_TEST(seen == 700u);
}

BOOST_AUTO_TEST_CASE(count_what_a_collector_refuses) {
  collector there{"400 Bad Request"};
  auto exporter = span_exporter::open(there.options());
  BOOST_TEST_REQUIRE(exporter.has_value());
  (*exporter)->add(a_span("execute_tool a"));
  while (!contains((*exporter)->metrics(), "{outcome=\"failed\"} 1\n"))
    std::this_thread::yield();
  BOOST_TEST(contains((*exporter)->metrics(), "{outcome=\"sent\"} 0\n"));
}

BOOST_AUTO_TEST_CASE(drop_what_does_not_fit) {
  exporter_options o;
  o.endpoint = "http://127.0.0.1:9"; // nobody listens there
  o.queue = 2;
  o.pause = std::chrono::hours{1};
  o.timeout = std::chrono::milliseconds{100};
  auto exporter = span_exporter::open(o);
  BOOST_TEST_REQUIRE(exporter.has_value());
  for (int i = 0; i < 2'000; ++i)
    (*exporter)->add(a_span("execute_tool a"));
  BOOST_TEST(!contains((*exporter)->metrics(), "{outcome=\"dropped\"} 0\n"));
}

BOOST_AUTO_TEST_CASE(do_not_open_with_what_makes_no_sense) {
  exporter_options o;
  o.endpoint = "collector:4318";
  BOOST_TEST(!span_exporter::open(o));
  o.endpoint = "http://collector:4318";
  o.headers = secret{"token"};
  BOOST_TEST(!span_exporter::open(o));
  o.headers = secret{"token=a%0d%0ab"};
  BOOST_TEST(!span_exporter::open(o));
}

BOOST_AUTO_TEST_SUITE_END()
