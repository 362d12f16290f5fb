#include "brokered_tool.hpp"
#include "runtime/local/egress/broker.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(network_broker)

BOOST_AUTO_TEST_CASE(keeps_the_public_policy_off_everything_private) {
  http_server web, web6{AF_INET6};
  auto e = run_python(
    "import socket\n"
    "for family, host, port in [\n"
    "    (socket.AF_INET, '127.0.0.1', "
      + text(web.port())
      + "),\n"
        "    (socket.AF_INET, '10.0.0.1', 80),\n"
        "    (socket.AF_INET, '169.254.169.254', 80),\n"
        "    (socket.AF_INET, '0.0.0.0', "
      + text(web.port())
      + "),\n"
        "    (socket.AF_INET6, '::1', "
      + text(web6.port())
      + "),\n"
        "    (socket.AF_INET6, '::ffff:127.0.0.1', "
      + text(web.port())
      + "),\n"
        "    (socket.AF_INET6, '::', "
      + text(web6.port())
      + ")]:\n"
        "    s = socket.socket(family, socket.SOCK_STREAM)\n"
        "    try: s.connect((host, port)); print('connected', host)\n"
        "    except PermissionError as e: print(e.errno)\n"
        "    u = socket.socket(family, socket.SOCK_DGRAM)\n"
        "    try: u.sendto(b'x', (host, port)); print('sent', host)\n"
        "    except PermissionError as e: print(e.errno)\n",
    network_policy{});
  std::string expected;
  for (int i = 0; i < 14; ++i)
    expected += "13\n";
  BOOST_TEST(e.output == expected);
  BOOST_TEST(web.contacts() == 0);
  BOOST_TEST(web6.contacts() == 0);
  BOOST_TEST(has(e.report, "169.254.169.254:80", false));
  BOOST_TEST(!has(e.report, "", true));
}

BOOST_AUTO_TEST_CASE(sends_datagrams_to_allowed_addresses) {
  udp_echo echo;
  auto port = text(echo.port());
  auto e
    = run_python("import socket\n"
                 "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                 "s.settimeout(10)\n"
                 "to = ('127.0.0.1', "
                   + port
                   + ")\n"
                     "print(s.sendto(b'one', to), s.recvfrom(9))\n"
                     "print(s.sendmsg([b'tw', b'o'], [], 0, to), s.recv(9))\n"
                     "s.connect(to)\n"
                     "print(s.send(b'three'), s.recv(9))\n"
                     "print(s.sendmsg([b'four']), s.recv(9))\n"
                     "try: s.sendto(b'x', ('127.0.0.1', 9))\n"
                     "except OSError as e: print(e.errno)\n"
                     "try: s.sendto(b'x' * 65536, to)\n"
                     "except OSError as e: print(e.errno)\n",
                 list({"127.0.0.1:" + port}));
  BOOST_TEST(e.output
             == "3 (b'one', ('127.0.0.1', " + port
               + "))\n3 b'two'\n5 b'three'\n4 b'four'\n13\n90\n");
  BOOST_TEST(echo.contacts() == 4);
}

BOOST_AUTO_TEST_CASE(sends_everything_once_whatever_signals_come) {
  // The tool sends through the broker, to its own end of a connection that
  // this test holds the other end of, with an alarm every half millisecond.
  unique_fd listening{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in own{};
  own.sin_family = AF_INET;
  socklen_t size = sizeof own;
  ::bind(listening.get(), reinterpret_cast<sockaddr*>(&own), size);
  ::listen(listening.get(), 1);
  ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&own), &size);
  brokered_tool tool{
    {"python3", "-c",
     "import socket, signal\n"
     "signal.signal(signal.SIGALRM, lambda *a: None)\n"
     "s = socket.create_connection(('127.0.0.1', "
       + text(ntohs(own.sin_port))
       + "))\n"
         "signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\n"
         "n = sum(s.sendmsg([b'%06d' % i]) for i in range(3000))\n"
         "signal.setitimer(signal.ITIMER_REAL, 0)\n"
         "print(n)\n"},
    list({"127.0.0.1"})};
  unique_fd peer{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  std::string got;
  char bytes[4096];
  for (ssize_t n; (n = ::read(peer.get(), bytes, sizeof bytes)) > 0;)
    got.append(bytes, static_cast<std::size_t>(n));
  std::string wanted;
  for (int i = 0; i < 3000; ++i)
    wanted += std::string(6 - text(i).size(), '0') + text(i);
  BOOST_TEST((got == wanted));
  BOOST_TEST(tool.finish().output == "18000\n");
}

