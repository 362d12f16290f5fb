#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/sandbox.hpp"

#include <memory>
#include <string>

namespace troupe::net {

struct e2b_options {
  secret api_key; // E2B_API_KEY; empty: not configured
  std::string domain = "e2b.app";
  std::string api_url;       // "": https://api.<domain>
  std::string sandbox_url;   // "": a host name per sandbox and port
  std::string template_id{}; // "": the code interpreter's own
  /// Its names may lead to private addresses: self-hosted.
  bool allow_private = false;
  /// The older POST /sandboxes, for self-hosted control planes without /v2.
  bool legacy_create = false;
};

result<std::shared_ptr<sandbox_provider>>
make_e2b(std::shared_ptr<http_client> client, e2b_options options);

/// Only such ids become part of a host name.
bool is_e2b_sandbox_id(std::string_view id);

/// The public address of a port in a sandbox.
std::string e2b_preview_host(std::string_view domain, std::string_view sandbox,
                             std::uint16_t port);

/// Key-value pairs as the list's `metadata` filter wants them: encoded three
/// times over.
std::string
e2b_metadata_filter(const std::map<std::string, std::string>& metadata);

} // namespace troupe::net
