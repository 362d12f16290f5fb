// A sandbox with a network: what its policy names outside, its own servers
// inside, and never the other way round.
#include "tests/runtime/local/egress/networked_runs.hpp"
#include "tests/runtime/local/sandbox/kernels.hpp"
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>

using namespace troupe;
using namespace troupe::test;
using network::test::http_server;
using network::test::nameserver;
using network::test::udp_echo;

BOOST_AUTO_TEST_SUITE(network_of_a_sandbox)

namespace {

/// Takes connections, says hello, and keeps them.
class greeter : public network::test::server {
public:
  greeter() : server{AF_INET, SOCK_STREAM} {
    serve([this] {
      unique_fd one{::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      ++contacts_;
      ::send(one.get(), "hello", 5, MSG_NOSIGNAL);
      kept_.push_back(std::move(one));
    });
  }
  ~greeter() override { stop(); }

private:
  std::vector<unique_fd> kept_;
};

/// Servers of the host, and a backend that takes 127.0.0.8 and above for the
/// internet.
struct outside_world {
  http_server web;
  udp_echo echo;
  nameserver names;
  greeter first, second;
  local_host backend{options()};
  sandbox_host host{backend};

  local_options options() const {
    auto o = without_interpreters();
    o.network = network::test::pretend_public(names);
    return o;
  }
};

outside_world& world() {
  static auto* made = [] {
    auto* w = new outside_world;
    std::atexit([] { delete &world(); });
    return w;
  }();
  return *made;
}

sandbox_request with(network_policy policy) {
  auto wanted = sandbox_host::request();
  wanted.organization = default_organization();
  wanted.network = std::move(policy);
  return wanted;
}

sandbox_request with_internet() {
  return with({network_mode::open, {}});
}

std::string at(int port, const char* address = "127.0.0.9") {
  return address + (":" + std::to_string(port));
}

/// What a Python program inside prints, or raised.
std::string python_says(sandbox_host& host, const sandbox_handle& in,
                        const std::string& program) {
  BOOST_REQUIRE(host.write(in, "/tmp/program.py", program));
  auto seen = host.shell(in, "exec python3 /tmp/program.py");
  return seen.out + seen.err;
}

std::string python_says(const sandbox_handle& in, const std::string& program) {
  return python_says(world().host, in, program);
}

/// What a client inside hears at "address:port".
std::string hears(const sandbox_handle& in, const std::string& where) {
  const auto colon = where.rfind(':');
  return python_says(
    in,
    "import socket, errno\ntry:\n  print(socket.create_connection(('"
      + where.substr(0, colon) + "', " + where.substr(colon + 1)
      + "), 10).recv(5).decode(), end='')\nexcept OSError as e:\n"
        "  print(errno.errorcode.get(e.errno, e), end='')");
}

std::string engine_hears(const sandbox_handle& in, std::uint16_t port) {
  auto& host = world().host;
  auto socket = host.call(
    host.provider().connect(in, port, within(std::chrono::seconds{30})));
  BOOST_REQUIRE_MESSAGE(socket, to_string(socket.error()));
  const std::string get = "GET / HTTP/1.0\r\n\r\n";
  ::send(socket->get(), get.data(), get.size(), MSG_NOSIGNAL);
  std::string heard;
  for (;;) {
    pollfd wait{socket->get(), POLLIN, 0};
    BOOST_REQUIRE(::poll(&wait, 1, 30'000) == 1);
    char some[4096];
    const auto n = ::recv(socket->get(), some, sizeof some, 0);
    if (n <= 0)
      return heard;
    heard.append(some, static_cast<std::size_t>(n));
  }
}

result<void> change(const sandbox_handle& in, network_policy next) {
  auto& host = world().host;
  return host.call(host.provider().set_network(
    in, std::move(next), within(std::chrono::seconds{30})));
}

network_policy only(std::vector<std::string> allow) {
  return {network_mode::listed, std::move(allow)};
}

/// The processes below the warden that have this name.
std::vector<int> named(const std::string& name) {
  std::vector<int> found;
  for (const int pid : processes_below(living_warden(world().backend)))
    if (status_line(pid, "Name") == name)
      found.push_back(pid);
  return found;
}

} // namespace

BOOST_AUTO_TEST_CASE(reaches_the_internet_and_nothing_that_is_closed) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  BOOST_TEST(python_says(*box,
                         "import urllib.request\nprint(urllib.request."
                         "urlopen('http://"
                           + at(w.web.port()) + "/').read())")
             == "b'hello'\n");
  // By a name, over the nameserver that everybody has.
  BOOST_TEST(hears(*box, at(w.first.port(), "127-0-0-9.test")) == "hello");
  BOOST_TEST(python_says(*box,
                         "import socket\ntry:\n"
                         "  socket.getaddrinfo('none.test', 80)\n"
                         "except socket.gaierror as e:\n  print('none')")
             == "none\n");
  for (auto closed :
       {"169.254.169.254:80", "10.0.0.1:80", "192.168.1.1:80", "100.64.0.1:80"})
    BOOST_TEST(hears(*box, closed) == "EACCES");
}

BOOST_AUTO_TEST_CASE(is_off_unless_it_is_asked_for) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host};
  BOOST_TEST(hears(*box, at(w.first.port())) != "hello");
  BOOST_TEST(hears(*box, "192.0.2.1:80") == "ENETUNREACH");
}

