#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/sandbox.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace troupe::net {

struct aio_options {
  std::string host{};        // SANDBOX_HOST; "": not configured
  std::uint16_t port = 8090; // SANDBOX_PORT
  bool tls = false;
  /// Its name may lead to a private address.
  bool allow_private = false;
  secret api_key; // or a JWT, where the container asks for one
  std::chrono::seconds poll_wait{10}; // one long poll for output
};

/// One container that all runs share: each gets a directory and a session of
/// its own, and no isolation from the others beyond that.
result<std::shared_ptr<sandbox_provider>>
make_aio(std::shared_ptr<http_client> client, aio_options options);

} // namespace troupe::net
