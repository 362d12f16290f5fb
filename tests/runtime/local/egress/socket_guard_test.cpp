#include "brokered_tool.hpp"
#include "runtime/local/egress/socket_guard.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(socket_guard)

namespace {

const ip_address resolver_address{{127, 0, 0, 53}, false};

unique_fd guarded(int family, int type, const network_policy& policy) {
  unique_fd fd{::socket(family, type | SOCK_CLOEXEC, 0)};
  auto program
    = guard_program(patterns(policy), type == SOCK_STREAM, resolver_address, 9);
  BOOST_REQUIRE(guard_socket(fd.get(), program));
  return fd;
}

sockaddr_in loopback(int port, std::uint8_t last = 1) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(0x7f000000u | last);
  return to;
}

/// Whether the connection comes about within `patience` milliseconds.
bool connects(const unique_fd& fd, const void* to, socklen_t size,
              int patience) {
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  if (::connect(fd.get(), static_cast<const sockaddr*>(to), size) == 0)
    return true;
  pollfd p{fd.get(), POLLOUT, 0};
  int failure = -1;
  socklen_t length = sizeof failure;
  return ::poll(&p, 1, patience) == 1
    && ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &length) == 0
    && failure == 0;
}

// On loopback an answer is there at once or never.
constexpr int patience = 300;

} // namespace

BOOST_AUTO_TEST_CASE(stops_connections_to_closed_addresses) {
  http_server web, web6{AF_INET6};
  auto to = loopback(web.port());
  sockaddr_in6 to6{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(static_cast<std::uint16_t>(web6.port()));
  to6.sin6_addr = in6addr_loopback;
  // The guard knows nothing of a broker: this is what it stops alone.
  auto s = guarded(AF_INET, SOCK_STREAM, network_policy{});
  BOOST_TEST(!connects(s, &to, sizeof to, patience));
  auto s6 = guarded(AF_INET6, SOCK_STREAM, network_policy{});
  BOOST_TEST(!connects(s6, &to6, sizeof to6, patience));
  // And the twins: without it, or with the address on the list.
  unique_fd bare{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  BOOST_TEST(connects(bare, &to, sizeof to, patience));
  auto listed = guarded(AF_INET, SOCK_STREAM, list({"127.0.0.0/8"}));
  BOOST_TEST(connects(listed, &to, sizeof to, patience));
  auto listed6 = guarded(AF_INET6, SOCK_STREAM, list({"::1"}));
  BOOST_TEST(connects(listed6, &to6, sizeof to6, patience));
  auto other = guarded(AF_INET, SOCK_STREAM, list({"127.0.0.2"}));
  BOOST_TEST(!connects(other, &to, sizeof to, patience));
}

BOOST_AUTO_TEST_CASE(stops_everybody_who_wants_to_connect) {
  auto server = guarded(AF_INET, SOCK_STREAM, list({"127.0.0.0/8"}));
  BOOST_REQUIRE(::listen(server.get(), 4) == 0);
  sockaddr_in own{};
  socklen_t size = sizeof own;
  ::getsockname(server.get(), reinterpret_cast<sockaddr*>(&own), &size);
  auto to = loopback(ntohs(own.sin_port));
  unique_fd client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  BOOST_TEST(!connects(client, &to, sizeof to, patience));
}

BOOST_AUTO_TEST_CASE(stops_datagrams_from_closed_addresses) {
  udp_echo echo;
  auto to = loopback(echo.port());
  auto hears = [&](const unique_fd& fd) {
    ::sendto(fd.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    pollfd p{fd.get(), POLLIN, 0};
    return ::poll(&p, 1, patience) == 1;
  };
  BOOST_TEST(!hears(guarded(AF_INET, SOCK_DGRAM, network_policy{})));
  BOOST_TEST(hears(guarded(AF_INET, SOCK_DGRAM, list({"127.0.0.1"}))));
}

BOOST_AUTO_TEST_CASE(cannot_be_taken_off) {
  auto s = guarded(AF_INET, SOCK_STREAM, network_policy{});
  sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};
  sock_fprog program{1, all};
  int zero = 0;
  BOOST_TEST(::setsockopt(s.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program,
                          sizeof program)
             != 0);
  BOOST_TEST(
    ::setsockopt(s.get(), SOL_SOCKET, SO_DETACH_FILTER, &zero, sizeof zero)
    != 0);
  BOOST_TEST(
    ::setsockopt(s.get(), SOL_SOCKET, SO_LOCK_FILTER, &zero, sizeof zero) != 0);
}

BOOST_AUTO_TEST_CASE(fits_the_kernel_with_a_long_list) {
  network_policy p{network_mode::listed, {}};
  for (int i = 0; i < 256; ++i)
    p.allow.push_back("fd00::" + std::to_string(i));
  BOOST_TEST(guard_program(patterns(p), true, resolver_address, 9).size()
             < 4096u);
  guarded(AF_INET6, SOCK_STREAM, p);
}

BOOST_AUTO_TEST_SUITE_END()
