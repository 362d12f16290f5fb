#include "runtime/base/packet_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace troupe {

namespace {

/// Room for the descriptors of one packet, aligned as the kernel wants it.
constexpr int most_descriptors = 16;
union control_buffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * most_descriptors)];
};

packet_status by_errno() {
  switch (errno) {
  case EAGAIN:
  case ENOBUFS:
  case EINTR:
    return packet_status::later;
  case EPIPE:
  case ECONNRESET:
  case ENOTCONN:
    return packet_status::closed;
  default:
    return packet_status::broken;
  }
}

void take_descriptors(msghdr& header, std::vector<unique_fd>& out) {
  for (auto* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
      continue;
    auto count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      out.emplace_back(fd);
    }
  }
}

} // namespace

std::pair<unique_fd, unique_fd> make_packet_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   ends)
      != 0)
    return {};
  return {unique_fd{ends[0]}, unique_fd{ends[1]}};
}

packet_status send_packet(int socket, std::string_view bytes,
                          std::span<const int> descriptors) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_buffer control{};
  if (!descriptors.empty()) {
    if (descriptors.size() > most_descriptors)
      return packet_status::broken;
    header.msg_control = control.bytes;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    auto* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(),
                descriptors.size_bytes());
  }
  if (::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return by_errno();
  return packet_status::done;
}

packet_status receive_packet(int socket, std::size_t limit, int max_descriptors,
                             packet& out) {
  out.bytes.resize(limit);
  out.descriptors.clear();
  iovec part{out.bytes.data(), out.bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_buffer control{};
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  auto size = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0) {
    out.bytes.clear();
    return by_errno();
  }
  take_descriptors(header, out.descriptors);
  out.bytes.resize(static_cast<std::size_t>(size));
  if (size == 0)
    return packet_status::closed;
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0
      || out.descriptors.size() > static_cast<std::size_t>(max_descriptors))
    return packet_status::broken;
  return packet_status::done;
}

} // namespace troupe
