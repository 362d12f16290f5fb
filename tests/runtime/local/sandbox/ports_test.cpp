// Servers in a sandbox without a network: for each other on loopback, for the
// engine by the keeper, and for nobody else.
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(ports_in_a_sandbox)

namespace {

/// Connected to a port inside, or why not.
result<unique_fd> connect(sandbox_host& host, const sandbox_handle& in,
                          std::uint16_t port) {
  return host.call(
    host.provider().connect(in, port, within(std::chrono::seconds{30})));
}

std::string talk(const unique_fd& socket, const std::string& said) {
  BOOST_REQUIRE(::send(socket.get(), said.data(), said.size(), MSG_NOSIGNAL)
                == static_cast<ssize_t>(said.size()));
  std::string heard;
  for (;;) {
    pollfd wait{socket.get(), POLLIN, 0};
    BOOST_REQUIRE(::poll(&wait, 1, 30'000) == 1);
    char some[4096];
    const auto n = ::recv(socket.get(), some, sizeof some, 0);
    if (n <= 0)
      return heard;
    heard.append(some, static_cast<std::size_t>(n));
  }
}

/// A program of the sandbox's that has said that it is there.
std::shared_ptr<process_watch> serve(sandbox_host& host,
                                     const sandbox_handle& in,
                                     const std::string& program) {
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.write(in, "/home/user/serve.py", program));
  BOOST_REQUIRE(host.start(in, "exec python3 -u serve.py", *seen));
  BOOST_REQUIRE_MESSAGE(seen->wait_for_output("ready"), seen->output());
  return seen;
}

const std::string get = "GET / HTTP/1.0\r\n\r\n";

} // namespace

BOOST_AUTO_TEST_CASE(lead_to_a_server_that_is_started_a_moment_later) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(
    *box, "echo hello > index.html; exec python3 -m http.server 8000", *seen));
  auto socket = connect(host, *box, 8000); // not listening yet
  BOOST_REQUIRE_MESSAGE(socket, to_string(socket.error()));
  const auto answer = talk(*socket, get);
  BOOST_TEST(answer.starts_with("HTTP/1.0 200 OK"));
  BOOST_TEST(answer.ends_with("hello\n"));
  auto listed
    = host.call(host.provider().ports(*box, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(listed);
  BOOST_TEST(*listed == (std::vector<std::uint16_t>{8000}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(serve_both_versions_of_the_protocol_and_low_numbers) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  const auto seen = serve(host, *box, R"(
import asyncio
async def serve(reader, writer):
    await reader.readuntil(b'\r\n\r\n')
    writer.write(b'served by %d' % writer.get_extra_info('sockname')[1])
    writer.close()
async def main():
    await asyncio.start_server(serve, '127.0.0.1', 80)
    await asyncio.start_server(serve, '::1', 4000)
    await asyncio.start_server(serve, '0.0.0.0', 5000)
    await asyncio.start_server(serve, '::', 6000)
    print('ready')
    await asyncio.sleep(1000)
asyncio.run(main())
)");
  for (const std::uint16_t port : {80, 4000, 5000, 6000}) {
    auto socket = connect(host, *box, port);
    BOOST_REQUIRE_MESSAGE(socket, to_string(socket.error()));
    BOOST_TEST(talk(*socket, get) == "served by " + std::to_string(port));
  }
  auto listed
    = host.call(host.provider().ports(*box, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(listed);
  BOOST_TEST(*listed == (std::vector<std::uint16_t>{80, 4000, 5000, 6000}),
             boost::test_tools::per_element());
  // And for programs beside it.
  BOOST_TEST(host
               .shell(*box,
                      "python3 -c \"import socket; s = "
                      "socket.create_connection(('localhost', 5000)); "
                      "s.send(b'\\r\\n\\r\\n'); "
                      "print(s.recv(100).decode())\"")
               .out
             == "served by 5000\n");
}

BOOST_AUTO_TEST_CASE(are_those_of_their_own_sandbox_alone) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  living other{host};
  const auto seen = serve(host, *box, R"(
import socket, time
s = socket.create_server(('0.0.0.0', 8000))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(('127.0.0.1', 8000))
print('ready')
time.sleep(1000)
)");
  BOOST_TEST(connect(host, *box, 8000).has_value());
  auto refused = connect(host, *other, 8000);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == ec::conflict));
  BOOST_TEST(refused.error().text
             == "nothing in the sandbox listens on port 8000");
  auto none = host.call(
    host.provider().ports(*other, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(none);
  BOOST_TEST(none->empty());
}

BOOST_AUTO_TEST_CASE(reach_nothing_outside_and_need_no_rights) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  // A server of the host's, on its loopback.
  unique_fd mine{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  BOOST_REQUIRE(::bind(mine.get(), reinterpret_cast<sockaddr*>(&at), size)
                == 0);
  BOOST_REQUIRE(::listen(mine.get(), 1) == 0);
  ::getsockname(mine.get(), reinterpret_cast<sockaddr*>(&at), &size);
  const auto seen = host.shell(*box, R"(cat > tries.py <<'END'
import errno, socket, sys
def tries(name, work):
    try:
        work()
        print(name, 'worked')
    except OSError as e:
        print(name, errno.errorcode[e.errno])
tries('host', lambda: socket.create_connection(('127.0.0.1', int(sys.argv[1]))))
tries('internet', lambda: socket.create_connection(('1.1.1.1', 53)))
tries('six', lambda: socket.create_connection(('2606:4700:4700::1111', 53)))
tries('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      .sendto(b'x', ('1.1.1.1', 53)))
tries('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 6))
tries('icmp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1))
tries('sctp', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
tries('mptcp', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
tries('dccp', lambda: socket.socket(socket.AF_INET, 6, 33))
tries('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
tries('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
tries('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
s = socket.socket()
tries('device', lambda: s.setsockopt(socket.SOL_SOCKET, 25, b'lo'))
tries('ulp', lambda: s.setsockopt(socket.IPPROTO_TCP, 31, b'tls'))
END
python3 tries.py )" + std::to_string(ntohs(at.sin_port)));
  BOOST_TEST(seen.out
               == "host ECONNREFUSED\ninternet ENETUNREACH\nsix ENETUNREACH\n"
                  "udp ENETUNREACH\nraw ESOCKTNOSUPPORT\n"
                  "icmp EPROTONOSUPPORT\nsctp EPROTONOSUPPORT\n"
                  "mptcp EPROTONOSUPPORT\ndccp EPROTONOSUPPORT\n"
                  "netlink EAFNOSUPPORT\npacket EAFNOSUPPORT\n"
                  "vsock EAFNOSUPPORT\ndevice EPERM\nulp EPERM\n",
             seen.out << seen.err);
}

BOOST_AUTO_TEST_CASE(do_not_wait_for_a_server_that_does_not_accept) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  // Its queue is full: what connects next hears nothing at all.
  const auto seen = serve(host, *box, R"(
import socket, time
s = socket.socket()
s.bind(('127.0.0.1', 8000))
s.listen(0)
keep = []
for _ in range(3):
    c = socket.socket()
    c.setblocking(False)
    c.connect_ex(('127.0.0.1', 8000))
    keep.append(c)
print('ready')
time.sleep(1000)
)");
  auto late = host.call(host.provider().connect(
    *box, 8000, within(std::chrono::milliseconds{300})));
  BOOST_REQUIRE(!late);
  BOOST_TEST((late.error().code == ec::timeout));
  BOOST_TEST(host.shell(*box, "echo on").out == "on\n"); // others go on
}

BOOST_AUTO_TEST_CASE(end_with_their_sandbox) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto box = host.make();
  const auto seen = serve(host, box, R"(
import socket, time
s = socket.create_server(('127.0.0.1', 8000))
print('ready')
c, _ = s.accept()
time.sleep(1000)
)");
  auto socket = connect(host, box, 8000);
  BOOST_REQUIRE(socket);
  host.destroy(box);
  pollfd wait{socket->get(), POLLIN, 0};
  BOOST_REQUIRE(::poll(&wait, 1, 30'000) == 1);
  char byte = 0;
  BOOST_TEST(::recv(socket->get(), &byte, 1, 0) <= 0);
  BOOST_TEST(!connect(host, box, 8000));
}

BOOST_AUTO_TEST_SUITE_END()
