#pragma once

#include "net/grpc/grpc_message.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace troupe::test {

/// One call at a gRPC server, from its first byte to its trailers.
struct grpc_exchange {
  std::string path;
  std::map<std::string, std::string> metadata;
  std::string message; // of the request
  std::string wire;    // the request's frames, as they come in

  /// Messages to send, then the end. A call may stay open: `look` is then
  /// called again and again until it ends it.
  void send(std::string_view message) { out += net::grpc_frame(message); }
  void end(net::grpc_code c = net::grpc_code::ok, std::string why = {},
           std::string details = {}) {
    ended = true;
    code = c;
    text = std::move(why);
    details_bin = std::move(details);
  }
  std::function<void(grpc_exchange&)> look;

  std::string out;
  std::size_t sent = 0;
  bool answered = false;
  bool ended = false;
  net::grpc_code code = net::grpc_code::ok;
  std::string text;
  std::string details_bin;
};

/// A cleartext HTTP/2 server (prior knowledge) for gRPC stand-ins: a thread
/// per connection, nghttp2's server side below.
class grpc_server {
public:
  using handler = std::function<void(grpc_exchange&)>;

  explicit grpc_server(handler h);
  ~grpc_server();

  std::uint16_t port() const { return port_; }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
  }
  /// As many calls as a connection takes at a time, like the real ones.
  static constexpr std::uint32_t max_calls = 100;
  /// That were opened so far.
  std::size_t connections() const;
  /// Breaks every connection at once, with calls on them.
  void break_connections();

private:
  void serve(int fd);

  handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::thread> workers_;
  std::thread accepting_;
};

} // namespace troupe::test
