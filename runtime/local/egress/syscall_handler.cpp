#include "runtime/local/egress/syscall_handler.hpp"

#include "runtime/local/egress/socket_guard.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <utility>

namespace troupe::network {

namespace {

constexpr std::uint16_t dns_port = 53;
constexpr int type_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;

int option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

} // namespace

bool syscall_handler::tool_socket::blocks() const {
  return (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) == 0;
}

result<std::shared_ptr<syscall_handler>>
syscall_handler::open(boost::asio::any_io_executor executor,
                      broker_options options, quota& budget, judge::told told) {
  auto names = resolver::open(executor, options);
  if (!names)
    return names.error();
  std::shared_ptr<syscall_handler> self{new syscall_handler{
    std::move(executor), std::move(options), budget, std::move(told)}};
  self->resolver_ = std::move(*names);
  self->guarded_ = self->options_.guard_sockets && can_guard_sockets();
  return self;
}

void syscall_handler::serve(const network_policy& policy) {
  end();
  judge_ = std::make_shared<judge>(policy, options_, told_);
  resolver_->serve(judge_);
  quota_.begin_run();
  guard(policy);
}

void syscall_handler::guard(const network_policy& policy) {
  auto allowed = patterns(policy);
  stream_guard_
    = guard_program(allowed, true, resolver::address(), resolver_->port());
  datagram_guard_
    = guard_program(allowed, false, resolver::address(), resolver_->port());
}

void syscall_handler::end() {
  waiting_.clear(); // which closes what they wait for
  resolver_->serve(nullptr);
}

void syscall_handler::close() {
  waiting_.clear();
  sweep_.cancel();
  resolver_->close();
}

void syscall_handler::handle(notified_syscall call) {
  remember_network(call);
  switch (call.number()) {
  case SYS_socket:
    return make_socket(call);
  case SYS_connect:
    return connect(std::move(call));
  case SYS_bind:
    return bind(call);
  case SYS_listen:
    return listen(call);
  case SYS_sendto:
    return send_to(std::move(call));
  case SYS_sendmsg:
    return send_message(std::move(call));
  case SYS_sendmmsg:
    return send_messages(std::move(call));
  case SYS_setsockopt:
    return set_option(call);
  default: // the filter asks about nothing else
    return call.fail(ENOSYS);
  }
}

/// Takes the socket that a call is about. Empty: the call has its answer, or
/// it was passed on because it is about no internet socket.
///
/// Between our look and the kernel's, another thread of the tool might put an
/// internet socket in the place of the one we saw: a datagram socket would be
/// connected to whatever it likes, and nobody asks about what it sends then.
/// So calls about local sockets are passed on only where nobody can do that;
/// elsewhere they come back from here, to be carried out or refused.
std::optional<syscall_handler::tool_socket>
syscall_handler::take(notified_syscall& call) {
  tool_socket s;
  s.fd = call.take(call.integer(0));
  if (!s.fd) {
    call.fail(errno == EBADF ? EBADF : EACCES);
    return std::nullopt;
  }
  s.family = option(s.fd.get(), SO_DOMAIN);
  s.type = option(s.fd.get(), SO_TYPE);
  s.protocol = option(s.fd.get(), SO_PROTOCOL);
  if (s.family < 0) {
    call.fail(ENOTSOCK);
    return std::nullopt;
  }
  if (!s.is_internet() && call.is_alone()) {
    call.pass();
    return std::nullopt;
  }
  return s;
}

bool syscall_handler::read_address(const notified_syscall& call,
                                   std::uint64_t at, std::uint64_t size,
                                   sockaddr_storage& out) {
  out = {};
  return size >= sizeof out.ss_family && size <= sizeof out
    && call.read(at, &out, size);
}

// -- socket ------------------------------------------------------------------

void syscall_handler::make_socket(notified_syscall& call) {
  auto family = call.integer(0);
  auto type = call.integer(1) & ~type_flags;
  auto flags = call.integer(1) & type_flags;
  auto protocol = call.integer(2);
  bool stream
    = type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP);
  bool datagram
    = type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP);
  if (family != AF_INET && family != AF_INET6)
    return call.fail(EAFNOSUPPORT);
  if (!stream && !datagram) {
    judge_->refuse("socket of type " + std::to_string(type) + ", protocol "
                     + std::to_string(protocol),
                   "only TCP and UDP");
    return call.fail(EACCES);
  }
  auto fd = host_socket(family, type | (flags & SOCK_NONBLOCK), protocol);
  if (!fd)
    return call.fail(errno);
  if (!call.give(fd.get(), (flags & SOCK_CLOEXEC) != 0))
    call.fail(EMFILE); // its table is full, or it is gone
}

