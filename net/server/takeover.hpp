#pragma once

#include "net/server/connection.hpp"

#include <string_view>

namespace troupe::net {

/// What a connection becomes when HTTP lets go of it: a tunnel, a WebSocket.
/// Called on the connection's thread. Idle for `longest_silence`, or slow to
/// take what is sent, it ends like every other connection.
class connection_taker {
public:
  static constexpr std::chrono::minutes longest_silence{10};

  virtual ~connection_taker() = default;

  /// It is yours, until `closed`. What came behind the head is received next.
  virtual void begin(connection& line) = 0;
  /// Valid until `connection::next`, before which nothing more is read.
  virtual void received(std::string_view bytes) = 0;
  /// The client sends no more.
  virtual void ended() = 0;
  /// What `connection::send` was given is written.
  virtual void sent() = 0;
  /// The connection is gone. Nothing is called after this.
  virtual void closed() = 0;
  /// For the access log.
  virtual int status() const { return 101; }
};

} // namespace troupe::net
