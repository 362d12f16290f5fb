#pragma once

#include "runtime/base/error.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace troupe::net {

/// CA and client certificate if the system's store is not sufficient. Files,
/// PEM; "": none.
struct tls_identity {
  std::string only_peer;   // the peer's own certificate, whatever the name
  std::string certificate; // ours
  std::string key;
};

/// TLS 1.2 or newer, the system's store or `ca_file`, peer verified.
result<std::shared_ptr<boost::asio::ssl::context>>
make_client_tls(const std::string& ca_file, const tls_identity& who = {});

} // namespace troupe::net