BOOST_AUTO_TEST_CASE(has_a_loopback_of_its_own_whatever_the_policy_names) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with(only({at(w.first.port(), "127.0.0.1"), "::1"}))};
  BOOST_TEST(hears(*box, at(w.first.port(), "127.0.0.1")) == "ECONNREFUSED");
  BOOST_TEST(hears(*box, at(w.first.port(), "0.0.0.0")) == "ECONNREFUSED");
  BOOST_TEST(hears(*box, at(w.first.port(), "::ffff:127.0.0.1"))
             == "ECONNREFUSED");
  BOOST_TEST(hears(*box, at(w.first.port(), "::1")) == "ECONNREFUSED");
}

BOOST_AUTO_TEST_CASE(sends_and_hears_datagrams) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  BOOST_TEST(python_says(*box,
                         R"(
import socket
there = ('127.0.0.9', )" + std::to_string(w.echo.port())
                           + R"()
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
a.sendto(b'sent', there)
print(a.recvfrom(10)[0])
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
b.connect(there)
print(b.send(b'connected')) # the echo answers from another address
c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
c.sendmsg([b'in ', b'pieces'], [], 0, there)
print(c.recv(10))
try:
  a.sendto(b'x', ('10.0.0.1', 53530))
except PermissionError:
  print('refused')
)") == "b'sent'\n9\nb'in pieces'\nrefused\n");
}

BOOST_AUTO_TEST_CASE(has_servers_of_its_own_beside_it) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  living other{w.host, with_internet()};
  BOOST_REQUIRE(w.host.write(*box, "/home/user/serve.py", R"(
import asyncio, http.server, socket, sys, threading, urllib.request
class page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'page')
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(('', 8000), page)
threading.Thread(target=server.serve_forever, daemon=True).start()
print('threads', urllib.request.urlopen('http://localhost:8000/').read())
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(('127.0.0.1', 9000))
c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
c.bind(('', 0))
c.sendto(b'ping', ('127.0.0.1', 9000))
data, back = u.recvfrom(10)
u.sendto(data, back)
print('datagrams', c.recv(10))
async def serve(reader, writer):
    await reader.readuntil(b'\r\n\r\n')
    writer.write(b'async')
    writer.close()
async def main():
    for at in ('127.0.0.1', 5001), ('::1', 5002), ('::', 5003), (None, 5004):
        await asyncio.start_server(serve, *at)
    r, w = await asyncio.open_connection('localhost', 5004)
    w.write(b'\r\n\r\n')
    print('asyncio', await r.read())
    r, w = await asyncio.open_connection('127.0.0.9', int(sys.argv[1]))
    print('outside', await r.readexactly(5))
    print('ready', flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
)"));
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(w.host.start(*box,
                             "exec python3 -u serve.py "
                               + std::to_string(w.first.port()) + " 2>&1",
                             *seen));
  BOOST_REQUIRE_MESSAGE(seen->wait_for_output("ready"), seen->output());
  BOOST_TEST(seen->output()
             == "threads b'page'\ndatagrams b'ping'\nasyncio b'async'\n"
                "outside b'hello'\nready\n");
  BOOST_TEST(engine_hears(*box, 8000).ends_with("page"));
  for (const std::uint16_t port : {5001, 5002, 5003, 5004})
    BOOST_TEST(engine_hears(*box, port) == "async");
  BOOST_TEST(hears(*other, "127.0.0.1:5001") == "ECONNREFUSED");
}

BOOST_AUTO_TEST_CASE(is_there_for_what_runs_in_the_background_and_for_cells) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  const auto client = "import socket; print(socket.create_connection("
                      "('127.0.0.9', "
    + std::to_string(w.first.port()) + ")).recv(5).decode(), flush=True)";
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(w.host.start(
    *box, "(python3 -c \"" + client + "\") & wait; sleep 1000", *seen));
  BOOST_TEST(seen->wait_for_output("hello"));
  kernel_under_test kernel{w.host, *box, context_language::python};
  const auto cell = kernel.run(client);
  BOOST_TEST(cell.ok());
  BOOST_TEST(cell.out == "hello\n");
}

