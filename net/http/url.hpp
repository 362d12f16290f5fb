#pragma once

#include "runtime/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net {

/// Where a service lives: scheme, host, port, and the path that all its
/// operations begin with ("https://app.daytona.io/api").
struct base_url {
  bool tls = true;
  std::string host;
  std::uint16_t port = 443;
  std::string prefix; // "" or "/api": no slash at the end
  /// A Unix socket in place of host and port; "": none. Not a part of a URL.
  std::string socket{};

  /// Host header: without the port where it is the scheme's own.
  std::string authority() const;
  std::string text() const;

  friend bool operator==(const base_url&, const base_url&) = default;
};

/// `http` or `https`, no user, no query, no fragment.
result<base_url> parse_base_url(std::string_view text);

/// One path segment or one query value: everything but unreserved characters
/// escaped, so that an id with a slash stays one segment.
std::string percent_encode(std::string_view text);

} // namespace troupe::net
