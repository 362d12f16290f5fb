// What becomes of connections, and what they may bring.
#include "tests/net/client/client_fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

using namespace troupe;
using namespace troupe::test;

namespace {

/// A server that answers nobody before `size` requests are there.
struct crowd {
  explicit crowd(int how_many) : size{how_many} {}

  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  int there = 0;
  scripted_server server{[this](peer& p, int) {
    while (!p.read_request().empty()) {
      std::unique_lock lock{mutex};
      auto until = ((there++ / size) + 1) * size;
      changed.notify_all();
      changed.wait(lock, [&] { return there >= until; });
      lock.unlock();
      p.write(ok);
    }
  }};
};

struct crowd_fixture : client_fixture {
  /// As many requests as it waits for; how many went well.
  int send_at_once(crowd& all) {
    if (!client)
      client = std::make_unique<http_client>(io.get_executor(), options);
    auto good = 0, left = all.size;
    auto once = [&]() -> boost::asio::awaitable<void> {
      auto r = request(all.server);
      r.deadline += 15s;
      auto done = co_await client->send(std::move(r));
      good += done.answer.has_value();
      if (--left == 0)
        io.stop();
    };
    for (int i = 0; i < all.size; ++i)
      boost::asio::co_spawn(io, once, boost::asio::detached);
    io.restart();
    io.run();
    return good;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(client_connections, crowd_fixture)

BOOST_AUTO_TEST_CASE(is_called_off_while_it_still_connects) {
  client_request r;
  r.abort = std::make_shared<cancellation>();
  scripted_server mute{[this, abort = r.abort](peer& p, int) {
    boost::asio::post(io, [abort] { abort->cancel(); });
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

// A crowd's connections are there for the next one, however large it is.
BOOST_AUTO_TEST_CASE(keeps_as_many_as_were_used_at_once) {
  crowd all{150};
  for (int round = 0; round < 3; ++round)
    BOOST_TEST(send_at_once(all) == all.size);
  BOOST_TEST(all.server.connections() == all.size);
  BOOST_TEST(client->counters().connections_reused == 2u * 150);
  BOOST_TEST(client->counters().connections_idle == 150u);
}

BOOST_AUTO_TEST_CASE(keeps_no_more_idle_ones_than_it_may) {
  options.max_idle = 3;
  crowd all{10};
  BOOST_TEST(send_at_once(all) == all.size);
  BOOST_TEST(client->counters().connections_idle == 3u);
  BOOST_TEST(client->counters().hosts == 1u);
  BOOST_TEST(send_at_once(all) == all.size);
  BOOST_TEST(client->counters().connections_idle == 3u);
  BOOST_TEST(all.server.connections() == 10 + 7);
}

BOOST_AUTO_TEST_CASE(lets_the_one_go_that_was_used_longest_ago) {
  options.max_idle = 2;
  scripted_server server{always(ok)};
  auto ask = [&](const char* name) {
    auto r = request(server);
    r.service.host = name;
    BOOST_TEST(send(r).answer.has_value(), name);
    return server.connections();
  };
  BOOST_TEST(ask("127.0.0.1") == 1);
  BOOST_TEST(ask("127.1") == 2);
  BOOST_TEST(ask("127.0.0.1") == 2); // so the other one is older
  BOOST_TEST(ask("127.0.1") == 3);
  BOOST_TEST(client->counters().hosts == 2u);
  BOOST_TEST(ask("127.0.0.1") == 3);
  BOOST_TEST(ask("127.1") == 4);
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