BOOST_AUTO_TEST_CASE(ends_what_another_policy_refuses) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  const auto named = at(w.first.port());
  const auto kept = at(w.second.port());
  living box{w.host, with(only({named, kept}))};
  BOOST_REQUIRE(w.host.write(*box, "/home/user/hold.py", R"(
import socket, sys, threading
def hold(port):
    s = socket.create_connection(('127.0.0.9', int(port)))
    s.recv(5)
    print('open', port, flush=True)
    s.recv(5)
    print('ended', port, flush=True)
for port in sys.argv[1:]:
    threading.Thread(target=hold, args=[port]).start()
)"));
  const auto first = std::to_string(w.first.port());
  const auto second = std::to_string(w.second.port());
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(
    w.host.start(*box, "exec python3 hold.py " + first + " " + second, *seen));
  BOOST_REQUIRE(seen->wait_for_output("open " + first));
  BOOST_REQUIRE(seen->wait_for_output("open " + second));
  BOOST_REQUIRE(change(*box, only({kept})));
  BOOST_TEST(seen->wait_for_output("ended " + first));
  BOOST_TEST(hears(*box, named) == "EACCES");
  BOOST_TEST(hears(*box, kept) == "hello");
  BOOST_TEST(seen->output().find("ended " + second) == std::string::npos);
  BOOST_REQUIRE(change(*box, {network_mode::off, {}}));
  BOOST_TEST(seen->wait_for_output("ended " + second));
  BOOST_TEST(hears(*box, kept) == "EACCES");
  BOOST_REQUIRE(change(*box, only({"127.0.0.8/29"})));
  BOOST_TEST(hears(*box, named) == "hello");
}

BOOST_AUTO_TEST_CASE(may_come_later_while_nothing_has_begun) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living fresh{w.host};
  BOOST_REQUIRE(change(*fresh, {network_mode::open, {}}));
  BOOST_TEST(hears(*fresh, at(w.first.port())) == "hello");
  living used{w.host};
  w.host.shell(*used, "true");
  auto changed = change(*used, {network_mode::open, {}});
  BOOST_REQUIRE(!changed);
  BOOST_TEST((changed.error().code == ec::conflict));
}

BOOST_AUTO_TEST_CASE(sends_nothing_outside_that_was_meant_for_loopback) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  // Both in one call: the second takes the socket along.
  const auto port = std::to_string(w.echo.port());
  const auto before = w.echo.contacts();
  BOOST_TEST(python_says(*box,
                         R"(
import ctypes, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
class iov(ctypes.Structure):
    _fields_ = [('base', ctypes.c_char_p), ('len', ctypes.c_size_t)]
class msg(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('namelen', ctypes.c_uint),
                ('iov', ctypes.POINTER(iov)), ('iovlen', ctypes.c_size_t),
                ('control', ctypes.c_void_p), ('clen', ctypes.c_size_t),
                ('flags', ctypes.c_int), ('pad', ctypes.c_int),
                ('sent', ctypes.c_uint), ('end', ctypes.c_uint)]
def to(address):
    return struct.pack('=H', socket.AF_INET) + struct.pack('!H', )"
                           + port + R"() + \
        socket.inet_aton(address) + b'\0' * 8
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
both = (msg * 2)()
keep = []
for m, address in zip(both, ('127.0.0.1', '127.0.0.9')):
    part = iov(b'x', 1)
    keep.append(part)
    m.name, m.namelen = to(address), 16
    m.iov, m.iovlen = ctypes.pointer(part), 1
print(libc.sendmmsg(s.fileno(), both, 2, 0), ctypes.get_errno())
)") == "-1 13\n");
  BOOST_TEST(w.echo.contacts() == before);
}

