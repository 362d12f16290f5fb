#pragma once

#include "net/client/resolver.hpp"
#include "net/client/tls_session.hpp"
#include "net/http/url.hpp"
#include "runtime/base/error.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace troupe::net {

/// What is asked for by ALPN. A service that speaks both must never be left to
/// choose: each of our clients speaks one.
enum class wire_protocol : std::uint8_t { http1, http2 };

/// One connection to one service, plain or TLS. Named apart from the server's:
/// both are linked into one binary.
class client_connection {
public:
  using plain_stream = boost::beast::tcp_stream;
  using time_point = std::chrono::steady_clock::time_point;
  /// Of framing (a head, a chunk's line, trailers) that did not end yet.
  static constexpr std::size_t max_unread_bytes = 128u << 10;

  explicit client_connection(boost::asio::any_io_executor ex) : plain_{ex} {}

  /// Tries every address once, then shakes hands and checks the name. The
  /// switch may be empty.
  boost::asio::awaitable<result<void>>
  open(const base_url& service, resolver::endpoints places,
       boost::asio::ssl::context& tls, time_point deadline,
       std::shared_ptr<cancellation> abort = {},
       wire_protocol speaks = wire_protocol::http1);

  /// Everything that follows ends at `deadline`.
  void expires_at(time_point deadline) { plain_.expires_at(deadline); }
  void never_expires() { plain_.expires_never(); }

  /// Plain or TLS, so that no caller has to know (nor the compiler to
  /// translate everything twice). Whatever has come; 0 with an error.
  boost::asio::awaitable<std::size_t> read(boost::asio::mutable_buffer into,
                                           boost::system::error_code& why);
  /// All of it.
  boost::asio::awaitable<boost::system::error_code>
  write(std::span<const boost::asio::const_buffer> pieces);

  bool is_tls() const { return tls_.has_value(); }
  boost::asio::any_io_executor executor() { return plain_.get_executor(); }
  /// What was read and not looked at yet.
  boost::beast::flat_buffer& buffer() { return buffer_; }

  /// Whether the other side is still there and silent, as it must be between
  /// two requests. Asks the kernel, waits for nothing.
  bool usable();
  void close();

  time_point idle_since{};

private:
  result<void> reach_socket(const base_url& service);
  boost::asio::awaitable<result<void>> reach(const base_url& service,
                                             resolver::endpoints places,
                                             const cancellation* abort);
  boost::asio::awaitable<result<void>>
  shake_hands(const base_url& service, boost::asio::ssl::context& tls,
              wire_protocol speaks);

  plain_stream plain_;
  std::optional<tls_session> tls_;
  boost::beast::flat_buffer buffer_{max_unread_bytes};
};

using client_connection_ptr = std::unique_ptr<client_connection>;

} // namespace troupe::net
