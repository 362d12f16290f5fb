// Whatever a tool does to its broker costs that tool alone: what would stop,
// fill or outlive an engine, tried on one.
#include "tests/runtime/local/egress/brokered_tool.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>

using namespace troupe;
using namespace troupe::network;
using namespace troupe::network::test;
using std::chrono::steady_clock;

BOOST_AUTO_TEST_SUITE(hostile_calls)

namespace {

/// Accepts nobody, and the queue is full: a connect that never returns.
class full_server {
public:
  full_server() {
    own_.sin_family = AF_INET;
    own_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&own_), sizeof own_);
    ::listen(listening_.get(), 0);
    socklen_t size = sizeof own_;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&own_), &size);
    ::connect(first_.get(), reinterpret_cast<sockaddr*>(&own_), sizeof own_);
  }
  std::string port() const { return text(ntohs(own_.sin_port)); }

private:
  sockaddr_in own_{};
  unique_fd listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  unique_fd first_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

/// Accepts one connection and hands it out.
class quiet_server {
public:
  quiet_server() {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&own), size);
    ::listen(listening_.get(), 4);
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&own), &size);
    port_ = ntohs(own.sin_port);
  }
  std::string port() const { return text(port_); }
  unique_fd accept() const {
    return unique_fd{
      ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  }

private:
  unique_fd listening_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port_ = 0;
};

brokered_tool python(const std::string& code, network_policy policy,
                     broker_options options = {}) {
  return brokered_tool{
    {"python3", "-c", code}, std::move(policy), std::move(options)};
}

/// Asked again and again, for ten seconds at the most.
template <class Condition>
bool comes_true(Condition condition) {
  const auto until = steady_clock::now() + std::chrono::seconds{10};
  while (!condition())
    if (steady_clock::now() > until)
      return false;
    else
      std::this_thread::yield();
  return true;
}

std::size_t open_files(pid_t process) {
  std::error_code gone;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator
         i{"/proc/" + text(process) + "/fd", gone},
       end;
       !gone && i != end; i.increment(gone))
    ++count;
  return count;
}

