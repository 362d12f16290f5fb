#include "runtime/local/isolation/socket_options.hpp"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <sys/socket.h>

#include <cerrno>

namespace troupe::isolation {

namespace {

constexpr std::uint32_t peer_process = 77; // SO_PEERPIDFD, newer than headers

/// Options of one level: these are allowed, the others refused.
void allow_options(seccomp_builder::program& body, std::uint32_t level,
                   std::initializer_list<std::uint32_t> options) {
  // Behind the comparison of the level: a load, one comparison for each, the
  // refusal and the permission.
  auto left = static_cast<std::uint8_t>(options.size());
  body.push_back(
    {BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<std::uint8_t>(left + 3), level});
  body.push_back(load_low(2));
  for (auto option : options)
    body.push_back({BPF_JMP | BPF_JEQ | BPF_K, left--, 0, option});
  body.push_back(ret(deny_with(EPERM)));
  body.push_back(ret(allow));
}

} // namespace

seccomp_builder::program set_option_rules(std::uint32_t linger) {
  seccomp_builder::program body{
    load_low(1), {BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SOL_SOCKET},
    load_low(2), {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SO_LINGER},
    ret(linger), load_low(1)};
  allow_options(body, SOL_SOCKET,
                {SO_BROADCAST, SO_KEEPALIVE, SO_OOBINLINE, SO_PASSCRED,
                 SO_PEEK_OFF, SO_RCVBUF, SO_RCVLOWAT, SO_RCVTIMEO_NEW,
                 SO_RCVTIMEO_OLD, SO_REUSEADDR, SO_REUSEPORT, SO_RXQ_OVFL,
                 SO_SNDBUF, SO_SNDTIMEO_NEW, SO_SNDTIMEO_OLD, SO_TIMESTAMP_NEW,
                 SO_TIMESTAMP_OLD, SO_TIMESTAMPNS_NEW, SO_TIMESTAMPNS_OLD});
  allow_options(body, IPPROTO_IP,
                {IP_BIND_ADDRESS_NO_PORT, IP_MINTTL, IP_MTU_DISCOVER,
                 IP_MULTICAST_LOOP, IP_MULTICAST_TTL, IP_PKTINFO, IP_RECVERR,
                 IP_RECVTOS, IP_RECVTTL, IP_TOS, IP_TTL});
  allow_options(body, IPPROTO_IPV6,
                {IPV6_DONTFRAG, IPV6_MTU, IPV6_MTU_DISCOVER,
                 IPV6_MULTICAST_HOPS, IPV6_MULTICAST_LOOP, IPV6_RECVERR,
                 IPV6_RECVHOPLIMIT, IPV6_RECVPKTINFO, IPV6_RECVTCLASS,
                 IPV6_TCLASS, IPV6_UNICAST_HOPS, IPV6_V6ONLY});
  allow_options(body, IPPROTO_TCP,
                {TCP_CORK, TCP_DEFER_ACCEPT, TCP_INQ, TCP_KEEPCNT, TCP_KEEPIDLE,
                 TCP_KEEPINTVL, TCP_LINGER2, TCP_MAXSEG, TCP_NODELAY,
                 TCP_NOTSENT_LOWAT, TCP_QUICKACK, TCP_SYNCNT,
                 TCP_THIN_LINEAR_TIMEOUTS, TCP_USER_TIMEOUT, TCP_WINDOW_CLAMP});
  allow_options(body, IPPROTO_UDP, {UDP_CORK, UDP_GRO, UDP_SEGMENT});
  body.push_back(ret(deny_with(EPERM)));
  return body;
}

seccomp_builder::program get_option_rules() {
  return {load_low(1),           {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SOL_SOCKET},
          load_low(2),           skip_unless_equal(peer_process),
          ret(deny_with(EPERM)), ret(allow)};
}

} // namespace troupe::isolation
