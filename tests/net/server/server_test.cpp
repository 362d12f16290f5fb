#include "net/server/server.hpp"
#include "runtime/api_key.hpp"
#include "tests/support/http_house.hpp"

#include <zlib.h>

using namespace troupe;
using namespace std::chrono_literals;
using test::ask;
using test::http_house;
using test::raw_client;

namespace {

const std::string livez = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string gunzip(const std::string& bytes) {
  z_stream z{};
  inflateInit2(&z, 15 + 16);
  std::string out(1 << 20, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  inflate(&z, Z_FINISH);
  out.resize(z.total_out);
  inflateEnd(&z);
  return out;
}

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

BOOST_AUTO_TEST_SUITE(http_server_suite)

BOOST_AUTO_TEST_CASE(answers_that_it_lives) {
  http_house house;
  auto a = house.get("/livez");
  BOOST_TEST(a.status == 200);
  BOOST_TEST(a.body == "ok\n");
  BOOST_TEST(a.fields["x-content-type-options"] == "nosniff");
  BOOST_TEST(a.fields["cache-control"] == "no-store");
  BOOST_TEST(!a.fields["x-request-id"].empty());
}

BOOST_AUTO_TEST_CASE(keeps_a_connection_for_many_requests) {
  http_house house;
  raw_client client{house.port};
  for (int i = 0; i < 50; ++i) {
    client.send(livez);
    BOOST_TEST(client.read().status == 200);
  }
}

BOOST_AUTO_TEST_CASE(answers_pipelined_requests_in_order) {
  http_house house;
  raw_client client{house.port};
  std::string bytes;
  for (int i = 0; i < 200; ++i)
    bytes += "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r"
      + std::to_string(i) + "\r\n\r\n";
  client.send(bytes);
  for (int i = 0; i < 200; ++i) {
    auto a = client.read();
    BOOST_TEST_REQUIRE(a.status == 200);
    BOOST_TEST(a.fields["x-request-id"] == "r" + std::to_string(i));
  }
}

BOOST_AUTO_TEST_CASE(answers_nothing_behind_an_error) {
  http_house house;
  raw_client client{house.port};
  client.send(livez + "GET / HTTP/9.9\r\n\r\n" + livez + livez);
  BOOST_TEST(client.read().status == 200);
  BOOST_TEST(client.read().status == 505);
  BOOST_TEST(client.read().status == 0);
}

BOOST_AUTO_TEST_CASE(tells_an_unknown_path_from_a_wrong_method) {
  http_house house;
  BOOST_TEST(house.get("/nowhere").status == 404);
  auto wrong = ask(house.port, "DELETE", "/livez");
  BOOST_TEST(wrong.status == 405);
  BOOST_TEST(wrong.fields["allow"] == "GET, HEAD, OPTIONS");
  auto options = ask(house.port, "OPTIONS", "/livez");
  BOOST_TEST(options.status == 204);
  BOOST_TEST(options.fields["allow"] == "GET, HEAD, OPTIONS");
  BOOST_TEST(ask(house.port, "OPTIONS", "*").status == 204);
}

BOOST_AUTO_TEST_CASE(answers_head_without_a_body) {
  http_house house;
  raw_client client{house.port};
  client.send("HEAD /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + livez);
  auto head = client.read(true);
  BOOST_TEST(head.status == 200);
  BOOST_TEST(head.fields["content-length"] == "3");
  BOOST_TEST(client.read().body == "ok\n");
}

BOOST_AUTO_TEST_CASE(speaks_to_clients_of_1_0) {
  http_house house;
  raw_client plain{house.port};
  plain.send("GET /livez HTTP/1.0\r\n\r\n");
  BOOST_TEST(plain.read().body == "ok\n");
  BOOST_TEST(plain.ends());
  raw_client kept{house.port};
  kept.send("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  BOOST_TEST(kept.read().fields["connection"] == "keep-alive");
  kept.send(livez);
  BOOST_TEST(kept.read().status == 200);
}

BOOST_AUTO_TEST_CASE(takes_a_head_byte_by_byte) {
  http_house house;
  raw_client client{house.port};
  for (char c : livez)
    client.send({&c, 1});
  BOOST_TEST(client.read().status == 200);
}

BOOST_AUTO_TEST_CASE(takes_a_body_in_chunks_of_one_byte) {
  http_house house;
  raw_client client{house.port};
  std::string body;
  for (char c : command_run())
    body += "1\r\n" + std::string(1, c) + "\r\n";
  client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
              "application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
              + body + "0\r\n\r\n" + livez);
  BOOST_TEST(client.read().status == 200);
  BOOST_TEST(client.read().body == "ok\n");
}

BOOST_AUTO_TEST_CASE(says_continue_before_a_body_that_it_takes) {
  http_house house;
  raw_client client{house.port};
  auto body = command_run();
  client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
              "application/json\r\nExpect: 100-continue\r\nContent-Length: "
              + std::to_string(body.size()) + "\r\n\r\n");
  BOOST_TEST(client.read().status == 100);
  client.send(body);
  BOOST_TEST(client.read().status == 200);
}

BOOST_AUTO_TEST_CASE(ignores_an_upgrade) {
  http_house house;
  BOOST_TEST(house.get("/livez", "Upgrade: h2c\r\n").status == 200);
  BOOST_TEST(house.get("/livez", "Upgrade: websocket\r\n").status == 200);
}

BOOST_AUTO_TEST_CASE(echoes_only_a_harmless_request_id) {
  http_house house;
  auto own = house.get("/livez", "X-Request-Id: abc-1.2_3\r\n");
  BOOST_TEST(own.fields["x-request-id"] == "abc-1.2_3");
  auto bad = house.get("/livez", "X-Request-Id: a b\"<script>\r\n");
  BOOST_TEST(bad.fields["x-request-id"].find("script") == std::string::npos);
  auto longer
    = house.get("/livez", "X-Request-Id: " + std::string(200, 'a') + "\r\n");
  BOOST_TEST(longer.fields["x-request-id"].size() < 100u);
}

BOOST_AUTO_TEST_CASE(closes_quietly_when_a_request_is_cut_off) {
  http_house house;
  for (std::string part :
       {"GET /livez HT", "GET /livez HTTP/1.1\r\nHost: lo",
        "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nContent-Length: 10\r\n\r\n{\"a\""}) {
    raw_client client{house.port};
    client.send(part);
    client.finish_sending();
    BOOST_TEST(client.read().status == 0);
    BOOST_TEST(client.ends());
  }
}

BOOST_AUTO_TEST_CASE(ends_slow_clients_at_an_absolute_deadline) {
  net::server_options o;
  o.head_timeout = o.body_timeout = 400ms;
  http_house house{o};
  raw_client silent{house.port};
  raw_client head{house.port};
  head.send("GET /li");
  raw_client body{house.port};
  body.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            "application/json\r\nContent-Length: 10\r\n\r\n{");
  // A byte now and then must not buy more time.
  auto began = std::chrono::steady_clock::now();
  while (head.send("x") && std::chrono::steady_clock::now() - began < 5s) {
    pollfd p{head.descriptor(), POLLIN, 0};
    if (::poll(&p, 1, 50) > 0)
      break;
  }
  BOOST_TEST(head.read().status == 408);
  BOOST_TEST(body.read().status == 408);
  BOOST_TEST(silent.read().status == 0);
  BOOST_TEST((std::chrono::steady_clock::now() - began < 4s));
}

BOOST_AUTO_TEST_CASE(stays_quick_beside_five_hundred_slow_clients) {
  http_house house;
  std::vector<std::unique_ptr<raw_client>> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(std::make_unique<raw_client>(house.port));
    slow.back()->send("GET /livez HTTP/1.1\r\nHost: loc");
  }
  raw_client client{house.port};
  auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    client.send(livez);
    BOOST_TEST(client.read().status == 200);
  }
  // 20 answers in a second: the promise is one.
  BOOST_TEST((std::chrono::steady_clock::now() - began < 1s));
}

