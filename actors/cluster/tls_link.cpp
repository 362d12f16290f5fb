#include "actors/cluster/tls_link.hpp"

#include "actors/cluster/certificate_errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace troupe {

namespace asio = boost::asio;

namespace {

// docs/reference/caf.md#handshakes
constexpr std::chrono::seconds handshake_time{2};
constexpr std::size_t chunk_bytes = 64u << 10;

constexpr int probes = 3;

// How often heartbeats are looked for within the silence that is allowed.
constexpr int looks = 4;

/// A cut cable says nothing: the kernel asks after half of the silence that is
/// allowed, and gives up at its end.
void watch_for_silence(int fd, std::chrono::milliseconds silence) {
  const int yes = 1;
  const auto unanswered_ms = static_cast<unsigned>(silence.count());
  const int quiet_seconds
    = std::max(1, static_cast<int>(silence.count() / 2'000));
  const int probe_seconds = std::max(1, quiet_seconds / probes);
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

/// Of the handshake, or of what TLS 1.3 tells a client after it.
std::string in_words(const boost::system::error_code& failed) {
  const auto text = failed.message();
  if (failed.category() == asio::error::get_ssl_category()
      && text.find("alert") != std::string::npos)
    return "the other side rejected the certificate of this node or its CA ("
      + text + ")";
  return text;
}

} // namespace

tls_link::tls_link(tcp::socket raw, std::shared_ptr<asio::ssl::context> tls,
                   std::uint64_t largest, std::chrono::milliseconds silence)
    : tls_{std::move(tls)}, peer_{std::move(raw), *tls_},
      ours_{peer_.get_executor()}, guard_{largest}, silence_{silence},
      pulse_{peer_.get_executor()} {
  watch_for_silence(peer_.lowest_layer().native_handle(), silence);
}

asio::awaitable<result<void>>
tls_link::shake_hands(asio::ssl::stream_base::handshake_type side) {
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
    co_return error{ec::denied,
                    "shake hands: "
                      + (refusal_.empty() ? in_words(failed) : refusal_)};
  co_return result<void>{};
}

/// Who has not proved to be that, and says why.
void tls_link::accept_only(const std::string& host) {
  auto verify = [this, host](bool trusted, asio::ssl::verify_context& context) {
    const bool fine = host.empty()
      ? trusted
      : asio::ssl::host_name_verification{host}(trusted, context);
    if (!fine && trusted) // else the other side hears of an internal error
      X509_STORE_CTX_set_error(context.native_handle(),
                               X509_V_ERR_HOSTNAME_MISMATCH);
    if (!fine && refusal_.empty())
      refusal_ = why_refused(context, trusted, host);
    return fine;
  };
  peer_.set_verify_callback(std::move(verify));
}

asio::awaitable<result<void>> tls_link::handshake_as_server() {
  accept_only({}); // its authority vouches for it, wherever it dials from
  return shake_hands(asio::ssl::stream_base::server);
}

asio::awaitable<result<void>> tls_link::handshake_as_client(std::string host) {
  SSL_set_tlsext_host_name(peer_.native_handle(), host.c_str());
  accept_only(host);
  return shake_hands(asio::ssl::stream_base::client);
}

result<int> tls_link::take_caf_socket() {
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

asio::awaitable<void> tls_link::relay() {
  auto self = shared_from_this();
  auto out = relay_outbound();
  asio::co_spawn(peer_.get_executor(), std::move(out), asio::detached);
  auto life = monitor_heartbeat();
  asio::co_spawn(peer_.get_executor(), std::move(life), asio::detached);
  std::vector<unsigned char> chunk(chunk_bytes);
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  for (;;) {
    listening_ = true;
    auto n = co_await peer_.async_read_some(asio::buffer(chunk), token);
    listening_ = false;
    heard_ = true;
    if (failed && failed.category() == asio::error::get_ssl_category()) {
      std::lock_guard guard{mutex_};
      why_cut_ = in_words(failed);
    }
    if (failed || !guard_.feed(chunk.data(), n))
      break;
    co_await asio::async_write(ours_, asio::buffer(chunk.data(), n), token);
    if (failed)
      break;
  }
  close();
}

asio::awaitable<void> tls_link::relay_outbound() {
  auto self = shared_from_this();
  std::vector<unsigned char> chunk(chunk_bytes);
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  for (;;) {
    auto n = co_await ours_.async_read_some(asio::buffer(chunk), token);
    if (failed)
      break;
    telling_ = told_ = true;
    co_await asio::async_write(peer_, asio::buffer(chunk.data(), n), token);
    telling_ = false;
    if (failed)
      break;
  }
  close();
}

/// The kernel of a process that is stopped answers every probe: whether there
/// is somebody, only heartbeats tell.
asio::awaitable<void> tls_link::monitor_heartbeat() {
  auto self = shared_from_this();
  boost::system::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  int quiet = 0;
  while (peer_.lowest_layer().is_open()) {
    heard_ = false;
    pulse_.expires_after(silence_ / looks);
    co_await pulse_.async_wait(token);
    const bool silent = !failed && listening_ && !heard_;
    quiet = silent && guard_.heard_heartbeat() ? quiet + 1 : 0;
    if (quiet == looks)
      close();
  }
}

std::string tls_link::why_cut() const {
  std::lock_guard guard{mutex_};
  return why_cut_;
}

void tls_link::close() {
  boost::system::error_code ignored;
  pulse_.cancel();
  peer_.lowest_layer().close(ignored);
  ours_.close(ignored);
}

} // namespace troupe