BOOST_AUTO_TEST_CASE(keeps_what_a_socket_was_set_to) {
  http_server web;
  auto port = text(web.port());
  auto e = run_python(
    "import socket, select, os\n"
    "to = ('127.0.0.1', "
      + port
      + ")\n"
        "s = socket.socket()\n"
        "s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)\n"
        "e = select.epoll(); e.register(s, select.EPOLLOUT)\n"
        "s.connect(to)\n"
        "print(os.get_blocking(s.fileno()),\n"
        "      s.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),\n"
        "      e.poll(10)[0][0] == s.fileno())\n"
        "n = socket.socket(); n.setblocking(False)\n"
        "code = n.connect_ex(to)\n"
        "select.select([], [n], [], 10)\n"
        "print(code in (0, 115), os.get_blocking(n.fileno()),\n"
        "      n.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))\n"
        "print(os.get_inheritable(s.fileno()))\n"
        "print(socket.socket().connect_ex(('127.0.0.1', 1)))\n",
    list({"127.0.0.1"}));
  BOOST_TEST(e.output == "True 1 True\nTrue False 0\nFalse\n111\n");
}

BOOST_AUTO_TEST_CASE(waits_for_a_slow_server_without_holding_up_others) {
  // Nobody accepts, and the queue is full: the next connect stays in flight.
  unique_fd full{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  ::bind(full.get(), reinterpret_cast<sockaddr*>(&any), size);
  ::listen(full.get(), 0);
  ::getsockname(full.get(), reinterpret_cast<sockaddr*>(&any), &size);
  http_server web;
  auto e = run_python(
    "import socket, threading\n"
    "def hang():\n"
    "    for _ in range(4): socket.create_connection(('127.0.0.1', "
      + text(ntohs(any.sin_port))
      + "))\n"
        "threading.Thread(target=hang, daemon=True).start()\n"
        "for _ in range(20):\n"
        "    socket.create_connection(('127.0.0.1', "
      + text(web.port())
      + "))\n"
        "print('done', flush=True)\n"
        "import os; os._exit(0)\n",
    list({"127.0.0.1"}));
  BOOST_TEST(e.output == "done\n");
}

BOOST_AUTO_TEST_CASE(offers_no_servers_and_no_other_sockets) {
  auto e = run_python(
    "import socket\n"
    "def no(f):\n"
    "    try: f(); print('yes')\n"
    "    except OSError as e: print(e.errno, end=' ')\n"
    "no(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))\n"
    "no(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1))\n"
    "no(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))\n"
    "s = socket.socket()\n"
    "no(lambda: s.bind(('127.0.0.1', 0)))\n"
    "no(lambda: s.bind(('0.0.0.0', 8080)))\n"
    "s.bind(('0.0.0.0', 0))\n"
    "no(lambda: s.listen())\n"
    "no(lambda: s.sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', 1)))\n",
    list({"127.0.0.1"}));
  BOOST_TEST(e.output == "13 13 13 13 13 13 95 ");
  BOOST_TEST(has(e.report, "bind 0.0.0.0:8080", false));
  BOOST_TEST(has(e.report, "listen", false));
}

BOOST_AUTO_TEST_CASE(leaves_local_sockets_alone) {
  auto e = run_python(
    "import socket, os, array\n"
    "from multiprocessing import Pipe\n"
    "server = socket.socket(socket.AF_UNIX); server.bind('\\0troupe-test')\n"
    "server.listen()\n"
    "client = socket.socket(socket.AF_UNIX); client.connect('\\0troupe-test')\n"
    "peer, _ = server.accept()\n"
    "r, w = os.pipe()\n"
    "client.sendmsg([b'fd'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,\n"
    "                          array.array('i', [w]))])\n"
    "data, anc, _, _ = peer.recvmsg(9, 64)\n"
    "os.write(array.array('i', anc[0][2])[0], b'through')\n"
    "print(data, os.read(r, 9))\n",
    network_policy{network_mode::off, {}});
  BOOST_TEST(e.output == "b'fd' b'through'\n");
  BOOST_TEST(e.report.events.empty());
}

BOOST_AUTO_TEST_CASE(passes_nothing_on_that_could_be_swapped) {
  auto code = "import socket, threading\n"
              "def talk():\n"
              "    s = socket.socket(socket.AF_UNIX)\n"
              "    try: s.bind('\\0troupe-swap'); print('bound')\n"
              "    except PermissionError: print('refused')\n"
              "    c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
              "    for ask in [lambda: c.connect('\\0troupe-swap'),\n"
              "                lambda: c.sendto(b'x', '\\0troupe-swap')]:\n"
              "        try: ask()\n"
              "        except OSError as e: print(e.errno)\n"
              "talk()\n"
              "t = threading.Thread(target=talk); t.start(); t.join()\n";
  auto e = run_python(code, network_policy{});
  // Nobody listens, says the kernel; then refused by us.
  BOOST_TEST(e.output == "bound\n111\n111\nrefused\n13\n13\n");
}

BOOST_AUTO_TEST_CASE(carries_out_what_threads_do_with_local_sockets) {
  auto e = run_python("import os, socket, threading\n"
                      "server = socket.socket(socket.AF_UNIX)\n"
                      "server.bind('\\0troupe-threads')\n"
                      "a, b = socket.socketpair()\n"
                      "def talk():\n"
                      "    server.listen(1)\n"
                      "    print(a.sendmsg([b'one', b' two']), b.recv(9))\n"
                      "    b.setblocking(False)\n"
                      "    try:\n"
                      "        while True: b.sendmsg([bytes(65536)])\n"
                      "    except BlockingIOError: print('full')\n"
                      "    a.close()\n"
                      "    try: b.sendmsg([b'x'])\n"
                      "    except BrokenPipeError: print('gone')\n"
                      "t = threading.Thread(target=talk); t.start(); t.join()\n"
                      "client = socket.socket(socket.AF_UNIX)\n"
                      // One that was joined is not gone at once.
                      "to = '\\0troupe-threads'\n"
                      "while client.connect_ex(to) == 13: pass\n"
                      "print('heard', client.getpeername() == to.encode())\n",
                      network_policy{});
  BOOST_TEST(e.output == "7 b'one two'\nfull\ngone\nheard True\n");
}

BOOST_AUTO_TEST_CASE(ends_with_the_tool) {
  brokered_tool tool{{"true"}, network_policy{}};
  BOOST_REQUIRE(tool.started());
  BOOST_TEST(tool.finish().status == 0);
  // Everything below may still come: it must find nothing and harm nothing.
  tool.here([&] {
    auto& ended = tool.its_broker();
    ended.reset(network_policy{});
    ended.close();
    ended.close();
    BOOST_TEST(ended.end_run().events.empty());
  });
}

BOOST_AUTO_TEST_CASE(answers_bad_arguments_as_the_kernel_does) {
  auto e = run_python(
    "import ctypes, socket\n"
    "c = ctypes.CDLL(None, use_errno=True)\n"
    "def call(f, *a): print(f(*a), ctypes.get_errno(), end=' ')\n"
    "s = socket.socket(); u = socket.socket(socket.AF_INET, 2)\n"
    "bad = ctypes.c_void_p(16)\n"
    "call(c.connect, s.fileno(), bad, 16)\n"
    "call(c.connect, s.fileno(), b'x' * 16, 1)\n"
    "call(c.connect, s.fileno(), b'x' * 16, 4096)\n"
    "call(c.connect, 999, b'x' * 16, 16)\n"
    "call(c.connect, s.fileno(), b'\\xff\\xff' + b'x' * 14, 16)\n"
    "call(c.sendto, u.fileno(), bad, 5, 0, b'\\2\\0\\0\\1\\x7f\\0\\0\\1' + "
    "bytes(8), 16)\n"
    "call(c.sendmsg, u.fileno(), bad, 0)\n"
    "call(c.sendmmsg, u.fileno(), bad, 5, 0)\n",
    list({"127.0.0.1"}));
  BOOST_TEST(e.output == "-1 14 -1 22 -1 22 -1 9 -1 97 -1 14 -1 14 -1 14 ");
}

BOOST_AUTO_TEST_CASE(denies_everything_when_the_network_is_off) {
  http_server web;
  nameserver names;
  auto e
    = run_python("import socket\n"
                 "print(socket.socket().connect_ex(('127.0.0.8', "
                   + text(web.port())
                   + ")))\n"
                     "try: socket.getaddrinfo('127-0-0-8.x.test', 80)\n"
                     "except socket.gaierror as e: print('no name')\n",
                 network_policy{network_mode::off, {}}, pretend_public(names));
  BOOST_TEST(e.output == "13\nno name\n");
  BOOST_TEST(names.contacts() == 0);
  BOOST_TEST(e.report.events.size() == 2u);
}

BOOST_AUTO_TEST_CASE(forgets_one_run_before_the_next) {
  http_server web;
  auto target = "127.0.0.1:" + text(web.port());
  brokered_tool tool{{"python3", "-c",
                      "import socket, sys\n"
                      "to = ('127.0.0.1', "
                        + text(web.port())
                        + ")\n"
                          "print(socket.socket().connect_ex(to), flush=True)\n"
                          "while socket.socket().connect_ex(to) != 0: pass\n"
                          "print('opened')\n"},
                     network_policy{network_mode::off, {}}};
  BOOST_REQUIRE(tool.started());
  tool.here([&] { tool.its_broker().reset(list({target})); });
  auto e = tool.finish();
  BOOST_TEST(e.output.ends_with("opened\n"));
  BOOST_TEST(has(e.report, target, true));
}

BOOST_AUTO_TEST_SUITE_END()
