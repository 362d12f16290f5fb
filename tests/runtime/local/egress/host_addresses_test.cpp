#include "runtime/base/unique_fd.hpp"
#include "runtime/local/egress/host_addresses.hpp"
#include "runtime/local/egress/socket_guard.hpp"

#include <boost/test/unit_test.hpp>

#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

using namespace troupe;
using namespace troupe::network;

BOOST_AUTO_TEST_SUITE(own_addresses)

namespace {

// On the loopback device an address brings its whole network with it.
constexpr auto own4 = "8.8.4.4", whole4 = "8.1.2.3", own6 = "2a00::4";

sockaddr_in socket_address(const char* text, int port = 0) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  std::memcpy(&to.sin_addr, parse_address(text)->bytes.data(), 4);
  return to;
}

/// Gives the loopback device an address of the internet of either version.
bool move_in() {
  unique_fd four{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  unique_fd six{::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq device{};
  std::strcpy(device.ifr_name, "lo");
  device.ifr_flags = IFF_UP;
  if (::ioctl(four.get(), SIOCSIFFLAGS, &device) != 0)
    return false;
  auto mine = socket_address(own4);
  std::memcpy(&device.ifr_addr, &mine, sizeof mine);
  in6_ifreq mine6{};
  std::memcpy(&mine6.ifr6_addr, parse_address(own6)->bytes.data(), 16);
  mine6.ifr6_prefixlen = 128;
  mine6.ifr6_ifindex = 1;
  if (::ioctl(four.get(), SIOCSIFADDR, &device) != 0
      || ::ioctl(six.get(), SIOCSIFADDR, &mine6) != 0)
    return false;
  // The kernel finishes with an address of version 6 in its own time.
  sockaddr_in6 whole{};
  whole.sin6_family = AF_INET6;
  std::memcpy(&whole.sin6_addr, &mine6.ifr6_addr, 16);
  for (int tries = 0; tries < 1'000'000; ++tries) {
    if (::bind(six.get(), reinterpret_cast<sockaddr*>(&whole), sizeof whole)
        == 0)
      return true;
    ::sched_yield();
  }
  return false;
}

constexpr int moved_in = 1, holds = 2; // bits of an exit status

/// Asks in a process that lives in a network of its own.
int in_a_house(const std::function<bool()>& question) {
  const auto child = ::fork();
  if (child == 0) {
    const int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
    if (::unshare(CLONE_NEWNET | user) != 0 || !move_in())
      ::_exit(0);
    ::_exit(question() ? moved_in | holds : moved_in);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_own(const char* text) {
  return own_address(*parse_address(text)) == "this host's own address";
}

} // namespace

BOOST_AUTO_TEST_CASE(are_those_that_the_kernel_would_answer_at_itself) {
  auto knows = [] {
    return is_own(own4) && is_own(own6) && is_own(whole4)
      && own_address(*parse_address("9.9.9.9")).empty()
      && own_address(*parse_address("2a00::5")).empty();
  };
  BOOST_TEST(in_a_house(knows) == (moved_in | holds));
  // And the twin: elsewhere they are anybody's.
  BOOST_TEST(own_address(*parse_address(own4)).empty());
  BOOST_TEST(own_address(*parse_address(own6)).empty());
}

BOOST_AUTO_TEST_CASE(are_closed_whatever_their_range) {
  auto closed = [] {
    return !closed_address(*parse_address(own4)).empty()
      && !closed_address(*parse_address("10.0.0.1")).empty()
      && closed_address(*parse_address("9.9.9.9")).empty();
  };
  BOOST_TEST(in_a_house(closed) == (moved_in | holds));
}

BOOST_AUTO_TEST_CASE(are_not_heard_behind_the_guard) {
  auto silent = [](bool guarded) {
    unique_fd server{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    auto to = socket_address(own4);
    socklen_t size = sizeof to;
    auto* address = reinterpret_cast<sockaddr*>(&to);
    if (::bind(server.get(), address, size) != 0
        || ::listen(server.get(), 1) != 0
        || ::getsockname(server.get(), address, &size) != 0)
      return !guarded;
    unique_fd client{
      ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (guarded && !guard_socket(client.get(), guard_program({}, true, {}, 0)))
      return false;
    ::connect(client.get(), address, size);
    // On loopback an answer is there at once or never.
    pollfd p{client.get(), POLLOUT, 0};
    return ::poll(&p, 1, 300) == 0;
  };
  BOOST_TEST(in_a_house([&] { return silent(true); }) == (moved_in | holds));
  BOOST_TEST(in_a_house([&] { return silent(false); }) == moved_in);
}

BOOST_AUTO_TEST_SUITE_END()
