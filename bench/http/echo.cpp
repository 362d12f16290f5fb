#include "bench/http/echo.hpp"

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <thread>

namespace troupe::bench {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

namespace {

class echo_session : public std::enable_shared_from_this<echo_session> {
public:
  explicit echo_session(tcp::socket socket) : socket_{std::move(socket)} {}

  void read() {
    in_ = {};
    http::async_read(
      socket_, buffer_, in_,
      [self = shared_from_this()](beast::error_code ec, std::size_t) {
        if (!ec)
          self->write();
      });
  }

private:
  void write() {
    out_ = {http::status::ok, in_.version()};
    out_.set(http::field::content_type, "application/json");
    out_.body() = in_.body();
    out_.keep_alive(in_.keep_alive());
    out_.prepare_payload();
    http::async_write(
      socket_, out_,
      [self = shared_from_this()](beast::error_code ec, std::size_t) {
        if (!ec)
          self->read();
      });
  }

  tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> in_;
  http::response<http::string_body> out_;
};

} // namespace

struct echo_server::state {
  asio::io_context context{1};
  tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread;

  void accept() {
    acceptor.async_accept([this](beast::error_code ec, tcp::socket socket) {
      if (ec)
        return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<echo_session>(std::move(socket))->read();
      accept();
    });
  }
};

echo_server::echo_server() : state_{std::make_unique<state>()} {
  state_->accept();
  state_->thread = std::thread([s = state_.get()] { s->context.run(); });
}

echo_server::~echo_server() {
  state_->context.stop();
  state_->thread.join();
}

std::uint16_t echo_server::port() const {
  return state_->acceptor.local_endpoint().port();
}

} // namespace troupe::bench