unique_fd syscall_handler::host_socket(int family, int type, int protocol) {
  if (!quota_.take_socket(quota::clock::now())) {
    judge_->refuse_socket();
    errno = EMFILE; // as where the table of descriptors is full
    return {};
  }
  unique_fd fd{::socket(family, type | SOCK_CLOEXEC, protocol)};
  const bool stream = (type & ~type_flags) == SOCK_STREAM;
  if (fd && guarded_
      && !guard_socket(fd.get(), stream ? stream_guard_ : datagram_guard_)) {
    fd.reset();
    errno = EACCES;
  }
  return fd;
}

// -- connect -----------------------------------------------------------------

void syscall_handler::connect(notified_syscall call) {
  auto s = take(call);
  if (!s)
    return;
  if (!s->is_internet())
    return call.fail(EACCES); // its address means something to the tool only
  sockaddr_storage to;
  auto size = call.argument(2);
  if (!read_address(call, call.argument(1), size, to))
    return call.fail(size > sizeof to || size < sizeof to.ss_family ? EINVAL
                                                                    : EFAULT);
  if (to.ss_family == AF_UNSPEC) { // lets go of the peer
    auto code = ::connect(s->fd.get(), reinterpret_cast<sockaddr*>(&to),
                          sizeof to.ss_family);
    return code == 0 ? call.succeed() : call.fail(errno);
  }
  auto e = read_endpoint(to, size);
  if (!e || (s->family == AF_INET && e->address.v6))
    return call.fail(EAFNOSUPPORT);
  const bool inside = is_inside(*s);
  const bool lookup = is_lookup(*s, *e);
  auto length = write_endpoint(*e, s->family, to);
  if (inside && !lookup && leads_inside(e->address))
    return connect_allowed(std::move(call), std::move(*s), to, length);
  if (lookup) {
    if (const int no = inside ? turn_outwards(call, *s) : 0; no != 0)
      return call.fail(no);
    return connect_resolver(std::move(call), std::move(*s));
  }
  // Programs "connect" datagram sockets to port 0, or to nothing in
  // particular, to learn their own address: nothing is sent.
  auto now = judge::clock::now();
  auto v = s->is_stream() || e->port != 0
    ? judge_->address(e->address, e->port, now)
    : judge_->consider(e->address, e->port, now);
  if (!v.allowed)
    return call.fail(EACCES);
  if (const int no = inside ? turn_outwards(call, *s) : 0; no != 0)
    return call.fail(no);
  connect_allowed(std::move(call), std::move(*s), to, length);
}

