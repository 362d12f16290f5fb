#include "actors/link.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace troupe {

namespace asio = boost::asio;

namespace {

// docs/reference/caf.md#handshakes
constexpr std::chrono::seconds handshake_time{2};
constexpr std::size_t chunk_bytes = 64u << 10;

// A cut cable says nothing: the kernel asks after ten seconds, and gives up
// after as many more.
constexpr int quiet_seconds = 10;
constexpr int probe_seconds = 3;
constexpr int probes = 3;
constexpr unsigned unanswered_ms = 20'000;

void watch_for_silence(int fd) {
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &quiet_seconds,
               sizeof quiet_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds,
               sizeof probe_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms,
               sizeof unanswered_ms);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

} // namespace

node_link::node_link(tcp::socket raw, std::shared_ptr<asio::ssl::context> tls,
                     std::uint64_t largest, std::chrono::milliseconds silence)
    : tls_{std::move(tls)}, peer_{std::move(raw), *tls_},
      ours_{peer_.get_executor()}, guard_{largest}, silence_{silence},
      pulse_{peer_.get_executor()} {
  watch_for_silence(peer_.lowest_layer().native_handle());
}

asio::awaitable<result<void>>
node_link::shake_hands(asio::ssl::stream_base::handshake_type side) {
  asio::steady_timer deadline{peer_.get_executor(), handshake_time};
  deadline.async_wait([weak = weak_from_this()](boost::system::error_code e) {
    if (auto self = weak.lock(); self && !e)
      self->close();
  });
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  co_await peer_.async_handshake(side, token);
  deadline.cancel();
  if (failed)
    co_return error{ec::denied, "shake hands: " + failed.message(), {}, {}};
  co_return result<void>{};
}

asio::awaitable<result<void>> node_link::welcome() {
  return shake_hands(asio::ssl::stream_base::server);
}

asio::awaitable<result<void>> node_link::greet(std::string host) {
  SSL_set_tlsext_host_name(peer_.native_handle(), host.c_str());
  peer_.set_verify_callback(asio::ssl::host_name_verification(host));
  return shake_hands(asio::ssl::stream_base::client);
}

result<int> node_link::middleman_end() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)
      != 0)
    return error{ec::exhausted,
                 std::string{"make a socket pair: "} + std::strerror(errno),
                 {},
                 {}};
  ours_.assign(asio::local::stream_protocol{}, ends[0]);
  return ends[1];
}

asio::awaitable<void> node_link::carry() {
  auto self = shared_from_this();
  auto out = carry_out();
  asio::co_spawn(peer_.get_executor(), std::move(out), asio::detached);
  auto life = listen_for_life();
  asio::co_spawn(peer_.get_executor(), std::move(life), asio::detached);
  std::vector<unsigned char> chunk(chunk_bytes);
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  for (;;) {
    listening_ = true;
    auto n = co_await peer_.async_read_some(asio::buffer(chunk), token);
    listening_ = false;
    heard_ = true;
    if (failed || !guard_.feed(chunk.data(), n))
      break;
    co_await asio::async_write(ours_, asio::buffer(chunk.data(), n), token);
    if (failed)
      break;
  }
  close();
}

asio::awaitable<void> node_link::carry_out() {
  auto self = shared_from_this();
  std::vector<unsigned char> chunk(chunk_bytes);
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  for (;;) {
    auto n = co_await ours_.async_read_some(asio::buffer(chunk), token);
    if (failed)
      break;
    co_await asio::async_write(peer_, asio::buffer(chunk.data(), n), token);
    if (failed)
      break;
  }
  close();
}

/// The kernel of a process that is stopped answers every probe: whether there
/// is somebody, only heartbeats tell.
asio::awaitable<void> node_link::listen_for_life() {
  auto self = shared_from_this();
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  while (peer_.lowest_layer().is_open()) {
    heard_ = false;
    pulse_.expires_after(silence_);
    co_await pulse_.async_wait(token);
    if (!failed && listening_ && !heard_ && guard_.heard_heartbeat())
      close();
  }
}

void node_link::close() {
  boost::system::error_code ignored;
  pulse_.cancel();
  peer_.lowest_layer().close(ignored);
  ours_.close(ignored);
}

} // namespace troupe
