#pragma once

#include "runtime/base/unix_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe::test {

struct raw_answer {
  int status = 0;                            // 0: the connection ended instead
  std::string head;                          // as it came
  std::map<std::string, std::string> fields; // names in lower case
  std::string body;
  bool whole = false; // nothing of the body is missing
};

/// A client that sends exactly the bytes it is given.
class raw_client {
public:
  explicit raw_client(std::uint16_t port, int patience_ms = 10'000)
      : patience_{patience_ms} {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd_ < 0
        || ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("cannot connect");
  }
  /// Over a Unix socket.
  explicit raw_client(const std::filesystem::path& socket,
                      int patience_ms = 10'000)
      : patience_{patience_ms} {
    auto at = unix_address::of(socket);
    if (!at || (fd_ = connect_to(*at)) < 0)
      throw std::runtime_error("cannot connect");
  }
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;
  ~raw_client() { close(); }

  /// False once the other side has gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = -1;
  }
  int descriptor() const { return fd_; }

  /// Waits for the end of the connection; whatever came is left in `rest`.
  bool ends() {
    while (more()) {
    }
    return ended_;
  }
  const std::string& rest() const { return buffer_; }

  raw_answer read(bool head_only = false) {
    raw_answer out;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
      if (!more())
        return out;
    out.status = std::atoi(buffer_.c_str() + 9);
    out.head = buffer_.substr(0, end);
    read_fields(out, end);
    buffer_.erase(0, end + 4);
    if (out.status == 100)
      return out;
    if (out.fields.contains("transfer-encoding"))
      read_chunks(out);
    else
      read_exactly(out,
                   !head_only && out.fields.contains("content-length")
                     ? std::stoul(out.fields["content-length"])
                     : 0);
    return out;
  }

  /// Waits until the buffer holds the text.
  bool sees(std::string_view text) {
    while (buffer_.find(text) == std::string::npos)
      if (!more())
        return false;
    return true;
  }

private:
  bool more() {
    pollfd p{fd_, POLLIN, 0};
    if (ended_ || ::poll(&p, 1, patience_) <= 0)
      return false;
    char bytes[16 << 10];
    auto n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      ended_ = true;
      return false;
    }
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  void read_fields(raw_answer& out, std::size_t end) {
    auto at = buffer_.find("\r\n") + 2;
    while (at < end) {
      auto stop = buffer_.find("\r\n", at);
      auto colon = buffer_.find(':', at);
      auto name = buffer_.substr(at, colon - at);
      for (char& c : name)
        c = static_cast<char>(std::tolower(c));
      out.fields[name] = buffer_.substr(colon + 2, stop - colon - 2);
      at = stop + 2;
    }
  }

  void read_exactly(raw_answer& out, std::size_t n) {
    while (buffer_.size() < n && more()) {
    }
    out.whole = buffer_.size() >= n;
    out.body = buffer_.substr(0, n);
    buffer_.erase(0, n);
  }

  void read_chunks(raw_answer& out) {
    for (;;) {
      std::size_t eol = 0;
      while ((eol = buffer_.find("\r\n")) == std::string::npos)
        if (!more())
          return;
      auto size = std::stoul(buffer_.substr(0, eol), nullptr, 16);
      buffer_.erase(0, eol + 2);
      while (buffer_.size() < size + 2)
        if (!more())
          return;
      out.body += buffer_.substr(0, size);
      buffer_.erase(0, size + 2);
      if (size == 0) {
        out.whole = true;
        return;
      }
    }
  }

  int fd_ = -1;
  int patience_ = 0;
  bool ended_ = false;
  std::string buffer_;
};

/// One request over a connection of its own.
inline raw_answer ask(std::uint16_t port, std::string_view verb,
                      std::string_view path, std::string_view body = {},
                      std::string_view fields = {}, int patience_ms = 10'000) {
  raw_client c{port, patience_ms};
  std::string bytes;
  bytes.append(verb).append(" ").append(path).append(" HTTP/1.1\r\n");
  bytes += "Host: localhost\r\nConnection: close\r\n";
  if (!body.empty())
    bytes += "Content-Type: application/json\r\n";
  if (!body.empty() || verb == "POST" || verb == "PUT")
    bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  bytes.append(fields).append("\r\n").append(body);
  c.send(bytes);
  return c.read(verb == "HEAD");
}

} // namespace troupe::test