BOOST_AUTO_TEST_CASE(lets_an_idle_connection_make_room_for_a_new_one) {
  net::server_options o;
  o.connection_limit = 3;
  http_house house{o};
  raw_client oldest{house.port};
  oldest.send(livez);
  BOOST_TEST(oldest.read().status == 200);
  raw_client b{house.port};
  b.send(livez);
  BOOST_TEST(b.read().status == 200);
  raw_client c{house.port};
  c.send(livez);
  BOOST_TEST(c.read().status == 200);
  raw_client d{house.port};
  d.send(livez);
  BOOST_TEST(d.read().status == 200);
  BOOST_TEST(oldest.ends());
}

BOOST_AUTO_TEST_CASE(bounds_the_connections_of_one_address) {
  net::server_options o;
  o.connections_per_address = 2;
  http_house house{o};
  raw_client a{house.port};
  a.send(livez);
  a.read();
  raw_client b{house.port};
  b.send(livez);
  b.read();
  raw_client c{house.port};
  c.send(livez);
  BOOST_TEST(c.read().status == 503);
  a.close();
  b.send(livez); // the close was seen before this is answered, or right after
  b.read();
  for (int i = 0; i < 50; ++i) {
    raw_client again{house.port};
    again.send(livez);
    if (again.read().status == 200)
      return;
  }
  BOOST_ERROR("the place was never given back");
}

