#pragma once

#include "net/http/request.hpp"

#include <string_view>

namespace troupe::net {

/// Whether a name, as host_name() gives it, is this machine and cannot be made
/// to be another one: an address by its value, and the names that no resolver
/// is asked about.
bool is_loopback_name(std::string_view name);

/// Whether a browser sends this for a page that is not ours. Pages may send
/// simple requests and open WebSockets anywhere, also to another port of
/// localhost, and they do not ask first. Programs that are no browser send
/// neither Origin nor Sec-Fetch-Site. `tls`: the connection is ours to encrypt.
bool from_foreign_page(const request& in, bool tls);

} // namespace troupe::net
