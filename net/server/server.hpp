#pragma once

#include "net/server/options.hpp"
#include "net/server/router.hpp"
#include "runtime/engine/engine.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe::net {

struct server_state;
class io_worker;

/// The HTTP listener: binds the addresses and spreads connections over io
/// workers. It has the health routes (health_routes.cpp); net/api and
/// net/compat add theirs to `routes()` before `start`:
///
///   http_server server{engine, options};
///   add_api(server.routes(), engine);
///   if (auto ok = server.start(); !ok) ...
///   server.drain(30s);
///   server.stop();
class http_server {
public:
  http_server(engine& core, server_options options);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  router& routes();
  /// Binds every address and starts the threads; refuses an address that is
  /// not loopback while there is no API key.
  result<void> start();
  /// `host:port` with the ports that were really bound.
  std::vector<std::string> addresses() const;
  std::uint16_t port() const; // of the first address; 0 before `start`
  /// Whether the operator's socket is open.
  bool serves_operators() const { return serves_operators_; }

  /// Reads certificate and key again; connections keep what they have.
  result<void> reload_tls();
  /// New runs get 503, operators still an answer. True once the last request
  /// is answered, false when `grace` is over first.
  bool drain(std::chrono::milliseconds grace);
  void stop();

  /// The server's own counters in Prometheus' format.
  std::string metrics() const;

private:
  struct listening;

  result<void> bind_all(unsigned threads);
  result<void> bind_operator_socket();
  result<void> check_exposure(const std::vector<listening>& all) const;

  std::shared_ptr<server_state> state_;
  std::vector<std::shared_ptr<io_worker>> workers_;
  std::vector<std::string> addresses_;
  std::uint16_t port_ = 0;
  bool serves_operators_ = false;
};

} // namespace troupe::net
