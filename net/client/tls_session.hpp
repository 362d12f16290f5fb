#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace troupe::net {

/// A client's end of TLS over a stream, whose deadlines it keeps. Asio's holds
/// four buffers of 17 KiB for as long as it is there; thousands of ours wait
/// for an answer or for work, and hold what has come and is not read yet.
///
/// One read and one write may be under way at the same time.
class tls_session {
public:
  using stream = boost::beast::tcp_stream;

  tls_session(stream& under, boost::asio::ssl::context& context);

  /// For what is asked for in the handshake, and what came of it.
  SSL* native() { return ssl_.get(); }

  boost::asio::awaitable<boost::system::error_code> shake_hands();
  /// Whatever has come; 0 with an error. An end that TLS did not announce is
  /// `stream_truncated`.
  boost::asio::awaitable<std::size_t> read(boost::asio::mutable_buffer into,
                                           boost::system::error_code& why);
  /// All of it.
  boost::asio::awaitable<boost::system::error_code>
  write(std::span<const boost::asio::const_buffer> pieces);

  /// Whether something has arrived unasked.
  bool has_unread() const {
    return !wire_->in.empty() || SSL_pending(ssl_.get()) > 0;
  }

private:
  /// What is between OpenSSL and the stream.
  struct wire {
    std::string in; // as it came; empty as soon as all of it is taken
    std::size_t taken = 0;
    std::string out; // to be sent
  };
  /// How far a step of OpenSSL's came. Read at once: the thread's list of
  /// errors is shared.
  struct outcome {
    bool done = false;
    bool wants_more = false;
    boost::system::error_code why{};
  };

  static BIO_METHOD* method();
  static wire& wire_of(BIO* bio);
  outcome outcome_of(int returned);
  boost::asio::awaitable<boost::system::error_code> fill();
  boost::asio::awaitable<boost::system::error_code> flush(bool wait);

  stream& under_;
  std::unique_ptr<wire> wire_ = std::make_unique<wire>();
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  std::size_t pace_;
  boost::asio::steady_timer
    flushed_; // wakes writers that wait for another's flush
  bool flushing_ = false;
  boost::system::error_code broken_{}; // of a write: for good
};

} // namespace troupe::net
