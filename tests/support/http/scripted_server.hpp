#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace troupe::test {

/// One accepted connection of a scripted server. Blocking, on its own thread,
/// so that a script reads like a conversation.
class peer {
public:
  virtual ~peer() = default;
  /// The next request, header and body (Content-Length or chunked framing
  /// kept); "" at the end of the stream.
  std::string read_request();
  virtual bool write(std::string_view bytes) = 0;
  virtual void reset() = 0; // the hard way: RST
  virtual int socket() = 0;

protected:
  virtual std::size_t read_some(char* into, std::size_t size) = 0;

private:
  bool fill();
  std::string buffer_;
};

/// How far a server goes with a client that begins to shake hands.
enum class handshake {
  whole,
  cut,     // the connection ends in the middle
  stalled, // nothing comes until the client leaves
};

std::shared_ptr<boost::asio::ssl::context>
make_server_context(const std::string& certificate_pem,
                    const std::string& key_pem);

/// A server on a free port of 127.0.0.1 that does exactly what its script
/// says, however wrong: `script(peer, n)` for the n-th connection, from 0.
class scripted_server {
public:
  using script = std::function<void(peer&, int)>;

  explicit scripted_server(script s, std::string certificate_pem = {},
                           std::string key_pem = {});
  /// Without a context it does not speak TLS.
  scripted_server(script s, std::shared_ptr<boost::asio::ssl::context> tls);
  ~scripted_server();

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

  /// Of one that speaks TLS: what it shows from now on. The connections that it
  /// has end, so that nobody goes on with an older one.
  void show(std::shared_ptr<boost::asio::ssl::context> tls, handshake how);

private:
  void serve(std::shared_ptr<boost::asio::ip::tcp::socket> socket, int n);

  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  script script_;
  std::shared_ptr<boost::asio::ssl::context> tls_; // with `mutex_`
  handshake manner_ = handshake::whole;            // with `mutex_`
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<boost::asio::ip::tcp::socket>> sockets_;
  std::vector<std::thread> workers_;
  std::thread accepting_;
};

/// A certificate for `name`, signed by itself, made on the spot.
struct certificate {
  std::string pem;
  std::string key_pem;
};
certificate make_certificate(const std::string& name, int valid_days = 1);

} // namespace troupe::test
