#pragma once

#include "bench/local/naive.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe::bench {

/// So many connections to a server on this machine, each with one request
/// under way: always the same one.
class http_load {
public:
  http_load(std::uint16_t port, std::string request, std::size_t clients);
  ~http_load();
  http_load(const http_load&) = delete;
  http_load& operator=(const http_load&) = delete;

  /// Requests whose answer is not 200, or does not come, are failures.
  batch run(std::size_t requests);

private:
  struct client {
    boost::asio::ip::tcp::socket socket;
    std::string head; // of the answer, until all of it is there
    std::size_t missing = 0;
    std::chrono::steady_clock::time_point sent{};
  };

  void send(client& c);
  bool receive(client& c, batch& into);

  boost::asio::io_context context_{1};
  const std::string request_;
  std::vector<client> clients_;
  int poll_ = -1;
};

std::string http_get(const std::string& path);
std::string http_post(const std::string& path, const std::string& body);

} // namespace troupe::bench
