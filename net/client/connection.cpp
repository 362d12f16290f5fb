#include "net/client/connection.hpp"

#include "runtime/base/error.hpp"
#include "runtime/base/unix_address.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <string_view>

namespace troupe::net {

namespace asio = boost::asio;
namespace ssl = asio::ssl;

namespace {

error cannot_connect(const base_url& service,
                     const boost::system::error_code& why) {
  auto timed_out = why == boost::beast::error::timeout;
  return fail(ec::unavailable,
              "connect to " + service.authority() + ": "
                + (timed_out ? "timed out" : why.message()));
}

bool is_address(const std::string& host) {
  boost::system::error_code bad;
  asio::ip::make_address(host, bad);
  return !bad;
}

/// The certificate's list of names counts, its subject never did officially
/// (RFC 9110 4.3.4), and a star stands for one whole label.
bool expect_name(SSL* tls, const std::string& host) {
  auto* check = SSL_get0_param(tls);
  X509_VERIFY_PARAM_set_hostflags(check,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
                                    | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (is_address(host))
    return X509_VERIFY_PARAM_set1_ip_asc(check, host.c_str()) == 1;
  return X509_VERIFY_PARAM_set1_host(check, host.c_str(), host.size()) == 1;
}

/// A server may name what nobody asked for. One that has never heard of the
/// question names nothing, which is HTTP/1.1.
bool agreed(SSL* tls, wire_protocol speaks) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls, &name, &size);
  std::string_view chosen{reinterpret_cast<const char*>(name), size};
  if (speaks == wire_protocol::http2)
    return chosen == "h2";
  return chosen.empty() || chosen == "http/1.1";
}

} // namespace

asio::awaitable<result<void>>
client_connection::open(const base_url& service, resolver::endpoints places,
                        ssl::context& tls, time_point deadline,
                        std::shared_ptr<cancellation> abort,
                        wire_protocol speaks) {
  plain_.expires_at(deadline);
  if (abort)
    abort->on_cancel([this] { close(); });
  result<void> open;
  if (service.socket.empty())
    open = co_await reach(service, std::move(places), abort.get());
  else
    open = reach_socket(service);
  if (open && service.tls)
    open = co_await shake_hands(service, tls, speaks);
  if (abort)
    abort->clear();
  if (abort && abort->cancelled())
    co_return fail(ec::unavailable, "called off");
  co_return open;
}

/// The kernel connects or refuses at once. Reading and writing do not tell a
/// Unix socket from TCP, so it goes by the name of the other.
result<void> client_connection::reach_socket(const base_url& service) {
  auto at = unix_address::of(service.socket);
  if (!at)
    return at.error();
  const int connected = connect_to(*at);
  if (connected < 0)
    return fail(ec::unavailable,
                "connect to " + service.text() + ": "
                  + std::generic_category().message(errno));
  boost::system::error_code why;
  plain_.socket().assign(asio::ip::tcp::v4(), connected, why);
  return {};
}

asio::awaitable<result<void>>
client_connection::reach(const base_url& service, resolver::endpoints places,
                         const cancellation* abort) {
  boost::system::error_code why = asio::error::host_unreachable;
  for (const auto& place : places) {
    if (abort && abort->cancelled())
      break;
    co_await plain_.async_connect(
      place, asio::redirect_error(asio::use_awaitable, why));
    if (!why || why == boost::beast::error::timeout)
      break;
    plain_.close();
  }
  if (why)
    co_return cannot_connect(service, why);
  boost::system::error_code ignored;
  asio::ip::tcp::no_delay no_delay{true};
  plain_.socket().set_option(no_delay, ignored);
  co_return result<void>{};
}

asio::awaitable<result<void>>
client_connection::shake_hands(const base_url& service, ssl::context& tls,
                               wire_protocol speaks) {
  tls_.emplace(plain_, tls);
  auto* native = tls_->native();
  // SNI carries names only (RFC 6066), the certificate is checked either way.
  if (!is_address(service.host)
      && SSL_set_tlsext_host_name(native, service.host.c_str()) != 1)
    co_return fail(ec::internal, "TLS refused the host name");
  static constexpr unsigned char http11[] = "\x08http/1.1";
  static constexpr unsigned char h2[] = "\x02h2";
  if (speaks == wire_protocol::http1)
    SSL_set_alpn_protos(native, http11, sizeof http11 - 1);
  else
    SSL_set_alpn_protos(native, h2, sizeof h2 - 1);
  if (!expect_name(native, service.host))
    co_return fail(ec::internal, "TLS refused to check the host name");
  if (auto why = co_await tls_->shake_hands(); why) {
    auto verdict = SSL_get_verify_result(native);
    if (verdict != X509_V_OK)
      co_return fail(ec::unavailable,
                     "the certificate of " + service.authority()
                       + " was refused: "
                       + X509_verify_cert_error_string(verdict));
    co_return cannot_connect(service, why);
  }
  if (!agreed(native, speaks))
    co_return fail(
      ec::unavailable,
      service.authority() + " does not speak "
        + (speaks == wire_protocol::http2 ? "HTTP/2" : "HTTP/1.1"));
  co_return result<void>{};
}

asio::awaitable<std::size_t>
client_connection::read(asio::mutable_buffer into,
                        boost::system::error_code& why) {
  if (tls_)
    co_return co_await tls_->read(into, why);
  co_return co_await plain_.async_read_some(
    into, asio::redirect_error(asio::use_awaitable, why));
}

asio::awaitable<boost::system::error_code>
client_connection::write(std::span<const asio::const_buffer> pieces) {
  if (tls_)
    co_return co_await tls_->write(pieces);
  boost::system::error_code why;
  co_await asio::async_write(plain_, pieces,
                             asio::redirect_error(asio::use_awaitable, why));
  co_return why;
}

bool client_connection::usable() {
  if (!plain_.socket().is_open() || buffer_.size() > 0
      || (tls_ && tls_->has_unread()))
    return false;
  char byte;
  auto n = ::recv(plain_.socket().native_handle(), &byte, 1,
                  MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void client_connection::close() {
  boost::system::error_code ignored;
  plain_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  plain_.close();
}

} // namespace troupe::net
