// A tool with a network of its own, in which the kernel makes its sockets, and
// in which there is nothing but loopback. One that is to lead out of it gets
// another in its place at that moment: the host's, with the same options.
#include "runtime/local/egress/syscall_handler.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace troupe::network {

namespace {

struct copied_option {
  int level;
  int name;
  int family = 0; // 0: any
  int type = 0;
};

/// Those that clients set before they connect. A time to linger is not among
/// them: nothing may wait when the last one lets go.
constexpr std::array<copied_option, 17> copied_options{{
  {SOL_SOCKET, SO_KEEPALIVE},
  {SOL_SOCKET, SO_OOBINLINE},
  {SOL_SOCKET, SO_RCVLOWAT},
  {SOL_SOCKET, SO_RCVTIMEO},
  {SOL_SOCKET, SO_SNDTIMEO},
  {IPPROTO_IPV6, IPV6_V6ONLY, AF_INET6},
  {IPPROTO_IP, IP_PKTINFO, AF_INET, SOCK_DGRAM},
  {IPPROTO_IPV6, IPV6_RECVPKTINFO, AF_INET6, SOCK_DGRAM},
  {IPPROTO_IP, IP_RECVERR, AF_INET, SOCK_DGRAM},
  {IPPROTO_IPV6, IPV6_RECVERR, AF_INET6, SOCK_DGRAM},
  {IPPROTO_IP, IP_TOS, AF_INET},
  {IPPROTO_IP, IP_MTU_DISCOVER, AF_INET, SOCK_DGRAM},
  {IPPROTO_TCP, TCP_NODELAY, 0, SOCK_STREAM},
  {IPPROTO_TCP, TCP_KEEPIDLE, 0, SOCK_STREAM},
  {IPPROTO_TCP, TCP_KEEPINTVL, 0, SOCK_STREAM},
  {IPPROTO_TCP, TCP_KEEPCNT, 0, SOCK_STREAM},
  {IPPROTO_TCP, TCP_USER_TIMEOUT, 0, SOCK_STREAM},
}};

void copy_options(int from, int to, int family, int type) noexcept {
  for (const auto& o : copied_options) {
    if ((o.family != 0 && o.family != family)
        || (o.type != 0 && o.type != type))
      continue;
    std::array<char, 16> value{};
    std::array<char, 16> usual{};
    socklen_t size = value.size();
    socklen_t usual_size = usual.size();
    if (::getsockopt(from, o.level, o.name, value.data(), &size) == 0
        && ::getsockopt(to, o.level, o.name, usual.data(), &usual_size) == 0
        && value != usual)
      ::setsockopt(to, o.level, o.name, value.data(), size);
  }
}

/// Which network a socket is of; 0: the kernel does not tell.
std::uint64_t network_of(int socket) noexcept {
  constexpr int netns_cookie = 71; // SO_NETNS_COOKIE, newer than some headers
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  const bool told
    = ::getsockopt(socket, SOL_SOCKET, netns_cookie, &cookie, &size) == 0;
  return told ? cookie : 0;
}

} // namespace

/// What cannot be told (before Linux 5.14) counts as the host's: it is judged.
bool syscall_handler::is_inside(const tool_socket& s) {
  if (host_network_ == 0) {
    const unique_fd mine{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    host_network_ = network_of(mine.get());
  }
  return network_of(s.fd.get()) != host_network_;
}

/// Loopback, or no address in particular, which is loopback as well.
bool syscall_handler::leads_inside(const ip_address& address) const {
  const auto a = unmapped(address);
  if (std::ranges::any_of(options_.ordinary,
                          [&](const auto& n) { return n.contains(a); }))
    return false;
  const bool zero = std::all_of(a.bytes.begin(), a.bytes.end() - 1,
                                [](auto b) { return b == 0; });
  return (!a.v6 && a.bytes[0] == 127) || (zero && a.bytes.back() <= a.v6);
}

/// Another socket in the place of the tool's. 0, or errno.
int syscall_handler::turn_outwards(const notified_syscall& call,
                                   tool_socket& s) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (s.is_stream()
      && ::getpeername(s.fd.get(), reinterpret_cast<sockaddr*>(&peer), &size)
        == 0)
    return EISCONN;
  auto outward = host_socket(
    s.family, s.type | (s.blocks() ? 0 : SOCK_NONBLOCK), s.protocol);
  if (!outward)
    return errno;
  copy_options(s.fd.get(), outward.get(), s.family, s.type);
  if (!call.replace(outward.get(), call.integer(0)))
    return EMFILE; // its table is closed to us, or it is gone
  s.fd = std::move(outward);
  return 0;
}

} // namespace troupe::network
