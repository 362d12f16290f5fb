#pragma once

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/egress/dns_message.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

/// Servers in the host's network, for tools to find or not to find.
namespace troupe::network::test {

/// Serves on a port of every address of the host until it goes away.
class server {
public:
  server(int family, int type) : fd_{::socket(family, type | SOCK_CLOEXEC, 0)} {
    sockaddr_storage any{};
    any.ss_family = static_cast<sa_family_t>(family);
    socklen_t size
      = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::bind(fd_.get(), reinterpret_cast<sockaddr*>(&any), size) != 0)
      return;
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(&any)->sin_port);
    if (type == SOCK_STREAM)
      ::listen(fd_.get(), 64);
  }
  virtual ~server() { stop(); }

  int port() const { return port_; }
  int contacts() const { return contacts_; }

protected:
  template <class Function>
  void serve(Function once) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0)
      return;
    end_.reset(pipe[1]);
    thread_ = std::thread{[this, once, until = pipe[0]] {
      unique_fd owned{until};
      for (;;) {
        pollfd both[2] = {{fd_.get(), POLLIN, 0}, {until, POLLIN, 0}};
        if (::poll(both, 2, -1) < 0 || both[1].revents != 0)
          return;
        once();
      }
    }};
  }
  void stop() {
    end_.reset();
    if (thread_.joinable())
      thread_.join();
  }

  unique_fd fd_;
  std::atomic<int> contacts_{0};

private:
  int port_ = 0;
  unique_fd end_;
  std::thread thread_;
};

/// Says "hello" to everybody.
class http_server : public server {
public:
  explicit http_server(int family = AF_INET) : server{family, SOCK_STREAM} {
    serve([this] {
      unique_fd client{::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (!client)
        return;
      ++contacts_;
      // Who connects and says nothing keeps nobody waiting for ever.
      constexpr timeval patience{.tv_sec = 10, .tv_usec = 0};
      ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
                   sizeof patience);
      char request[4096];
      if (::read(client.get(), request, sizeof request) <= 0)
        return;
      std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                           "Connection: close\r\n\r\nhello";
      (void)!::write(client.get(), answer.data(), answer.size());
    });
  }
  ~http_server() override { stop(); }
};

class udp_echo : public server {
public:
  udp_echo() : server{AF_INET, SOCK_DGRAM} {
    serve([this] {
      char bytes[2048];
      sockaddr_storage from;
      socklen_t size = sizeof from;
      auto n = ::recvfrom(fd_.get(), bytes, sizeof bytes, 0,
                          reinterpret_cast<sockaddr*>(&from), &size);
      ++contacts_;
      ::sendto(fd_.get(), bytes, n > 0 ? static_cast<std::size_t>(n) : 0, 0,
               reinterpret_cast<sockaddr*>(&from), size);
    });
  }
  ~udp_echo() override { stop(); }
};

/// A nameserver: "<a>-<b>-<c>-<d>.*" has that address, "none.*" has none.
class nameserver : public server {
public:
  nameserver() : server{AF_INET, SOCK_DGRAM} {
    serve([this] { answer(); });
  }
  ~nameserver() override { stop(); }

private:
  void answer() {
    char bytes[2048];
    sockaddr_storage from;
    socklen_t size = sizeof from;
    auto n = ::recvfrom(fd_.get(), bytes, sizeof bytes, 0,
                        reinterpret_cast<sockaddr*>(&from), &size);
    std::string packet{bytes, n > 0 ? static_cast<std::size_t>(n) : 0};
    auto q = parse_dns_query(packet);
    if (!q)
      return;
    ++contacts_;
    auto text = q->name.substr(0, q->name.find('.'));
    for (auto& c : text)
      c = c == '-' ? '.' : c;
    auto a = parse_address(text);
    auto reply = refuse_dns_query(
      packet, *q, a ? dns_code::no_error : dns_code::no_such_name);
    if (a && q->type == dns_type_a) {
      reply[7] = 1;
      reply += std::string{"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4", 12};
      reply.append(reinterpret_cast<const char*>(a->bytes.data()), 4);
    }
    ::sendto(fd_.get(), reply.data(), reply.size(), 0,
             reinterpret_cast<sockaddr*>(&from), size);
  }
};

} // namespace troupe::network::test