/// `to` is our own copy: whatever the tool writes into its memory by now, this
/// is where the connection goes. The flags are those of a file that the tool
/// has as well: who changes them in between makes its own broker wait, and no
/// other.
void syscall_handler::connect_allowed(notified_syscall call, tool_socket s,
                                      const sockaddr_storage& to,
                                      socklen_t size) {
  bool blocks = s.blocks();
  auto flags = ::fcntl(s.fd.get(), F_GETFL);
  if (blocks)
    ::fcntl(s.fd.get(), F_SETFL, flags | O_NONBLOCK);
  auto code
    = ::connect(s.fd.get(), reinterpret_cast<const sockaddr*>(&to), size);
  auto error = code == 0 ? 0 : errno;
  if (blocks)
    ::fcntl(s.fd.get(), F_SETFL, flags);
  bool in_progress = error == EINPROGRESS || error == EALREADY;
  if (!blocks || !in_progress)
    return error == 0 ? call.succeed() : call.fail(error);
  // EALREADY: a signal interrupted the call, and here it is again.
  auto kept = std::make_shared<notified_syscall>(std::move(call));
  auto ready = [kept](unique_fd fd) {
    if (!kept->still_waits())
      return; // the error is for the call that came after it
    auto failure = option(fd.get(), SO_ERROR);
    failure == 0 ? kept->succeed() : kept->fail(failure > 0 ? failure : EIO);
  };
  when_writable(std::move(s.fd), kept, 0, std::move(ready));
}

bool syscall_handler::is_lookup(const tool_socket& s,
                                const endpoint& to) const {
  return !s.is_stream() && to.port == dns_port;
}

/// The tool talks to our nameserver, whatever nameserver it named.
void syscall_handler::connect_resolver(notified_syscall call, tool_socket s) {
  sockaddr_storage to;
  auto size
    = write_endpoint({resolver::address(), resolver_->port()}, s.family, to);
  if (::connect(s.fd.get(), reinterpret_cast<sockaddr*>(&to), size) != 0)
    return call.fail(errno);
  admit(s);
  call.succeed();
}

void syscall_handler::admit(const tool_socket& s) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(s.fd.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return;
  if (auto e = read_endpoint(own, size))
    resolver_->admit(e->port);
}

// -- bind and listen ---------------------------------------------------------

void syscall_handler::bind(notified_syscall& call) {
  auto s = take(call);
  if (!s)
    return;
  if (!s->is_internet())
    return call.fail(EACCES);
  sockaddr_storage to;
  if (!read_address(call, call.argument(1), call.argument(2), to))
    return call.fail(EFAULT);
  auto e = read_endpoint(to, call.argument(2));
  if (!e)
    return call.fail(EINVAL);
  // "Any address, any port" is what clients do before they send. A port or an
  // address of the host's own is more than that.
  bool any = std::all_of(e->address.bytes.begin(), e->address.bytes.end(),
                         [](auto b) { return b == 0; });
  if (!is_inside(*s) && (!any || e->port != 0)) {
    judge_->refuse("bind " + to_string(e->address, e->port),
                   "the host's ports are closed");
    return call.fail(EACCES);
  }
  auto size = write_endpoint(*e, s->family, to);
  if (::bind(s->fd.get(), reinterpret_cast<sockaddr*>(&to), size) != 0)
    return call.fail(errno);
  call.succeed();
}

void syscall_handler::listen(notified_syscall& call) {
  auto s = take(call);
  if (!s)
    return;
  if (!s->is_internet() || is_inside(*s))
    return ::listen(s->fd.get(), call.integer(1)) == 0 ? call.succeed()
                                                       : call.fail(errno);
  judge_->refuse("listen", "the host's ports are closed");
  call.fail(EACCES);
}

// -- options -----------------------------------------------------------------

/// SO_LINGER alone: a time to linger would make whoever lets go of the socket
/// last wait in close, the engine or a broker as well.
void syscall_handler::set_option(notified_syscall& call) {
  linger value{};
  if (call.integer(4) < static_cast<int>(sizeof value))
    return call.fail(EINVAL);
  if (!call.read(call.argument(3), &value, sizeof value))
    return call.fail(EFAULT);
  if (value.l_onoff != 0 && value.l_linger != 0)
    return call.fail(EPERM);
  unique_fd socket = call.take(call.integer(0));
  if (!socket)
    return call.fail(errno == EBADF ? EBADF : EACCES);
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &value, sizeof value)
      != 0)
    return call.fail(errno);
  call.succeed();
}

} // namespace troupe::network
