// What becomes of connections, and what they may bring.
#include "tests/net/client/client_fixture.hpp"

#include <atomic>
#include <vector>

using namespace troupe;
using namespace troupe::test;

BOOST_FIXTURE_TEST_SUITE(client_connections, client_fixture)

BOOST_AUTO_TEST_CASE(is_called_off_while_it_still_connects) {
  client_request r;
  r.abort = std::make_shared<abort_switch>();
  scripted_server mute{[this, abort = r.abort](peer& p, int) {
    boost::asio::post(io, [abort] { abort->trip(); });
    p.read_request(); // no word of TLS
  }};
  r.service = {true, "127.0.0.1", mute.port(), ""};
  r.deadline = std::chrono::steady_clock::now() + 5s;
  auto got = send(r);
  BOOST_REQUIRE(!got.answer.has_value());
  BOOST_TEST(got.answer.error().text == "called off");
  BOOST_TEST(!got.may_have_acted);
}

// Each sandbox may have a name of its own, which nobody asks for again.
BOOST_AUTO_TEST_CASE(keeps_nothing_of_hosts_that_are_not_asked_again) {
  options.idle_timeout = 20ms;
  scripted_server server{always(ok)};
  std::vector<std::string> names{"127.0.0.1",  "127.1",  "127.0.1",
                                 "2130706433", "0x7f.1", "0x7f000001"};
  for (const auto& name : names) { // to a resolver they are all the same
    auto r = request(server);
    r.service.host = name;
    BOOST_TEST(send(r).answer.has_value(), name);
  }
  BOOST_TEST(server.connections() == static_cast<int>(names.size()));
  io.restart();
  while (client->counters().hosts > 0 && io.run_one_for(5s) > 0) {
  }
  BOOST_TEST(client->counters().hosts == 0u);
  BOOST_TEST(client->counters().connections_idle == 0u);
  BOOST_TEST(send(request(server)).answer.has_value());
}

BOOST_AUTO_TEST_CASE(bounds_the_framing_between_the_bytes_of_a_body) {
  std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (auto [begin, more] :
       {std::pair{head + "1;x=", "yyyyyyyyyyyyyyyy"},
        std::pair{head + "1\r\nx\r\n0\r\n", "X-More: x\r\n"}}) {
    std::string piece;
    while (piece.size() < 4'096)
      piece += more;
    std::atomic<std::size_t> sent{0};
    scripted_server server{[&, begin = begin](peer& p, int) {
      p.read_request();
      p.write(begin);
      while (sent < (64u << 20) && p.write(piece))
        sent += piece.size();
    }};
    auto got = send(request(server));
    BOOST_TEST(!got.answer.has_value());
    BOOST_TEST(sent < (16u << 20)); // what a connection's buffers hold
  }
}

BOOST_AUTO_TEST_SUITE_END()
