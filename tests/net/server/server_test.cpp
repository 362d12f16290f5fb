#include "net/server/server.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using test::ask;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_server_suite)

namespace {

std::string command_run() {
  return R"({"command":"true"})";
}

/// The engine has the run: each round trip lets the server's thread go on.
void wait_until_held(test::fake_engine& engine, std::uint16_t port) {
  for (int i = 0; i < 2'000 && engine.held() == 0; ++i)
    ask(port, "GET", "/livez");
  BOOST_REQUIRE(engine.held() != 0);
}

} // namespace

BOOST_AUTO_TEST_CASE(is_not_reachable_from_elsewhere_without_keys) { // S8
  test::fake_engine engine;
  net::server_options o;
  o.listen = {"0.0.0.0:0"};
  o.threads = 1;
  net::http_server closed{engine, o};
  auto refused = closed.start();
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.error().text.find("troupe key create")
             != std::string::npos);
  engine.add_key(make_api_key(default_organization(), "k", 7).record);
  net::http_server open{engine, o};
  BOOST_TEST(open.start().has_value());
  // Even from this machine: the listener is not loopback.
  net::add_api(closed.routes(), engine);
  BOOST_TEST(ask(open.port(), "GET", "/livez").status == 200);
}

BOOST_AUTO_TEST_CASE(refuses_a_port_that_is_taken) {
  http_house first;
  test::fake_engine engine;
  net::server_options o;
  o.listen = {"127.0.0.1:" + std::to_string(first.port)};
  o.threads = 1;
  net::http_server second{engine, o};
  BOOST_TEST(!second.start());
}

BOOST_AUTO_TEST_CASE(refuses_a_listen_address_that_is_none) {
  test::fake_engine engine;
  for (std::string text : {"", "localhost", "127.0.0.1:", "127.0.0.1:99999",
                           "nowhere:80", "127.0.0.1:8x"}) {
    net::server_options o;
    o.listen = {text};
    net::http_server server{engine, o};
    BOOST_TEST(!server.start(), text);
  }
}

BOOST_AUTO_TEST_CASE(drains_in_order) {
  http_house house;
  house.engine.hold = true;
  raw_client client{house.port};
  auto body = command_run();
  client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
              "application/json\r\nContent-Length: "
              + std::to_string(body.size()) + "\r\n\r\n" + body);
  BOOST_TEST(ask(house.port, "GET", "/livez").status == 200);
  wait_until_held(house.engine, house.port);
  BOOST_TEST(!house.server.drain(10ms));
  auto refused = house.post("/v1/runs", body);
  BOOST_TEST(refused.status == 503);
  BOOST_TEST(!refused.fields["retry-after"].empty());
  BOOST_TEST(house.get("/livez").status == 200);
  house.engine.release();
  auto answer = client.read();
  BOOST_TEST(answer.status == 200);
  BOOST_TEST(answer.fields["connection"] == "close");
  BOOST_TEST(house.server.drain(5s));
}

BOOST_AUTO_TEST_CASE(survives_an_engine_that_answers_after_the_end) {
  test::fake_engine engine;
  {
    net::server_options o;
    o.listen = {"127.0.0.1:0"};
    o.threads = 1;
    net::http_server server{engine, o};
    net::add_api(server.routes(), engine);
    BOOST_REQUIRE(server.start());
    engine.hold = true;
    raw_client client{server.port()};
    auto body = command_run();
    client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                "application/json\r\nContent-Length: "
                + std::to_string(body.size()) + "\r\n\r\n" + body);
    wait_until_held(engine, server.port());
    server.stop();
  }
  engine.release();
}

BOOST_AUTO_TEST_CASE(tells_operators_how_it_is) {
  http_house house;
  BOOST_TEST(house.get("/readyz").status == 200);
  auto verbose = house.get("/readyz?verbose");
  BOOST_TEST(verbose.body.find("[+] store ready") != std::string::npos);
  house.engine.healthy = false;
  BOOST_TEST(house.get("/readyz").status == 503);
  auto metrics = house.get("/metrics").body;
  BOOST_TEST(metrics.find("troupe_runs_total 1\n") != std::string::npos);
  BOOST_TEST(metrics.find("troupe_http_requests_total{method=\"GET\",route=\""
                          "/readyz\",status=\"5xx\"} 1\n")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(logs_each_request_once) {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::size_t answered = 0;
  net::server_options o;
  o.access_log = [&](const net::access_entry& e) {
    std::lock_guard lock{mutex};
    lines.push_back(std::string{e.method} + " " + std::string{e.route} + " "
                    + std::to_string(e.status) + " " + std::string{e.peer}
                    + (e.trace_id.empty() ? "" : " in ")
                    + std::string{e.trace_id});
    answered += e.bytes_out;
  };
  http_house house{o};
  house.get("/livez");
  house.get("/v1/runs/run-x/events");
  house.get("/secret/path");
  ask(house.server.port(), "GET", "/livez", {},
      "traceparent: "
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  house.server.stop();
  BOOST_TEST(answered > 0u);
  BOOST_TEST(lines
               == (std::vector<std::string>{
                 "GET /livez 200 127.0.0.1",
                 "GET /v1/runs/{id}/events 404 127.0.0.1", "GET  404 127.0.0.1",
                 "GET /livez 200 127.0.0.1 in "
                 "0af7651916cd43dd8448eb211c80319c"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
