#pragma once

#include "net/grpc/grpc_message.hpp"

#include <boost/asio/ssl/context.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  bool has_trailers = true;
};

/// What goes wrong with the next call of a method.
enum class grpc_fault {
  silent,        // no answer as long as the connection lasts
  garbage,       // a message that is no protobuf
  web_page,      // 200 and HTML, as of a login page
  redirect,      // 302 to elsewhere
  bad_gateway,   // 502 of a proxy that knows no gRPC
  compressed,    // a message with the flag nobody asked for
  too_large,     // the beginning of a message of 200 MiB
  cut_off,       // half a message, then a good end
  trailers_only, // "unavailable" in the head, and no more
  refused,       // RST_STREAM that says that nothing was begun
  reset,         // RST_STREAM that does not
  going_away,    // GOAWAY; this call is still answered
  gone_away,     // GOAWAY that leaves this call out, then the end
};

enum class handshake;
enum class tls_face;
class grpc_wire;
class tls_faces;

/// An HTTP/2 server for gRPC stand-ins: a thread per connection, nghttp2's
/// server side below.
class grpc_server {
public:
  using handler = std::function<void(grpc_exchange&)>;

  /// With faces it speaks TLS and shows the right one at first; else in the
  /// clear (prior knowledge).
  explicit grpc_server(handler h, const tls_faces* faces = nullptr);
  ~grpc_server();

  std::uint16_t port() const { return port_; }
  std::string url() const {
    return (faces_ ? "https://127.0.0.1:" : "http://127.0.0.1:")
      + std::to_string(port_);
  }
  /// As many calls as a connection takes at a time, like the real ones.
  static constexpr std::uint32_t max_calls = 100;
  /// That were opened so far.
  std::size_t connections() const;
  /// Once, by the method's name alone.
  void add_fault(std::string method, grpc_fault what);
  /// Breaks every connection at once, with calls on them.
  void break_connections();
  /// Of one that speaks TLS: from now on, on new connections; others end.
  void show(tls_face which);
  /// Bytes that were said to it, what TLS itself says not counted.
  std::size_t heard() const { return heard_; }

private:
  void serve(int fd);
  std::unique_ptr<grpc_wire> let_in(int fd);
  void converse(int fd, grpc_wire& wire);
  std::optional<grpc_fault> take_fault(const std::string& path);

  handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  const tls_faces* faces_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> heard_{0};
  mutable std::mutex mutex_;
  std::map<std::string, grpc_fault> faults_; // by method
  std::shared_ptr<boost::asio::ssl::context> tls_;
  handshake manner_{};
  std::vector<int> sockets_;
  std::vector<std::thread> workers_;
  std::thread accepting_;
};

} // namespace troupe::test
