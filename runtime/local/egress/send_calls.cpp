// sendto, sendmsg and sendmmsg: the message is copied out of the tool once,
// judged, and sent from here through the tool's own socket.
#include "runtime/local/egress/syscall_handler.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace troupe::network {

namespace {

// The largest datagram, and a fair piece of a stream: it may be sent in parts.
constexpr std::size_t longest_datagram = 65'535;
constexpr std::size_t longest_piece = 64u << 10;
// Of one sendmmsg, which may send less than it was given: what is read of the
// tool before the first is sent.
constexpr unsigned most_messages = 64;
constexpr std::size_t most_bytes = 256u << 10;

} // namespace

/// A call that sends, perhaps several messages, perhaps waiting in between.
struct syscall_handler::sending {
  std::shared_ptr<notified_syscall> call;
  tool_socket socket;
  std::vector<message> all;
  int flags = 0;
  std::uint64_t lengths_at = 0; // of sendmmsg's array; 0: another call
  std::size_t done = 0;         // messages
  std::int64_t sent = 0;        // bytes of the last one

  std::size_t bytes_left() const {
    std::size_t sum = 0;
    for (auto i = done; i < all.size(); ++i)
      sum += all[i].bytes.size();
    return sum;
  }
};

int syscall_handler::settle_target(const notified_syscall& call, tool_socket& s,
                                   message& m) {
  if (!s.is_internet())
    return m.has_address ? EACCES : 0;
  if (s.is_stream()) {
    m.to.reset(); // as the kernel does: it is connected, or it fails
    return 0;
  }
  if (!m.has_address)
    return 0; // judged when it was connected
  if (!m.to || (s.family == AF_INET && m.to->address.v6))
    return EAFNOSUPPORT;
  const bool inside = is_inside(s);
  if (is_lookup(s, *m.to)) {
    m.to = endpoint{resolver::address(), resolver_->port()};
    return inside ? turn_outwards(call, s) : 0;
  }
  if (inside && leads_inside(m.to->address)) {
    m.stays_inside = true;
    return 0;
  }
  auto v = judge_->address(m.to->address, m.to->port, judge::clock::now());
  if (!v.allowed)
    return EACCES;
  return inside ? turn_outwards(call, s) : 0;
}

void syscall_handler::send_to(notified_syscall call) {
  auto s = take(call);
  if (!s)
    return;
  message m;
  auto size = call.argument(2);
  if (s->is_stream())
    size = std::min<std::uint64_t>(size, longest_piece);
  else if (size > longest_datagram)
    return call.fail(EMSGSIZE);
  m.bytes.resize(size);
  if (!call.read(call.argument(1), m.bytes.data(), size))
    return call.fail(EFAULT);
  m.has_address = call.argument(4) != 0;
  if (m.has_address) {
    sockaddr_storage to;
    if (!read_address(call, call.argument(4), call.argument(5), to))
      return call.fail(EFAULT);
    m.to = read_endpoint(to, call.argument(5));
  }
  if (auto error = settle_target(call, *s, m); error != 0)
    return call.fail(error);
  auto flags = call.integer(3);
  std::vector<message> all;
  all.push_back(std::move(m));
  start_sending(std::move(call), std::move(*s), std::move(all), flags, 0);
}

/// Reads everything that a msghdr points to.
int syscall_handler::read_message(const notified_syscall& call, tool_socket& s,
                                  const msghdr& h, std::size_t& parts_left,
                                  message& m) {
  // Options of a single packet are not offered: some choose its source, or
  // where it leaves the host.
  if (h.msg_controllen != 0)
    return s.is_internet() ? EINVAL : EACCES;
  if (h.msg_iovlen > parts_left)
    return EMSGSIZE;
  parts_left -= h.msg_iovlen;
  std::vector<iovec> parts(h.msg_iovlen);
  if (!call.read(reinterpret_cast<std::uint64_t>(h.msg_iov), parts.data(),
                 parts.size() * sizeof(iovec)))
    return EFAULT;
  auto room = s.is_stream() ? longest_piece : longest_datagram;
  std::size_t size = 0;
  for (auto& part : parts) {
    if (part.iov_len > room && !s.is_stream())
      return EMSGSIZE;
    part.iov_len = std::min(part.iov_len, room);
    room -= part.iov_len;
    size += part.iov_len;
  }
  m.bytes.resize(size);
  if (!call.read(parts, m.bytes.data(), size))
    return EFAULT;
  m.has_address = h.msg_name != nullptr && h.msg_namelen != 0;
  if (m.has_address) {
    sockaddr_storage to;
    if (!read_address(call, reinterpret_cast<std::uint64_t>(h.msg_name),
                      h.msg_namelen, to))
      return EFAULT;
    m.to = read_endpoint(to, h.msg_namelen);
  }
  return settle_target(call, s, m);
}

