#include "bench/http/load.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace troupe::bench {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr int patience = 60'000; // ms without any answer at all

} // namespace

http_load::http_load(std::uint16_t port, std::string request,
                     std::size_t clients)
    : request_{std::move(request)} {
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  clients_.reserve(clients);
  for (std::size_t i = 0; i < clients; ++i) {
    auto& c = clients_.emplace_back(client{tcp::socket{context_}, {}, 0, {}});
    c.socket.connect({asio::ip::address_v4::loopback(), port});
    c.socket.set_option(tcp::no_delay(true));
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = i;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, c.socket.native_handle(), &e);
  }
}

http_load::~http_load() {
  ::close(poll_);
}

void http_load::send(client& c) {
  c.sent = std::chrono::steady_clock::now();
  asio::write(c.socket, asio::buffer(request_));
}

/// Whether the answer is complete.
bool http_load::receive(client& c, batch& into) {
  char bytes[64 << 10];
  auto n = ::recv(c.socket.native_handle(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n <= 0)
    return false;
  auto size = static_cast<std::size_t>(n);
  if (c.missing == 0) {
    c.head.append(bytes, size);
    auto end = c.head.find("\r\n\r\n");
    if (end == std::string::npos)
      return false;
    auto at = c.head.find("ontent-") == std::string::npos
      ? std::string::npos
      : c.head.find("ength: ");
    auto body = at == std::string::npos
      ? 0
      : std::strtoul(c.head.c_str() + at + 7, nullptr, 10);
    into.failures += c.head.compare(9, 3, "200") == 0 ? 0u : 1u;
    auto whole = end + 4 + body;
    c.missing = whole - std::min(whole, c.head.size());
    c.head.clear();
  } else {
    c.missing -= std::min(c.missing, size);
  }
  if (c.missing > 0)
    return false;
  std::chrono::duration<double> took
    = std::chrono::steady_clock::now() - c.sent;
  into.latencies.push_back(took.count());
  return true;
}

batch http_load::run(std::size_t requests) {
  batch all;
  all.latencies.reserve(requests);
  auto begun = std::chrono::steady_clock::now();
  std::size_t sent = 0;
  for (auto& c : clients_)
    if (sent < requests) {
      send(c);
      ++sent;
    }
  std::vector<epoll_event> ready(clients_.size());
  while (all.latencies.size() < sent) {
    int n = ::epoll_wait(poll_, ready.data(), static_cast<int>(ready.size()),
                         patience);
    if (n <= 0) {
      all.failures += sent - all.latencies.size();
      break;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      auto& c = clients_[ready[i].data.u64];
      if (receive(c, all) && sent < requests) {
        send(c);
        ++sent;
      }
    }
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  all.seconds = took.count();
  return all;
}

std::string http_get(const std::string& path) {
  return "GET " + path
    + " HTTP/1.1\r\nHost: localhost\r\n"
      "X-Request-Id: bench-1\r\n\r\n";
}

std::string http_post(const std::string& path, const std::string& body) {
  return "POST " + path
    + " HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: bench-1\r\n"
      "Content-Type: application/json\r\nContent-Length: "
    + std::to_string(body.size()) + "\r\n\r\n" + body;
}

} // namespace troupe::bench
