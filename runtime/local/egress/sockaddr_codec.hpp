#pragma once

#include "runtime/model/address.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

namespace troupe::network {

/// An internet address as the kernel takes it.
struct endpoint {
  ip_address address;
  std::uint16_t port = 0;
};

/// Nothing when it is no internet address or too short for one.
inline std::optional<endpoint> read_endpoint(const sockaddr_storage& from,
                                             std::size_t size) {
  endpoint e;
  if (from.ss_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in in;
    std::memcpy(&in, &from, sizeof in);
    std::memcpy(e.address.bytes.data(), &in.sin_addr, 4);
    e.port = ntohs(in.sin_port);
    return e;
  }
  // The kernel takes it without the scope, too (RFC 2133).
  if (from.ss_family == AF_INET6
      && size >= offsetof(sockaddr_in6, sin6_scope_id)) {
    sockaddr_in6 in{};
    std::memcpy(&in, &from, std::min(size, sizeof in));
    e.address.v6 = true;
    std::memcpy(e.address.bytes.data(), &in.sin6_addr, 16);
    e.port = ntohs(in.sin6_port);
    return e;
  }
  return std::nullopt;
}

/// For a socket of family `family`; a version 4 address for a version 6 socket
/// is written inside of a version 6 one. Returns the size.
inline socklen_t write_endpoint(const endpoint& e, int family,
                                sockaddr_storage& to) {
  to = {};
  if (family == AF_INET) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(e.port);
    std::memcpy(&out.sin_addr, e.address.bytes.data(), 4);
    std::memcpy(&to, &out, sizeof out);
    return sizeof out;
  }
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(e.port);
  auto* bytes = out.sin6_addr.s6_addr;
  if (e.address.v6) {
    std::memcpy(bytes, e.address.bytes.data(), 16);
  } else {
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(bytes + 12, e.address.bytes.data(), 4);
  }
  std::memcpy(&to, &out, sizeof out);
  return sizeof out;
}

} // namespace troupe::network
