#pragma once

#include "app/cli/engine_locator.hpp"
#include "net/client/client_tls.hpp"
#include "net/client/connection.hpp"

#include <memory>
#include <string>

namespace troupe {

/// Makes connections to an engine that leave HTTP: tunnels, WebSockets. Stays
/// until the last of them is open.
class engine_dialer {
public:
  /// Of an engine that serves; one is not opened for this.
  static result<std::shared_ptr<engine_dialer>>
  find(const session_options& how);

  /// What came of a 101, and the first bytes behind it.
  struct upgraded {
    std::string head;
    std::string rest;
  };
  /// Asks for it with these fields, each with its end of line.
  boost::asio::awaitable<result<upgraded>>
  upgrade(net::client_connection& over, std::string target, std::string fields);

private:
  explicit engine_dialer(engine_locator where) : engine_{std::move(where)} {}

  engine_locator engine_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  net::resolver names_;
};
using engine_dialer_ptr = std::shared_ptr<engine_dialer>;

} // namespace troupe
