#pragma once

#include "runtime/base/error.hpp"
#include "runtime/settings/key.hpp"

#include <string>
#include <string_view>

namespace troupe {

/// Whether a text looks the way its key demands: no control characters ever,
/// an address is host:port, a URL is http(s)://host..., a choice is one of the
/// closed set. Empty is fine where the default is empty.
result<void> check_form(const setting_key& key, std::string_view text);

/// In double quotes, with escapes, as `parse_ini` reads it.
std::string quoted(std::string_view text);

/// host and port of "host:port" or "[v6]:port".
struct host_port {
  std::string host;
  std::uint16_t port = 0;
};
result<host_port> parse_host_port(std::string_view text);

} // namespace troupe
