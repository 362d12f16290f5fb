#include "runtime/local/egress/host_addresses.hpp"

#include "runtime/base/unique_fd.hpp"

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace troupe::network {

namespace {

struct route_question {
  nlmsghdr head{};
  rtmsg route{};
  rtattr attribute{};
  std::array<std::uint8_t, 16> to{};
};

route_question question_about(const ip_address& a) {
  route_question q;
  q.attribute.rta_type = RTA_DST;
  q.attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(a.size()));
  q.to = a.bytes;
  q.route.rtm_family = a.v6 ? AF_INET6 : AF_INET;
  q.route.rtm_dst_len = static_cast<unsigned char>(a.size() * 8);
  q.head.nlmsg_type = RTM_GETROUTE;
  q.head.nlmsg_flags = NLM_F_REQUEST;
  q.head.nlmsg_len = static_cast<unsigned>(offsetof(route_question, attribute)
                                           + q.attribute.rta_len);
  return q;
}

std::string_view meaning(unsigned char route_type) {
  switch (route_type) {
  case RTN_LOCAL:
  case RTN_ANYCAST:
    return "this host's own address";
  case RTN_BROADCAST:
  case RTN_MULTICAST:
    return "broadcast";
  default:
    return {};
  }
}

} // namespace

std::string_view own_address(const ip_address& a) noexcept {
  constexpr std::string_view unknown = "possibly this host's own address";
  const unique_fd kernel{
    ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  const auto q = question_about(a);
  if (!kernel
      || ::send(kernel.get(), &q, q.head.nlmsg_len, 0)
        != static_cast<ssize_t>(q.head.nlmsg_len))
    return unknown;
  // The kernel answers within send: nothing is waited for.
  alignas(nlmsghdr) char bytes[1024]; // a route has about 150 bytes
  const auto size = ::recv(kernel.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (size < static_cast<ssize_t>(sizeof(nlmsghdr)))
    return unknown;
  nlmsghdr head;
  std::memcpy(&head, bytes, sizeof head);
  if (head.nlmsg_type == NLMSG_ERROR)
    return {}; // no way leads there, not even to ourselves
  if (head.nlmsg_type != RTM_NEWROUTE
      || size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(rtmsg))))
    return unknown;
  rtmsg route;
  std::memcpy(&route, bytes + NLMSG_HDRLEN, sizeof route);
  return meaning(route.rtm_type);
}

std::string_view closed_address(const ip_address& a) noexcept {
  const auto special = special_purpose(a);
  return special.empty() ? own_address(a) : special;
}

} // namespace troupe::network
