#include "runtime/local/warm/packet_io.hpp"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::zygote {

void descriptors::close_all() {
  for (int i = 0; i < count; ++i)
    close(fd[i]);
  count = 0;
}

received receive(int socket, packet& in, descriptors& with, bool wait) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)];
  iovec part{&in, sizeof in};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  with.count = 0;
  ssize_t got;
  do
    got
      = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return received::nothing;
  if (got <= 0)
    return received::closed;
  for (auto* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
      const auto size = c->cmsg_len - CMSG_LEN(0);
      with.count = static_cast<int>(size / sizeof(int));
      memcpy(with.fd, CMSG_DATA(c), size);
    }
  if (got != sizeof in || in.tag != tag) {
    with.close_all();
    return received::closed;
  }
  return received::packet;
}

bool send(int socket, const packet& out, const int* with, int count) {
  // A slot's filter asks the broker about every sendmsg, about this never.
  if (count == 0) {
    ssize_t sent;
    do
      sent = ::send(socket, &out, sizeof out, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof out;
  }
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)];
  iovec part{const_cast<packet*>(&out), sizeof out};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (count > max_descriptors)
    return false;
  const auto size = sizeof(int) * static_cast<size_t>(count);
  memset(control, 0, sizeof control);
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(size);
  auto* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(c), with, size);
  ssize_t sent;
  do
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == sizeof out;
}

} // namespace troupe::zygote