long peak_kib(pid_t process) {
  std::ifstream status{"/proc/" + text(process) + "/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::stol(line.substr(6));
  return -1;
}

/// How long the engine's thread takes for something else, at the worst of many.
std::chrono::milliseconds worst_turn(brokered_tool& tool) {
  auto worst = steady_clock::duration::zero();
  for (int i = 0; i < 2'000; ++i) {
    const auto before = steady_clock::now();
    tool.here([] { return 0; });
    worst = std::max(worst, steady_clock::now() - before);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(worst);
}

} // namespace

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_socket_that_becomes_blocking) {
  full_server full;
  // Whoever connects in the tool's place turns blocking off first; another
  // thread turns it on again.
  auto tool = python("import fcntl, os, socket, sys, threading\n"
                     "s = socket.socket()\n"
                     "old = fcntl.fcntl(s, fcntl.F_GETFL)\n"
                     "def flip():\n"
                     "    while True:\n"
                     "        fcntl.fcntl(s, fcntl.F_SETFL, old)\n"
                     "threads = [threading.Thread(target=flip, daemon=True)\n"
                     "           for _ in range(4)]\n"
                     "for t in threads: t.start()\n"
                     "s.connect(('127.0.0.1', "
                       + full.port() + "))\n",
                     list({"127.0.0.1"}));
  BOOST_REQUIRE(tool.started());
  BOOST_REQUIRE(comes_true([&] { return tool.its_host().started() == 1; }));
  BOOST_TEST(worst_turn(tool).count() < 1'000);
}

BOOST_AUTO_TEST_CASE(no_socket_is_made_to_linger) {
  quiet_server server;
  auto e = run_python(
    "import errno, socket, struct\n"
    "def set(s, *value):\n"
    "    try: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,\n"
    "                      struct.pack('ii', *value)); return 'OK'\n"
    "    except OSError as e: return errno.errorcode[e.errno]\n"
    "s = socket.create_connection(('127.0.0.1', "
      + server.port()
      + "))\n"
        "print(set(s, 1, 30), set(s, 1, -1), set(s, 1, 0), set(s, 0, 30))\n",
    list({"127.0.0.1"}));
  BOOST_TEST(e.output == "EPERM EPERM OK OK\n");
}

BOOST_AUTO_TEST_CASE(messages_that_wait_are_bounded) {
  // Each thread's pair is full, and has one message of a megabyte in as many
  // pieces as the kernel takes.
  auto tool = python(
    "import collections, errno, os, socket, threading\n"
    "results = []\n"
    "def send():\n"
    "    a, b = socket.socketpair()\n"
    "    a.setblocking(False)\n"
    "    try:\n"
    "        while True: a.send(bytes(65536))\n"
    "    except BlockingIOError: pass\n"
    "    a.setblocking(True)\n"
    "    try: a.sendmsg([bytes(1024)] * 1024)\n"
    "    except OSError as e: results.append(errno.errorcode[e.errno])\n"
    "threads = [threading.Thread(target=send, daemon=True)\n"
    "           for _ in range(40)]\n"
    "for t in threads: t.start()\n"
    "for t in threads: t.join(0.01 if len(results) >= 24 else 10)\n"
    "print(collections.Counter(results), flush=True)\n"
    "os._exit(0)\n",
    network_policy{});
  BOOST_REQUIRE(tool.started());
  BOOST_REQUIRE(comes_true([&] { return tool.its_host().started() == 1; }));
  const auto pid = tool.here([&] { return tool.its_host().pid(); });
  const auto e = tool.finish();
  // A megabyte waits, in pieces of 64 KiB: 16 calls, of which no byte was
  // copied twice.
  BOOST_TEST(e.output == "Counter({'ENOBUFS': 24})\n");
  BOOST_TEST(peak_kib(pid) < 64 * 1024);
}

BOOST_AUTO_TEST_CASE(calls_in_flight_end_with_their_run) {
  full_server full;
  const auto source = "import os, socket, threading\n"
                      "def connect():\n"
                      "    try: socket.create_connection(('127.0.0.1', "
    + full.port()
    + "))\n"
      "    except OSError: pass\n"
      "for _ in range(50): threading.Thread(target=connect).start()\n";
  auto tool = python(source, list({"127.0.0.1"}));
  BOOST_REQUIRE(tool.started());
  BOOST_REQUIRE(comes_true([&] { return tool.its_host().started() == 1; }));
  const auto pid = tool.here([&] { return tool.its_host().pid(); });
  const auto held = [&] {
    auto account = tool.its_host().account_of(default_organization());
    return (**account)->waiting_calls.load();
  };
  BOOST_REQUIRE(comes_true([&] { return tool.here(held) == 50; }));
  BOOST_TEST(open_files(pid) > 100u);
  tool.here([&] { tool.its_broker().end_run(); });
  BOOST_TEST(comes_true([&] { return open_files(pid) < 20; }));
  BOOST_TEST(tool.here(held) == 0);
}

BOOST_AUTO_TEST_CASE(calls_of_a_process_that_died_do_not_stay) {
  full_server full;
  auto tool = python("import os, signal, socket, sys, time\n"
                     "child = os.fork()\n"
                     "if child == 0: socket.create_connection(('127.0.0.1', "
                       + full.port()
                       + "))\n"
                         "signal.pause()\n",
                     list({"127.0.0.1"}));
  BOOST_REQUIRE(tool.started());
  BOOST_REQUIRE(comes_true([&] { return tool.its_host().started() == 1; }));
  auto account = tool.here(
    [&] { return *tool.its_host().account_of(default_organization()); });
  BOOST_REQUIRE(comes_true([&] { return (*account)->waiting_calls == 1; }));
  BOOST_REQUIRE(tool.kill_children());
  BOOST_TEST(comes_true([&] { return (*account)->waiting_calls == 0; }));
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_once_the_run_is_over) {
  quiet_server server;
  auto tool = python("import socket\n"
                     "s = socket.create_connection(('127.0.0.1', "
                       + server.port()
                       + "))\n"
                         "s.setblocking(False)\n"
                         "try:\n"
                         "    while True: s.send(b'.' * 65536)\n"
                         "except BlockingIOError: pass\n"
                         "s.setblocking(True)\n"
                         "s.sendmsg([b'late'])\n",
                     list({"127.0.0.1"}));
  const auto peer = server.accept();
  auto account = tool.here(
    [&] { return *tool.its_host().account_of(default_organization()); });
  BOOST_REQUIRE(comes_true([&] { return (*account)->held_bytes == 4; }));
  tool.kill();
  tool.here([&] { tool.its_broker().end_run(); });
  std::string got;
  char bytes[65536];
  for (ssize_t n; (n = ::read(peer.get(), bytes, sizeof bytes)) > 0;)
    got.append(bytes, static_cast<std::size_t>(n));
  BOOST_TEST(got.size() > 0u);
  BOOST_TEST(got.find("late") == got.npos);
}

BOOST_AUTO_TEST_CASE(a_broker_that_does_not_end_a_run_is_killed) {
  full_server full;
  auto tool = python("import socket\n"
                     "socket.create_connection(('127.0.0.1', "
                       + full.port() + "))\n",
                     list({"127.0.0.1"}));
  BOOST_REQUIRE(comes_true([&] { return tool.its_host().started() == 1; }));
  auto account = tool.here(
    [&] { return *tool.its_host().account_of(default_organization()); });
  BOOST_REQUIRE(comes_true([&] { return (*account)->waiting_calls == 1; }));
  const auto pid = tool.here([&] { return tool.its_host().pid(); });
  ::kill(pid, SIGSTOP); // as a kernel that makes it wait
  tool.here([&] { tool.its_broker().end_run(); });
  BOOST_TEST(comes_true(
    [&] { return !tool.here([&] { return tool.its_broker().is_well(); }); }));
  BOOST_TEST(::kill(pid, 0) != 0);
  // What it held of its organization's is free again.
  BOOST_TEST((*account)->waiting_calls == 0);
}

BOOST_AUTO_TEST_CASE(a_tool_whose_broker_died_has_no_network) {
  quiet_server server;
  auto tool
    = python("import errno, socket, sys\n"
             "to = ('127.0.0.1', "
               + server.port()
               + ")\n"
                 "s = socket.create_connection(to)\n"
                 "s.send(b'x'), s.recv(1)\n"
                 "try: socket.create_connection(to)\n"
                 "except OSError as e: print(errno.errorcode[e.errno])\n",
             list({"127.0.0.1"}));
  auto peer = server.accept();
  char word = 0; // connected, and told so
  BOOST_REQUIRE(::read(peer.get(), &word, 1) == 1);
  ::kill(tool.here([&] { return tool.its_host().pid(); }), SIGKILL);
  BOOST_TEST(comes_true(
    [&] { return !tool.here([&] { return tool.its_broker().is_well(); }); }));
  peer.reset();
  const auto e = tool.finish();
  BOOST_TEST(e.output == "ENOSYS\n");
  BOOST_TEST(e.report.lost);
}

BOOST_AUTO_TEST_CASE(a_broker_holds_no_right_but_to_look_into_its_tool) {
  quiet_server server;
  auto tool = python("import socket\n"
                     "socket.create_connection(('127.0.0.1', "
                       + server.port() + ")).recv(1)\n",
                     list({"127.0.0.1"}));
  const auto peer = server.accept();
  const auto pid = tool.here([&] { return tool.its_host().pid(); });
  std::ifstream status{"/proc/" + text(pid) + "/status"};
  std::string capabilities, privileges, filter;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("CapPrm:") || line.starts_with("CapBnd:"))
      capabilities += line.substr(line.find_last_of('\t') + 1) + " ";
    if (line.starts_with("NoNewPrivs:"))
      privileges = line.substr(line.find_last_of('\t') + 1);
    if (line.starts_with("Seccomp:"))
      filter = line.substr(line.find_last_of('\t') + 1);
  }
  if (::geteuid() == 0)
    BOOST_TEST(capabilities == "0000000000080002 0000000000000000 ");
  else
    BOOST_TEST(capabilities.starts_with("0000000000000000 "));
  BOOST_TEST(privileges == "1");
  BOOST_TEST(filter == "2");
  // Nothing of the process that it was forked from.
  for (auto& fd :
       std::filesystem::directory_iterator{"/proc/" + text(pid) + "/fd"}) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(fd, gone).string();
    BOOST_TEST((target == "/dev/null" || target.starts_with("anon_inode:")
                || target.starts_with("socket:")
                || target.starts_with("/memfd:troupe-")),
               target);
  }
}

BOOST_AUTO_TEST_SUITE_END()
