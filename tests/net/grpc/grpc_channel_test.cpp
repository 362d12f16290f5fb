#include "net/client/client_tls.hpp"
#include "net/grpc/grpc_channel.hpp"
#include "tests/support/http/scripted_server.hpp"
#include "tests/support/providers/fake_grpc.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// A server that answers nobody before all are there, and a channel to it.
struct crowd {
  explicit crowd(int expected) : expected_{expected} {}

  int expected_;
  std::atomic<int> there{0};
  test::grpc_server server{[this](test::grpc_exchange& call) {
    ++there;
    call.look = [this](test::grpc_exchange& c) {
      if (there >= expected_) {
        c.send("x");
        c.end();
      }
    };
  }};
  asio::io_context io{1};
  std::shared_ptr<grpc_channel> channel;
  int good = 0;

  asio::awaitable<void> call_once() {
    grpc_call c;
    c.path = "/a.B/C";
    c.deadline = std::chrono::steady_clock::now() + 20s;
    auto reply = co_await channel->call(std::move(c));
    good += reply.status.ok();
    if (--left == 0)
      channel->close();
  }
  int left = 0;

  void run(channel_options options = {}) {
    auto url = parse_base_url(server.url());
    auto tls = make_client_tls({});
    BOOST_REQUIRE((url && tls));
    channel = std::make_shared<grpc_channel>(
      io.get_executor(), *url, *tls, std::make_shared<resolver>(),
      address_rule{}, std::move(options));
    left = expected_;
    for (int i = 0; i < expected_; ++i)
      asio::co_spawn(io, call_once(), asio::detached);
    io.run();
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(grpc_channels)

BOOST_AUTO_TEST_CASE(carry_a_hundred_calls_on_one_connection) {
  crowd all{100};
  all.run();
  BOOST_TEST(all.good == 100);
  BOOST_TEST(all.server.connections() == 1u);
}

BOOST_AUTO_TEST_CASE(open_another_one_for_more) {
  crowd all{250};
  all.run();
  BOOST_TEST(all.good == 250);
  BOOST_TEST(all.server.connections() == 3u);
}

BOOST_AUTO_TEST_CASE(open_no_more_than_they_may) {
  crowd all{150};
  all.there = 50; // fifty have to wait until the others are done
  channel_options one;
  one.max_connections = 1;
  all.run(one);
  BOOST_TEST(all.good == 150);
  BOOST_TEST(all.server.connections() == 1u);
}

BOOST_AUTO_TEST_CASE(are_closed_while_they_still_connect) {
  asio::io_context io{1};
  auto tls = make_client_tls({});
  BOOST_REQUIRE(tls.has_value());
  std::shared_ptr<grpc_channel> channel;
  test::scripted_server mute{[&](test::peer& p, int) {
    asio::post(io, [&channel] { channel->close(); });
    p.read_request(); // no word of TLS
  }};
  channel = std::make_shared<grpc_channel>(
    io.get_executor(), base_url{true, "127.0.0.1", mute.port(), ""}, *tls,
    std::make_shared<resolver>(), address_rule{});
  grpc_reply first, second;
  auto work = [&]() -> asio::awaitable<void> {
    grpc_call c;
    c.path = "/a.B/C";
    c.deadline = std::chrono::steady_clock::now() + 20s;
    auto again = c;
    first = co_await channel->call(std::move(c));
    second = co_await channel->call(std::move(again)); // it stays closed
  };
  asio::co_spawn(io, work, asio::detached);
  io.run();
  BOOST_TEST(first.status.message == "called off");
  BOOST_TEST(second.status.message == "the channel was closed");
  BOOST_TEST(!first.may_have_acted);
  BOOST_TEST(mute.connections() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
