#include "net/client/tls_session.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace troupe::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Who waits holds little; who is kept busy reads a whole record at a time.
constexpr std::size_t min_fill_bytes = 1u << 10;
constexpr std::size_t max_fill_bytes = 17u << 10;
// Small writes leave together, large ones piece by piece.
constexpr std::size_t flush_bytes = 64u << 10;
constexpr std::size_t record_bytes = 16u << 10;

} // namespace

// -- OpenSSL's side ----------------------------------------------------------

tls_session::wire& tls_session::wire_of(BIO* bio) {
  return *static_cast<wire*>(BIO_get_data(bio));
}

/// Takes and gives strings, and never says more than "not yet".
BIO_METHOD* tls_session::method() {
  static auto* const made = [] {
    auto* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                           "troupe's wire");
    BIO_meth_set_write_ex(
      m, [](BIO* b, const char* from, std::size_t size, std::size_t* taken) {
        wire_of(b).out.append(from, size);
        *taken = size;
        return 1;
      });
    BIO_meth_set_read_ex(
      m, [](BIO* b, char* into, std::size_t size, std::size_t* given) {
        auto& w = wire_of(b);
        BIO_clear_retry_flags(b);
        *given = std::min(size, w.in.size() - w.taken);
        if (*given == 0) {
          BIO_set_retry_read(b);
          return 0;
        }
        std::memcpy(into, w.in.data() + w.taken, *given);
        w.taken += *given;
        if (w.taken == w.in.size()) { // what waits holds nothing
          w.in = {};
          w.taken = 0;
        }
        return 1;
      });
    BIO_meth_set_ctrl(m, [](BIO*, int what, long, void*) -> long {
      return what == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return m;
  }();
  return made;
}

tls_session::tls_session(stream& under, asio::ssl::context& context)
    : under_{under}, ssl_{SSL_new(context.native_handle()), SSL_free},
      pace_{min_fill_bytes}, flushed_{under.get_executor()} {
  flushed_.expires_at(asio::steady_timer::time_point::max());
  auto* bio = BIO_new(method());
  if (!ssl_ || !bio)
    throw std::bad_alloc{};
  BIO_set_data(bio, wire_.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_connect_state(ssl_.get());
}

tls_session::outcome tls_session::outcome_of(int returned) {
  if (returned == 1)
    return {true, false, {}};
  switch (SSL_get_error(ssl_.get(), returned)) {
  case SSL_ERROR_WANT_READ:
    return {false, true, {}};
  case SSL_ERROR_ZERO_RETURN:
    return {false, false, asio::error::eof};
  default:
    auto code = static_cast<int>(ERR_get_error());
    ERR_clear_error();
    if (code == 0)
      return {false, false, asio::ssl::error::unspecified_system_error};
    return {false, false, {code, asio::error::get_ssl_category()}};
  }
}

// -- the stream's side -------------------------------------------------------

/// Reads more, after all that came before was taken. Into a text of its own:
/// OpenSSL sees nothing of it before it is there.
asio::awaitable<error_code> tls_session::fill() {
  std::string piece(pace_, '\0');
  error_code why;
  auto n = co_await under_.async_read_some(
    asio::buffer(piece), asio::redirect_error(asio::use_awaitable, why));
  pace_ = n == piece.size() ? max_fill_bytes : min_fill_bytes;
  piece.resize(n);
  wire_->in += piece;
  if (why == asio::error::eof)
    why = asio::ssl::error::stream_truncated;
  co_return why;
}

/// Sends what OpenSSL left. Somebody who does already takes it along.
asio::awaitable<error_code> tls_session::flush(bool wait) {
  error_code ignored;
  while (flushing_ && wait)
    co_await flushed_.async_wait(
      asio::redirect_error(asio::use_awaitable, ignored));
  if (flushing_)
    co_return error_code{};
  flushing_ = true;
  while (!broken_ && !wire_->out.empty()) {
    auto leaving = std::exchange(wire_->out, {});
    co_await asio::async_write(
      under_, asio::buffer(leaving),
      asio::redirect_error(asio::use_awaitable, broken_));
  }
  flushing_ = false;
  flushed_.cancel();
  co_return broken_;
}

asio::awaitable<error_code> tls_session::shake_hands() {
  for (;;) {
    ERR_clear_error();
    auto came = outcome_of(SSL_do_handshake(ssl_.get()));
    auto sent = co_await flush(true); // also why it is refused
    if (came.done || came.why)
      co_return came.why ? came.why : sent;
    if (sent)
      co_return sent;
    if (auto why = co_await fill(); why)
      co_return why;
  }
}

asio::awaitable<std::size_t> tls_session::read(asio::mutable_buffer into,
                                               error_code& why) {
  why = {};
  for (;;) {
    std::size_t n = 0;
    ERR_clear_error();
    auto came
      = outcome_of(SSL_read_ex(ssl_.get(), into.data(), into.size(), &n));
    // Its keys were changed, say. Whoever does not hear that may still have
    // something to tell.
    if (!wire_->out.empty())
      (void)co_await flush(false);
    if (came.done)
      co_return n;
    why = came.why ? came.why : co_await fill();
    if (why)
      co_return 0;
  }
}

asio::awaitable<error_code>
tls_session::write(std::span<const asio::const_buffer> pieces) {
  for (auto piece : pieces)
    while (piece.size() > 0) {
      std::size_t n = 0;
      ERR_clear_error();
      auto came = outcome_of(SSL_write_ex(
        ssl_.get(), piece.data(), std::min(piece.size(), record_bytes), &n));
      if (came.why)
        co_return came.why;
      if (!came.done) // to shake hands once more is not permitted
        co_return asio::ssl::error::unexpected_result;
      piece += n;
      if (wire_->out.size() < flush_bytes)
        continue;
      if (auto why = co_await flush(true); why)
        co_return why;
    }
  co_return co_await flush(true);
}

} // namespace troupe::net
