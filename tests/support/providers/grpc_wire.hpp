#pragma once

#include "tests/support/http/scripted_server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace troupe::test {

/// The bytes of one accepted connection, in the clear or over TLS. Blocking;
/// the descriptor stays its owner's.
class grpc_wire {
public:
  virtual ~grpc_wire() = default;
  /// What has come; 0: the end, or a connection that broke.
  virtual std::size_t receive(std::span<std::uint8_t> into) = 0;
  virtual bool send(std::span<const std::uint8_t> all) = 0;
};

std::unique_ptr<grpc_wire> make_plain_wire(int fd);

/// Shakes hands first, as far as it shall; nothing when that came to nothing.
std::unique_ptr<grpc_wire>
make_tls_wire(int fd, std::shared_ptr<boost::asio::ssl::context> tls,
              handshake how);

} // namespace troupe::test
