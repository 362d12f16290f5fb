#include "tests/support/http/http_server.hpp"

#include <zlib.h>

using namespace troupe;
using namespace std::chrono_literals;
using test::ask;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_conversation)

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

} // namespace

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

// H24
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

// H24
BOOST_AUTO_TEST_CASE(keeps_what_comes_while_earlier_requests_wait) {
  http_house house;
  raw_client client{house.port};
  const auto named = [](const std::string& name, std::string_view target) {
    return "GET " + std::string{target}
    + " HTTP/1.1\r\nHost: localhost\r\n"
      "X-Request-Id: "
      + name + "\r\n\r\n";
  };
  // The first is answered by another thread, the second has come by then.
  house.engine.hold = true;
  client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
              "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n"
              R"({"command":"true"})"
              + named("second", "/livez"));
  for (int i = 0; i < 2'000 && house.engine.held() == 0; ++i)
    ask(house.port, "GET", "/livez");
  house.engine.release();
  BOOST_TEST(client.read().status == 200);
  BOOST_TEST(client.read().fields["x-request-id"] == "second");
  client.send(named("third", "/livez"));
  BOOST_TEST(client.read().fields["x-request-id"] == "third");
}

// H24
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

// H33
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

// H20
BOOST_AUTO_TEST_CASE(takes_a_body_in_chunks_of_one_byte) {
  http_house house;
  for (std::size_t size : {command_run().size(), std::size_t{100'000}}) {
    auto body = command_run();
    body.append(size - body.size(), ' ');
    std::string chunks;
    for (char c : body)
      chunks += "1\r\n" + std::string(1, c) + "\r\n";
    raw_client client{house.port};
    client.send("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                "application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunks + "0\r\n\r\n" + livez);
    BOOST_TEST(client.read().status == 200);
    BOOST_TEST(client.read().body == "ok\n");
  }
}

// H18
BOOST_AUTO_TEST_CASE(cuts_off_a_head_without_an_end) {
  http_house house;
  raw_client client{house.port};
  std::string line{"X-A: " + std::string(1'000, 'a') + "\r\n"};
  client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n");
  for (int i = 0; i < 100'000 && client.send(line); ++i) {
  }
  BOOST_TEST(!client.send(line));
  BOOST_TEST(house.get("/livez").status == 200);
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

// H32
BOOST_AUTO_TEST_CASE(ignores_an_upgrade) {
  http_house house;
  BOOST_TEST(house.get("/livez", "Upgrade: h2c\r\n").status == 200);
  BOOST_TEST(house.get("/livez", "Upgrade: websocket\r\n").status == 200);
}

// H31
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

// H23
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

// H33
BOOST_AUTO_TEST_CASE(has_no_body_where_there_must_be_none) {
  http_house house;
  auto made = house.post("/v1/sandbox-configs", R"({"type":"e2b"})");
  auto place = made.fields["location"];
  raw_client client{house.port};
  client.send("GET " + place + " HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: "
              + made.fields["etag"] + "\r\n\r\n" + livez);
  auto unchanged = client.read();
  BOOST_TEST(unchanged.status == 304);
  BOOST_TEST(!unchanged.fields.contains("content-length"));
  BOOST_TEST(client.read().body == "ok\n"); // what follows is the next answer
  client.send("DELETE " + place + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
              + livez);
  auto gone = client.read();
  BOOST_TEST(gone.status == 204);
  BOOST_TEST(!gone.fields.contains("content-length"));
  BOOST_TEST(!gone.fields.contains("transfer-encoding"));
  BOOST_TEST(client.read().body == "ok\n");
}

// H38
BOOST_AUTO_TEST_CASE(says_nothing_of_itself_in_an_error) {
  http_house house;
  for (auto target :
       {"/<script>alert(1)</script>", "/v1/runs/../../etc/passwd",
        "/v1/tools/%3Cb%3E", "/v1/runs/run-<b>", "/compat/nothing"}) {
    auto a = house.get(target);
    BOOST_TEST((a.status == 400 || a.status == 404), target);
    BOOST_TEST(a.fields["content-type"] == "application/problem+json");
    for (auto never : {"<", "script", "passwd", ".cpp", "troupe::", "Beast"})
      BOOST_TEST(a.body.find(never) == std::string::npos, a.body);
    BOOST_TEST(!a.fields.contains("server"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
