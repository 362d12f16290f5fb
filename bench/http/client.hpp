#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace troupe::bench {

/// A client without any memory of its own in this process.
class http_client {
public:
  explicit http_client(std::uint16_t port) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      ::close(fd_);
      fd_ = -1;
    }
  }
  http_client(http_client&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)} {}
  http_client& operator=(http_client&&) = delete;
  ~http_client() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  bool send(std::string_view bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
      == static_cast<ssize_t>(bytes.size());
  }
  bool answered() const {
    char bytes[2048];
    return ::recv(fd_, bytes, sizeof bytes, 0) > 0;
  }

private:
  int fd_ = -1;
};

} // namespace troupe::bench
