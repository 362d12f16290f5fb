#pragma once

#include "net/previews/port_tokens.hpp"
#include "net/server/exchange.hpp"
#include "net/server/router.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::net {

struct preview_options {
  /// What host names of previews end with; the operator lets all of them lead
  /// here. Browsers resolve everything below localhost by themselves.
  std::string domain = "localhost";
  bool public_ports = false;              // may be asked for
  std::size_t connections_per_port = 256; // at a time
};

/// The servers in sandboxes as they are seen from outside: by the path of the
/// API, and by a host name of their own on another listener. Thread-safe.
class previews : public std::enable_shared_from_this<previews> {
public:
  previews(sandbox_engine* sandboxes, engine& core, preview_options options)
      : sandboxes_{sandboxes}, core_{core}, options_{std::move(options)} {}

  port_tokens& tokens() { return tokens_; }
  const preview_options& options() const { return options_; }

  /// The listener of host names is there: "http", 8284. Before it serves.
  void listens(std::string scheme, std::uint16_t port);
  /// "http://3000-ID.localhost:8284/", "" without such a listener.
  std::string url_of(const port_name& port) const;
  static std::string path_of(const port_name& port);

  /// Every path of every host name, on a server with `pages_of_tenants`.
  void add_host_routes(router& routes);
  /// .../ports/{port}/proxy/ and .../ports/{port}/tunnel.
  void add_path_routes(router& routes);

  /// The port that a Host field names.
  std::optional<port_name> port_of(std::string_view host) const;

private:
  void serve_host(const exchange_ptr& ex);
  void serve_path(const exchange_ptr& ex);
  void serve_tunnel(const exchange_ptr& ex);
  /// Nothing, and answered, when the caller may not use the port.
  std::optional<caller> admit(const exchange_ptr& ex, const port_name& port);
  void redirect(exchange& ex, const port_name& port, std::string_view token);
  struct visit;
  void connect(const exchange_ptr& ex, visit what);
  /// Null: there are as many connections as there may be.
  std::shared_ptr<void> count(const port_name& port);

  sandbox_engine* const sandboxes_; // null: there are none here
  engine& core_;
  const preview_options options_;
  port_tokens tokens_;
  std::string scheme_;
  std::uint16_t listener_ = 0; // 0: there is none
  std::mutex mutex_;
  std::map<port_name, std::size_t> connections_;
};
using previews_ptr = std::shared_ptr<previews>;

} // namespace troupe::net
