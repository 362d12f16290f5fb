// A peer whose process is stopped: the kernel answers for it, it does not.
#include "actors/cluster/link_tls.hpp"
#include "actors/cluster/tls_link.hpp"
#include "tests/support/http/test_authority.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <array>

using namespace troupe;
using namespace troupe::test;
namespace asio = boost::asio;

BOOST_AUTO_TEST_SUITE(links)

namespace {

using tcp = asio::ip::tcp;

link_identity signed_by(const test_authority& ours, const std::string& who) {
  auto own = ours.sign(who, "DNS:localhost,IP:127.0.0.1");
  return {own.certificate, own.key, ours.file()};
}

std::shared_ptr<asio::ssl::context> context_of(const link_identity& who,
                                               link_side side) {
  auto made = make_link_context(who, side);
  BOOST_REQUIRE(made.has_value());
  return *made;
}

asio::awaitable<void> take_in(std::shared_ptr<tls_link> link, int& end) {
  auto met = co_await link->handshake_as_server();
  auto fd = link->take_caf_socket();
  BOOST_REQUIRE((met && fd));
  end = *fd;
  co_await link->relay();
}

/// One heartbeat, then silence; true once the other side has hung up.
asio::awaitable<void> beat_once(tcp::endpoint to, link_identity who,
                                bool& hung_up) {
  auto tls = context_of(who, link_side::dials);
  asio::ssl::stream<tcp::socket> link{co_await asio::this_coro::executor, *tls};
  co_await link.lowest_layer().async_connect(to, asio::use_awaitable);
  co_await link.async_handshake(asio::ssl::stream_base::client,
                                asio::use_awaitable);
  std::array<unsigned char, 32> frame{6};
  co_await asio::async_write(link, asio::buffer(frame), asio::use_awaitable);
  try {
    co_await asio::async_read(link, asio::buffer(frame), asio::use_awaitable);
  } catch (const boost::system::system_error&) {
    hung_up = true;
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(are_cut_when_the_heart_of_the_peer_stops) {
  tests::temporary_directory folder;
  test_authority ours{folder.path(), "ours"};
  asio::io_context io;
  tcp::acceptor door{io, {asio::ip::address_v4::loopback(), 0}};
  bool hung_up = false;
  auto peer
    = beat_once(door.local_endpoint(), signed_by(ours, "peer"), hung_up);
  asio::co_spawn(io, std::move(peer), asio::detached);
  int end = -1;
  door.async_accept([&](boost::system::error_code, tcp::socket raw) {
    auto link = std::make_shared<tls_link>(
      std::move(raw), context_of(signed_by(ours, "us"), link_side::answers),
      largest_request_frame, std::chrono::milliseconds{20});
    auto work = take_in(std::move(link), end);
    asio::co_spawn(io, std::move(work), asio::detached);
  });
  io.run_for(std::chrono::seconds{60});
  BOOST_TEST(hung_up);
  ::close(end);
}

BOOST_AUTO_TEST_SUITE_END()
