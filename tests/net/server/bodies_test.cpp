// Bodies that are large, or too large.
#include "tests/support/http/http_server.hpp"

#include <latch>

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_bodies)

namespace {

constexpr std::size_t too_large = 17u << 20;

std::string head_of(const std::string& framing) {
  return "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
         "Content-Type: application/json\r\n"
    + framing + "\r\n\r\n";
}

std::string large_run() {
  return R"({"command":"true","labels":{"a":")" + std::string(300'000, 'x')
    + "\"}}";
}

} // namespace

// One io thread, and a handler that does not come back.
BOOST_AUTO_TEST_CASE(are_read_beside_the_io_thread_when_they_are_large) {
  http_house house;
  std::latch reached{1}, go_on{1};
  house.engine.play = [&](const run_request& r) -> result<run_result> {
    reached.count_down();
    go_on.wait();
    run_result done;
    done.id = r.id;
    done.status = run_status::success;
    return done;
  };
  raw_client large{house.port};
  auto body = R"({"command":"true")" + std::string(300'000, ' ') + "}";
  large.send(head_of("Content-Length: " + std::to_string(body.size())) + body);
  reached.wait();
  auto meanwhile = house.get("/livez").status;
  go_on.count_down();
  BOOST_TEST(meanwhile == 200);
  BOOST_TEST(large.read().status == 200);
}

BOOST_AUTO_TEST_CASE(are_refused_when_too_many_of_them_wait) {
  net::server_options o;
  o.large_bodies = 0;
  http_house house{o};
  auto refused = house.post("/v1/runs", large_run());
  BOOST_TEST(refused.status == 503);
  BOOST_TEST(refused.fields["retry-after"] == "1");
  BOOST_TEST(house.post("/v1/runs", R"({"command":"true"})").status == 200);
}

// Most clients send all of it before they read a word.
BOOST_AUTO_TEST_CASE(are_told_to_be_too_large_to_who_sends_all_of_it_first) {
  http_house house;
  const std::string piece(64u << 10, ' ');
  for (int i = 0; i < 5; ++i) {
    raw_client whole{house.port};
    whole.send(head_of("Content-Length: " + std::to_string(too_large)));
    for (std::size_t sent = 0; sent < too_large; sent += piece.size())
      whole.send(piece);
    auto answer = whole.read();
    BOOST_TEST(answer.status == 413);
    BOOST_TEST(answer.fields["connection"] == "close");
    BOOST_TEST(answer.body.find("http.max-body") != std::string::npos);
    whole.finish_sending();
    BOOST_TEST(whole.ends());
    BOOST_TEST(whole.rest().empty());

    raw_client chunked{house.port};
    chunked.send(head_of("Transfer-Encoding: chunked"));
    for (std::size_t sent = 0; sent < too_large; sent += piece.size())
      chunked.send("10000\r\n" + piece + "\r\n");
    chunked.send("0\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    BOOST_TEST(chunked.read().status == 413);
    chunked.finish_sending();
    BOOST_TEST(chunked.ends());
    BOOST_TEST(chunked.rest().empty()); // what stood behind it is not answered
  }
  BOOST_TEST(house.get("/metrics").body.find("\ntroupe_http_body_bytes 0\n")
             != std::string::npos);
}

// Neither the time nor the bytes of who goes on for ever.
BOOST_AUTO_TEST_CASE(are_taken_away_only_for_so_long) {
  const std::string piece(1u << 20, ' ');
  for (bool by_time : {true, false}) {
    net::server_options o;
    o.linger_timeout = by_time ? std::chrono::milliseconds{100}
                               : std::chrono::milliseconds{3'600'000};
    http_house house{o};
    raw_client endless{house.port};
    endless.send(head_of("Content-Length: 99999999999"));
    std::size_t sent = 0;
    while (endless.send(piece))
      sent += piece.size();
    BOOST_TEST(sent > 0u);
    if (!by_time)
      BOOST_TEST(sent < (128u << 20));
  }
}

BOOST_AUTO_TEST_SUITE_END()