BOOST_AUTO_TEST_CASE(compresses_large_answers_when_asked) {
  http_house house;
  house.engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status = run_status::success;
    done.stdout_text = std::string(100'000, 'a');
    return done;
  };
  auto plain = house.post("/v1/runs", command_run());
  BOOST_TEST(plain.body.size() > 100'000u);
  auto packed = house.post("/v1/runs", command_run(),
                           "Accept-Encoding: br, gzip;q=0.8\r\n");
  BOOST_TEST(packed.fields["content-encoding"] == "gzip");
  BOOST_TEST(packed.body.size() < 10'000u);
  BOOST_TEST(gunzip(packed.body).size() > 100'000u);
  auto refused
    = house.post("/v1/runs", command_run(), "Accept-Encoding: gzip;q=0\r\n");
  BOOST_TEST(!refused.fields.contains("content-encoding"));
}

BOOST_AUTO_TEST_CASE(answers_only_for_its_own_names) {
  net::server_options o;
  o.allowed_hosts = {"tools.example"};
  http_house house{o};
  auto with_host = [&](std::string host) {
    raw_client c{house.port};
    c.send("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return c.read().status;
  };
  BOOST_TEST(with_host("localhost") == 200);
  BOOST_TEST(with_host("127.0.0.1:8283") == 200);
  BOOST_TEST(with_host("[::1]:8283") == 200);
  BOOST_TEST(with_host("Tools.Example:80") == 200);
  BOOST_TEST(with_host("rebound.evil.example") == 421);
  BOOST_TEST(with_host("localhost.evil.example") == 421);
}

BOOST_AUTO_TEST_CASE(refuses_requests_from_pages_of_other_sites) {
  http_house house;
  auto evil
    = house.post("/v1/runs", command_run(), "Origin: https://evil.example\r\n");
  BOOST_TEST(evil.status == 403);
  BOOST_TEST(!evil.fields.contains("access-control-allow-origin"));
  BOOST_TEST(house.post("/v1/runs", command_run(), "Origin: null\r\n").status
             == 403);
  BOOST_TEST(
    house.post("/v1/runs", command_run(), "Origin: http://localhost\r\n").status
    == 200);
}

BOOST_AUTO_TEST_CASE(asks_for_a_key_where_one_is_required) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto key = make_api_key(default_organization(), "test", 1);
  house.engine.add_key(key.record);
  auto with = [&](const std::string& fields) {
    return house.post("/v1/runs", command_run(), fields).status;
  };
  auto bearer = "Authorization: Bearer " + key.text.reveal() + "\r\n";
  BOOST_TEST(with({}) == 401);
  BOOST_TEST(with(bearer) == 200);
  BOOST_TEST(with(bearer + bearer) == 401);
  BOOST_TEST(with("Authorization: Basic dXNlcjpwYXNz\r\n") == 401);
  BOOST_TEST(with("Authorization: Bearer\r\n") == 401);
  BOOST_TEST(with("Authorization: Bearer " + std::string(8'000, 'a') + "\r\n")
             == 401);
  auto other = make_api_key(default_organization(), "other", 7);
  BOOST_TEST(with("Authorization: Bearer " + other.text.reveal() + "\r\n")
             == 401);
  auto refused = house.post("/v1/runs", command_run());
  BOOST_TEST(refused.fields["www-authenticate"].starts_with("Bearer"));
  BOOST_TEST(house.get("/livez").status == 200);
}

BOOST_AUTO_TEST_CASE(minds_scopes_and_expiry) {
  net::server_options o;
  o.auth = net::auth_mode::required;
  http_house house{o};
  auto config_only = make_api_key(default_organization(), "c",
                                  static_cast<std::uint8_t>(scope::config));
  house.engine.add_key(config_only.record);
  auto old = make_api_key(default_organization(), "o", 7);
  old.record.expires_at = old.record.created_at - 1s;
  house.engine.add_key(old.record);
  auto with = [&](const new_key& key) {
    return house
      .post("/v1/runs", command_run(),
            "Authorization: Bearer " + key.text.reveal() + "\r\n")
      .status;
  };
  BOOST_TEST(with(config_only) == 403);
  BOOST_TEST(with(old) == 401);
}

BOOST_AUTO_TEST_CASE(is_not_reachable_from_elsewhere_without_keys) {
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

BOOST_AUTO_TEST_CASE(cancels_the_run_of_a_client_that_left) {
  http_house house;
  house.engine.hold = true;
  {
    raw_client client{house.port};
    auto body = command_run();
    client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                "application/json\r\nContent-Length: "
                + std::to_string(body.size()) + "\r\n\r\n" + body);
    wait_until_held(house.engine, house.port);
  }
  for (int i = 0; i < 1'000 && house.engine.cancelled == 0; ++i)
    house.get("/livez");
  BOOST_TEST(house.engine.cancelled == 1);
  house.engine.release();
}

BOOST_AUTO_TEST_CASE(bounds_what_waits_for_an_answer) {
  net::server_options o;
  o.in_flight_limit = 1;
  http_house house{o};
  house.engine.hold = true;
  raw_client client{house.port};
  auto body = command_run();
  client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
              "application/json\r\nContent-Length: "
              + std::to_string(body.size()) + "\r\n\r\n" + body);
  wait_until_held(house.engine, house.port);
  auto refused = house.post("/v1/runs", body);
  BOOST_TEST(refused.status == 503);
  BOOST_TEST(refused.fields["retry-after"] == "1");
  house.engine.release();
  BOOST_TEST(client.read().status == 200);
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
  net::server_options o;
  o.access_log = [&](const net::access_entry& e) {
    std::lock_guard lock{mutex};
    lines.push_back(std::string{e.method} + " " + std::string{e.route} + " "
                    + std::to_string(e.status) + " " + std::string{e.peer});
  };
  http_house house{o};
  house.get("/livez");
  house.get("/v1/runs/run-x/events");
  house.get("/secret/path");
  house.server.stop();
  BOOST_TEST(
    lines
      == (std::vector<std::string>{"GET /livez 200 127.0.0.1",
                                   "GET /v1/runs/{id}/events 404 127.0.0.1",
                                   "GET  404 127.0.0.1"}),
    boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
