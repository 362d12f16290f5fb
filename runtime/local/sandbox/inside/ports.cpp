#include "runtime/local/sandbox/inside/ports.hpp"

#include "runtime/local/sandbox/inside/keeper_protocol.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

namespace troupe::inside {

namespace {

/// 0, EINPROGRESS, or why not. On loopback both ends are told at once, so that
/// what is not settled by now waits for a server that does not accept.
int begin_connection(int socket, const sockaddr* to, socklen_t size) noexcept {
  if (::connect(socket, to, size) == 0)
    return 0;
  if (errno != EINPROGRESS)
    return errno;
  pollfd look{socket, POLLOUT, 0};
  if (::poll(&look, 1, 0) != 1)
    return EINPROGRESS;
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
    return errno;
  return error;
}

unique_fd connect_by(int family, const void* to, socklen_t size) noexcept {
  unique_fd socket{
    ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket)
    return {};
  const int error
    = begin_connection(socket.get(), static_cast<const sockaddr*>(to), size);
  if (error != 0 && error != EINPROGRESS)
    socket.reset();
  errno = error;
  return socket;
}

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Sockets that listen come first, so that it costs nothing how many others
/// there are.
int list_ports_of(const char* table, std::set<std::uint16_t>& found) {
  constexpr int most_lines = 4'096;
  std::unique_ptr<std::FILE, file_closer> file{std::fopen(table, "re")};
  if (!file)
    return errno;
  std::array<char, 512> line{};
  for (int n = 0; n < most_lines
       && std::fgets(line.data(), static_cast<int>(line.size()), file.get());
       ++n) {
    unsigned port = 0, state = 0;
    constexpr unsigned listens = 0x0a;
    if (n == 0) // names of the columns
      continue;
    if (std::sscanf(line.data(), " %*u: %*[0-9A-Fa-f]:%x %*s %x", &port, &state)
          != 2
        || state != listens)
      break;
    if (port != 0 && port <= 0xffff)
      found.insert(static_cast<std::uint16_t>(port));
  }
  return 0;
}

} // namespace

unique_fd connect_to_port(std::uint16_t port) noexcept {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto socket = connect_by(AF_INET, &v4, sizeof v4);
  if (socket || errno != ECONNREFUSED)
    return socket;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  socket = connect_by(AF_INET6, &v6, sizeof v6);
  if (!socket && errno != ECONNREFUSED)
    errno = ECONNREFUSED; // a host without version 6
  return socket;
}

int list_ports(std::vector<std::uint16_t>& out) {
  std::set<std::uint16_t> found;
  const int error = list_ports_of("/proc/self/net/tcp", found);
  list_ports_of("/proc/self/net/tcp6", found); // absent on some hosts
  for (const auto port : found)
    if (out.size() < max_listed_ports)
      out.push_back(port);
  return error;
}

} // namespace troupe::inside
