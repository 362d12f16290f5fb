#pragma once

#include "net/client/http_client.hpp"
#include "runtime/base/secret.hpp"
#include "runtime/engine/credential_source.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe::net {

struct webhook_options {
  std::string url; // all of it, with its path; "" means there is none
  secret key;      // STEP_COMPLETE_KEY; empty: no Authorization header
  /// Its name may lead to a private address.
  bool allow_private = false;
  std::size_t max_reply_bytes = 1u << 20;
};

/// Asked by POST before a run: short-lived variables
/// from whoever orchestrates the agents. Never logged, never followed
/// elsewhere by a redirect.
result<std::shared_ptr<credential_source>>
make_webhook(std::shared_ptr<http_client> client, webhook_options options);

/// The body we send: optional members only when they are known.
std::string webhook_body(const credential_query& query);

/// A flat object of names and values. Numbers and booleans become text, nulls
/// and nested values drop out; anything but an object is an error.
result<environment> parse_webhook_reply(std::string_view body);

} // namespace troupe::net
