#include "tests/support/providers/grpc_wire.hpp"

#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>

namespace troupe::test {

namespace asio = boost::asio;

namespace {

class plain_wire final : public grpc_wire {
public:
  explicit plain_wire(int fd) : fd_{fd} {}
  std::size_t receive(std::span<std::uint8_t> into) override {
    auto n = ::recv(fd_, into.data(), into.size(), 0);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  bool send(std::span<const std::uint8_t> all) override {
    return ::send(fd_, all.data(), all.size(), MSG_NOSIGNAL)
      == static_cast<ssize_t>(all.size());
  }

private:
  int fd_;
};

/// OpenSSL reads one record at a time from a descriptor, and `into` takes a
/// whole one: nothing waits where poll() would not see it.
class tls_wire final : public grpc_wire {
public:
  tls_wire(int fd, std::shared_ptr<asio::ssl::context> tls)
      : tls_{std::move(tls)}, ssl_{SSL_new(tls_->native_handle()), SSL_free} {
    ::signal(SIGPIPE, SIG_IGN); // SSL_write() of one whose client left
    SSL_set_fd(ssl_.get(), fd); // which stays its owner's
  }

  bool shake_hands() { return SSL_accept(ssl_.get()) == 1; }
  std::size_t receive(std::span<std::uint8_t> into) override {
    std::size_t n = 0;
    return SSL_read_ex(ssl_.get(), into.data(), into.size(), &n) == 1 ? n : 0;
  }
  bool send(std::span<const std::uint8_t> all) override {
    std::size_t n = 0;
    return SSL_write_ex(ssl_.get(), all.data(), all.size(), &n) == 1;
  }

private:
  std::shared_ptr<asio::ssl::context> tls_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

} // namespace

std::unique_ptr<grpc_wire> make_plain_wire(int fd) {
  return std::make_unique<plain_wire>(fd);
}

std::unique_ptr<grpc_wire>
make_tls_wire(int fd, std::shared_ptr<asio::ssl::context> tls, handshake how) {
  if (how == handshake::whole) {
    auto made = std::make_unique<tls_wire>(fd, std::move(tls));
    return made->shake_hands() ? std::move(made) : nullptr;
  }
  char hello[16]; // the beginning of the client's: it is under way
  while (::recv(fd, hello, sizeof hello, 0) > 0 && how == handshake::stalled) {
  }
  return nullptr;
}

} // namespace troupe::test
