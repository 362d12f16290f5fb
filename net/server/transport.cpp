// The two things that a connection speaks over. Everything else is in
// connection.cpp.
#include "net/server/transport.hpp"

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace troupe::net {

namespace asio = boost::asio;

namespace {

constexpr std::string_view speak_tls
  = "HTTP/1.1 400 Bad Request\r\n"
    "content-type: text/plain; charset=utf-8\r\n"
    "content-length: 54\r\nconnection: close\r\n\r\n"
    "this port speaks TLS: use https:// instead of http://\n";

template <class Stream>
class socket_connection : public connection {
public:
  template <class... Args>
  socket_connection(std::shared_ptr<io_worker> home, traits t, Args&&... args)
      : connection{std::move(home), std::move(t)}, stream_{std::forward<Args>(
                                                     args)...} {}

protected:
  auto self() {
    return std::static_pointer_cast<socket_connection>(shared_from_this());
  }

  void read_some(asio::mutable_buffer into) override {
    stream_.async_read_some(
      into,
      [self = self()](error_code ec, std::size_t n) { self->on_read(ec, n); });
  }

  void write_all(asio::const_buffer from) override {
    asio::async_write(stream_, from,
                      [self = self()](error_code ec, std::size_t n) {
                        self->on_written(ec, n);
                      });
  }

  void shut_write() override {
    error_code ignored;
    stream_.lowest_layer().shutdown(asio::socket_base::shutdown_send, ignored);
  }

  void close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

  Stream stream_;
};

using plain_connection = socket_connection<tcp_socket>;
using tls_stream = asio::ssl::stream<tcp_socket>;

class tls_connection final : public socket_connection<tls_stream> {
public:
  tls_connection(std::shared_ptr<io_worker> home, traits t, tcp_socket socket,
                 std::shared_ptr<asio::ssl::context> context)
      : socket_connection{std::move(home), std::move(t), std::move(socket),
                          *context},
        context_{std::move(context)} {}

  void begin() override {
    read_deadline(this->home().shared().options.handshake_timeout);
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = std::static_pointer_cast<tls_connection>(
                               shared_from_this())](error_code ec) {
                              if (!ec)
                                self->ready();
                              else
                                self->refuse_handshake(ec);
                            });
  }

protected:
  void skip_some(asio::mutable_buffer into) override {
    stream_.next_layer().async_read_some(
      into,
      [self = std::static_pointer_cast<tls_connection>(shared_from_this())](
        error_code ec, std::size_t n) { self->on_read(ec, n); });
  }

  void shut_write() override {
    // The close_notify goes out; the socket's end follows when it is written.
    stream_.async_shutdown(
      [self = std::static_pointer_cast<tls_connection>(shared_from_this())](
        error_code) { self->socket_connection::shut_write(); });
  }

private:
  /// A client that has mistaken https for http is told so, in its own words.
  void refuse_handshake(error_code ec) {
    if (ERR_GET_REASON(static_cast<unsigned long>(ec.value()))
        != SSL_R_HTTP_REQUEST)
      return abort();
    error_code ignored;
    stream_.next_layer().non_blocking(true, ignored);
    stream_.next_layer().write_some(asio::buffer(speak_tls), ignored);
    linger();
  }

  std::shared_ptr<asio::ssl::context> context_; // this one, after a reload too
};

error tls_error(std::string_view what, const boost::system::error_code& ec) {
  error e;
  e.code = ec::invalid_request;
  e.text = std::string{what} + ": " + ec.message()
    + "; check the file and its owner";
  return e;
}

} // namespace

std::shared_ptr<connection> make_plain(std::shared_ptr<io_worker> home,
                                       connection::traits t,
                                       tcp_socket socket) {
  return std::make_shared<plain_connection>(std::move(home), std::move(t),
                                            std::move(socket));
}

std::shared_ptr<connection>
make_tls(std::shared_ptr<io_worker> home, connection::traits t,
         tcp_socket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_shared<tls_connection>(
    std::move(home), std::move(t), std::move(socket), std::move(context));
}

result<std::shared_ptr<asio::ssl::context>>
load_tls(const server_options& options) {
  auto context
    = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  boost::system::error_code ec;
  context->set_options(
    asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2
      | asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1
      | asio::ssl::context::no_tlsv1_1 | asio::ssl::context::single_dh_use,
    ec);
  auto* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
                        | SSL_OP_CIPHER_SERVER_PREFERENCE
                        | SSL_OP_CLEANSE_PLAINTEXT); // bodies hold secrets
  SSL_CTX_set_cipher_list(native, "ECDHE+AESGCM:ECDHE+CHACHA20");
  context->use_certificate_chain_file(options.tls_certificate_file, ec);
  if (ec)
    return tls_error("the TLS certificate cannot be read", ec);
  context->use_private_key_file(options.tls_key_file, asio::ssl::context::pem,
                                ec);
  if (ec)
    return tls_error("the TLS key cannot be read", ec);
  if (SSL_CTX_check_private_key(native) != 1)
    return error{ec::invalid_request,
                 "the TLS key does not belong to the certificate",
                 {},
                 {}};
  if (!options.tls_client_ca_file.empty()) {
    context->load_verify_file(options.tls_client_ca_file, ec);
    if (ec)
      return tls_error("the CA of the clients cannot be read", ec);
    context->set_verify_mode(
      asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, ec);
  }
  return context;
}

} // namespace troupe::net
