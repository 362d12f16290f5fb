#include "tests/support/http/api_words.hpp"
#include "tests/support/http/http_server.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;
using test::ask;
using test::http_house;
using test::posting;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_connections)

namespace {

const std::string livez = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string command_run() {
  return R"({"command":"true"})";
}

/// The engine has the run: each round trip lets the server's thread go on.
void wait_until_held(test::fake_engine& engine, std::uint16_t port) {
  for (int i = 0; i < 2'000 && engine.held() == 0; ++i)
    ask(port, "GET", "/livez");
  BOOST_REQUIRE(engine.held() != 0);
}

std::ptrdiff_t open_descriptors() {
  std::filesystem::directory_iterator all{"/proc/self/fd"};
  return std::distance(begin(all), end(all));
}

} // namespace

// H25
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

// H25, H26
BOOST_AUTO_TEST_CASE(stays_quick_beside_five_hundred_slow_clients) {
  http_house house;
  std::vector<std::unique_ptr<raw_client>> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(std::make_unique<raw_client>(house.port));
    slow.back()->send("GET /livez HTTP/1.1\r\nHost: loc");
  }
  raw_client client{house.port};
  std::vector<std::chrono::steady_clock::duration> took;
  for (int i = 0; i < 21; ++i) {
    for (auto& one : slow)
      one->send("a"); // a byte more of each head
    auto began = std::chrono::steady_clock::now();
    client.send(livez);
    BOOST_TEST(client.read().status == 200);
    took.push_back(std::chrono::steady_clock::now() - began);
  }
  // The median: a machine that builds something else may stumble once.
  std::sort(took.begin(), took.end());
  BOOST_TEST((took[10] < 100ms));
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

// H26
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

// H33
BOOST_AUTO_TEST_CASE(cancels_the_run_of_a_client_that_left) {
  http_house house;
  house.engine.hold = true;
  {
    raw_client client{house.port};
    client.send(posting("/v1/runs", command_run()));
    wait_until_held(house.engine, house.port);
  }
  for (auto end = std::chrono::steady_clock::now() + 30s;
       house.engine.cancelled == 0 && std::chrono::steady_clock::now() < end;)
    house.get("/livez");
  BOOST_TEST(house.engine.cancelled == 1);
  house.engine.release();
}

BOOST_AUTO_TEST_CASE(answers_a_client_that_has_closed_only_its_half) {
  http_house house;
  house.engine.hold = true;
  raw_client client{house.port};
  client.send(posting("/v1/runs", command_run()) + livez);
  wait_until_held(house.engine, house.port);
  client.finish_sending();
  // Whether somebody is still there is found out by saying something harmless.
  BOOST_TEST(client.read().status == 100);
  BOOST_TEST(client.read().status == 100);
  BOOST_TEST(house.engine.cancelled == 0);
  house.engine.release();
  auto answer = client.read();
  while (answer.status == 100)
    answer = client.read();
  BOOST_TEST(answer.status == 200);
  BOOST_TEST(client.read().body == "ok\n"); // what was asked behind it
  BOOST_TEST(client.ends());
}

// H26
BOOST_AUTO_TEST_CASE(forgets_connections_that_end_the_hard_way) {
  http_house house;
  house.get("/livez"); // all that it opens once is open
  auto before = open_descriptors();
  for (int i = 0; i < 300; ++i) {
    raw_client client{house.port};
    client.send(i % 3 == 0 ? livez : i % 3 == 1 ? "GET /li" : "");
    linger now{1, 0}; // closing sends RST
    ::setsockopt(client.descriptor(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  raw_client half{house.port};
  half.send(livez);
  half.finish_sending(); // half open: the answer still comes
  BOOST_TEST(half.read().status == 200);
  BOOST_TEST(half.ends());
  raw_client client{house.port};
  for (int i = 0; i < 2'000; ++i) {
    client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    auto metrics = client.read().body;
    if (metrics.find("\ntroupe_http_connections 1\n") != metrics.npos
        && open_descriptors() <= before + 4) // both ends of these two
      return;
  }
  BOOST_ERROR("connections that are gone are still counted, or open");
}

// H25, H34
BOOST_AUTO_TEST_CASE(ends_a_client_that_reads_nothing) {
  net::server_options o;
  o.write_timeout = 300ms;
  o.body_rate = 1u << 20; // the deadline grows with what is to be written
  http_house house{o};
  raw_client client{house.port};
  int small = 4'096;
  ::setsockopt(client.descriptor(), SOL_SOCKET, SO_RCVBUF, &small,
               sizeof small);
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(many);
  // Each question on a connection of its own: the deadline is everybody's,
  // and a busy machine may let it strike somebody else, too.
  constexpr std::string_view none = "\ntroupe_http_timeouts_total 0\n";
  for (auto end = std::chrono::steady_clock::now() + 30s;
       std::chrono::steady_clock::now() < end;) {
    auto metrics = house.get("/metrics");
    if (metrics.status == 200 && metrics.body.find(none) == std::string::npos)
      return;
  }
  BOOST_ERROR("a client that reads nothing was never ended");
}

BOOST_AUTO_TEST_SUITE_END()