BOOST_AUTO_TEST_CASE(never_listens_in_the_hosts_network) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  BOOST_TEST(python_says(*box,
                         R"(
import socket
def tries(what):
    try:
        what()
        print('done')
    except OSError as e:
        print(e.errno)
s = socket.create_connection(('127.0.0.9', )"
                           + std::to_string(w.first.port()) + R"())
tries(lambda: s.bind(('', 4455)))
tries(lambda: s.listen(5))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect(('127.0.0.9', 4000))
tries(lambda: u.bind(('127.0.0.1', 4455)))
)") == "13\n13\n13\n");
}

BOOST_AUTO_TEST_CASE(goes_on_without_a_network_when_its_broker_is_killed) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  auto seen = std::make_shared<process_watch>();
  auto client = w.host.start(*box,
                             R"(exec python3 -uc "
import socket
def tries():
    try:
        socket.create_connection(('127.0.0.9', )"
                               + std::to_string(w.first.port()) + R"())
        print('connected')
    except OSError as e:
        print('errno', e.errno)
tries()
input()
tries()
")",
                             *seen, true);
  BOOST_REQUIRE(client);
  BOOST_REQUIRE(seen->wait_for_output("connected"));
  const auto brokers = named("troupe-broker");
  BOOST_REQUIRE(!brokers.empty());
  for (const int pid : brokers)
    ::kill(pid, SIGKILL);
  BOOST_REQUIRE(eventually([] { return named("troupe-broker").empty(); }));
  BOOST_REQUIRE((*client)->write("\n"));
  BOOST_TEST(seen->wait_for_output("errno 38")); // ENOSYS
  // What begins later has one again.
  BOOST_TEST(hears(*box, at(w.first.port())) == "hello");
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_with_open_connections) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  {
    living box{w.host, with_internet()};
    auto seen = std::make_shared<process_watch>();
    BOOST_REQUIRE(w.host.start(
      *box,
      "exec python3 -uc \"import socket; s = socket.create_connection(("
      "'127.0.0.9', "
        + std::to_string(w.first.port()) + ")); print(s.recv(5)); s.recv(5)\"",
      *seen));
    BOOST_REQUIRE(seen->wait_for_output("hello"));
    BOOST_TEST(!named("troupe-broker").empty());
  }
  BOOST_TEST(eventually([] { return named("troupe-broker").empty(); }));
}

BOOST_AUTO_TEST_CASE(keeps_connections_over_a_pause) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with_internet()};
  auto seen = std::make_shared<process_watch>();
  auto client = w.host.start(
    *box,
    "exec python3 -uc \"import socket; s = socket.create_connection(("
    "'127.0.0.9', "
      + std::to_string(w.first.port())
      + ")); print('open'); input(); print(s.recv(5))\"",
    *seen, true);
  BOOST_REQUIRE(client);
  BOOST_REQUIRE(seen->wait_for_output("open"));
  const auto paused = w.host.call(w.host.provider().pause(
    *box, std::chrono::minutes{5}, within(std::chrono::seconds{30})));
  if (!paused) {
    BOOST_TEST_MESSAGE("skipped: " << to_string(paused.error()));
    return;
  }
  BOOST_REQUIRE(w.host.call(w.host.provider().resume(
    *box, std::chrono::minutes{5}, within(std::chrono::seconds{30}))));
  BOOST_REQUIRE((*client)->write("\n"));
  BOOST_TEST(seen->wait_for_output("b'hello'"));
}

BOOST_AUTO_TEST_CASE(bounds_a_flood_of_connections) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  local_sandbox_options few;
  few.connections = 32;
  sandbox_host host{w.backend, few};
  living box{host, with_internet()};
  const auto said = host.shell(*box, R"(exec python3 -c "
import errno, socket
made = 0
try:
    for i in range(4000):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect(('127.0.0.9', 4000))
        made += 1
        s.close()
    print('all')
except OSError as e:
    print(errno.errorcode[e.errno], 32 <= made < 2000)
# Its own servers do not mind.
try:
    socket.create_connection(('127.0.0.1', 9))
except ConnectionRefusedError:
    print('inside')
")");
  BOOST_TEST(said.out == "EMFILE True\ninside\n", said.err);
  living other{host, with_internet()};
  BOOST_TEST(python_says(host, *other,
                         "import socket\nprint(socket.create_connection(('"
                         "127.0.0.9', "
                           + std::to_string(w.first.port()) + ")).recv(5))")
             == "b'hello'\n");
}

BOOST_AUTO_TEST_CASE(does_not_follow_a_name_to_a_closed_address) {
  TROUPE_NEEDS("network_broker");
  auto& w = world();
  living box{w.host, with(only({"*.test"}))};
  BOOST_TEST(hears(*box, at(w.first.port(), "127-0-0-9.test")) == "hello");
  for (auto closed : {"10-0-0-1.test:80", "169-254-169-254.test:80"})
    BOOST_TEST(hears(*box, closed) == "EACCES");
  // That name is the sandbox's own loopback.
  BOOST_TEST(hears(*box, at(w.first.port(), "127-0-0-1.test"))
             == "ECONNREFUSED");
}

BOOST_AUTO_TEST_SUITE_END()