void syscall_handler::send_message(notified_syscall call) {
  auto s = take(call);
  if (!s)
    return;
  msghdr header{};
  if (!call.read(call.argument(1), &header, sizeof header))
    return call.fail(EFAULT);
  std::vector<message> all(1);
  auto parts = notified_syscall::most_parts;
  if (auto error = read_message(call, *s, header, parts, all[0]); error != 0)
    return call.fail(error);
  auto flags = call.integer(2);
  start_sending(std::move(call), std::move(*s), std::move(all), flags, 0);
}

/// Of a stream only the first: the tool goes on from what was sent.
void syscall_handler::send_messages(notified_syscall call) {
  auto s = take(call);
  if (!s)
    return;
  const auto count = std::min<std::uint64_t>(
    call.argument(2), s->is_stream() ? 1u : most_messages);
  std::vector<mmsghdr> headers(count);
  if (!call.read(call.argument(1), headers.data(), count * sizeof(mmsghdr)))
    return call.fail(EFAULT);
  std::vector<message> all;
  auto parts = notified_syscall::most_parts;
  std::size_t bytes = 0;
  for (const auto& header : headers) {
    message m;
    auto error = read_message(call, *s, header.msg_hdr, parts, m);
    if (error != 0 && all.empty())
      return call.fail(error);
    if (error != 0)
      break; // the tool asks again from there, and hears of it then
    bytes += m.bytes.size();
    all.push_back(std::move(m));
    if (bytes >= most_bytes)
      break;
  }
  if (all.empty())
    return call.succeed(0);
  auto flags = call.integer(3);
  auto lengths = call.argument(1);
  start_sending(std::move(call), std::move(*s), std::move(all), flags, lengths);
}

void syscall_handler::start_sending(notified_syscall call, tool_socket s,
                                    std::vector<message> all, int flags,
                                    std::uint64_t lengths_at) {
  // TCP Fast Open would connect on the way; programs fall back to connect.
  if ((flags & (MSG_FASTOPEN | MSG_ZEROCOPY)) != 0)
    return call.fail(EOPNOTSUPP);
  // One that goes outwards took the socket along: nothing of the host's is to
  // get what was meant for the tool's own network.
  if (std::ranges::any_of(all, &message::stays_inside) && !is_inside(s))
    return call.fail(EACCES);
  auto kept = std::make_shared<notified_syscall>(std::move(call));
  go_on_sending(std::make_shared<sending>(
    sending{std::move(kept), std::move(s), std::move(all), flags, lengths_at}));
}

void syscall_handler::go_on_sending(std::shared_ptr<sending> op) {
  auto& s = op->socket;
  while (op->done < op->all.size()) {
    auto& m = op->all[op->done];
    sockaddr_storage to;
    socklen_t size = m.to ? write_endpoint(*m.to, s.family, to) : 0;
    auto n = ::sendto(s.fd.get(), m.bytes.data(), m.bytes.size(),
                      op->flags | MSG_DONTWAIT | MSG_NOSIGNAL,
                      m.to ? reinterpret_cast<sockaddr*>(&to) : nullptr, size);
    if (n < 0) {
      bool waits = errno == EAGAIN && op->done == 0 && s.blocks()
        && (op->flags & MSG_DONTWAIT) == 0;
      if (!waits)
        return finish_sending(*op, errno);
      auto again = [self = shared_from_this(), op](unique_fd fd) {
        if (!op->call->still_waits())
          return; // its caller died: nobody sends this any more
        op->socket.fd = std::move(fd);
        self->go_on_sending(op);
      };
      return when_writable(std::move(s.fd), op->call, op->bytes_left(),
                           std::move(again));
    }
    if (m.to && !m.stays_inside && m.to->port == resolver_->port())
      admit(s); // it has a port by now
    op->sent = n;
    if (op->lengths_at != 0) {
      auto length = static_cast<unsigned>(n);
      op->call->write(op->lengths_at + op->done * sizeof(mmsghdr)
                        + offsetof(mmsghdr, msg_len),
                      &length, sizeof length);
    }
    ++op->done;
  }
  finish_sending(*op, 0);
}

void syscall_handler::finish_sending(sending& op, int error) {
  if (op.done == 0)
    op.call->fail(error);
  else
    op.call->succeed(op.lengths_at != 0 ? static_cast<std::int64_t>(op.done)
                                        : op.sent);
}

} // namespace troupe::network
