// The network as runs of the backend find it: cold and warm, Python, Node and
// shell. What the broker does call by call is tested beside this.
#include "tests/runtime/local/egress/networked_runs.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(network_of_runs)

BOOST_AUTO_TEST_CASE(takes_only_so_many_sockets_of_the_host) {
  TROUPE_NEEDS("network_broker");
  // Whether they are closed, nobody tells us: a few more come while it runs.
  const auto source
    = "import errno, socket\n"
      "def f():\n"
      "  made, met = 0, set()\n"
      "  while made < 5000 and len(met) < 1:\n"
      "    try:\n"
      "      socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()\n"
      "      made += 1\n"
      "    except OSError as no:\n"
      "      met.add(errno.errorcode[no.errno])\n"
      "  for _ in range(20):\n"
      "    try: socket.socket()\n"
      "    except OSError: pass\n"
      "  return [made >= 1024, *met]\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(
        net_tool(language::python, source, {network_mode::open, {}}));
      BOOST_TEST(r.value_json == R"([true,"EMFILE"])", r.stderr_text);
      BOOST_TEST(r.network.size() == 1u);
      BOOST_TEST(decided(r, "socket", false));
    }
}

BOOST_AUTO_TEST_CASE(reaches_a_listed_address_with_every_client_of_python) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  auto place = "127.0.0.1:" + w.port();
  python_says("import asyncio, http.client, select, socket, urllib.request\n"
              "async def fetch(port):\n"
              "  r, w = await asyncio.open_connection('127.0.0.1', port)\n"
              "  w.write(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
              "  body = await r.read()\n"
              "  w.close()\n"
              "  return body[-5:].decode()\n"
              "def f():\n  port = "
                + w.port()
                + "\n"
                  "  seen = [urllib.request.urlopen(f'http://127.0.0.1:{port}')"
                  ".read().decode()]\n"
                  "  c = http.client.HTTPConnection('127.0.0.1', port)\n"
                  "  c.request('GET', '/')\n"
                  "  seen.append(c.getresponse().read().decode())\n"
                  "  seen.append(asyncio.run(fetch(port)))\n"
                  "  n = socket.socket(); n.setblocking(False)\n"
                  "  code = n.connect_ex(('127.0.0.1', port))\n"
                  "  select.select([], [n], [], 10)\n"
                  "  seen.append(code in (0, 115) and n.getsockopt("
                  "socket.SOL_SOCKET, socket.SO_ERROR) == 0)\n"
                  "  return seen\n",
              list({place}), R"(["hello","hello","hello",true])");
}

BOOST_AUTO_TEST_CASE(speaks_udp_and_version_six) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  auto udp = text(w.echo.port());
  auto six = text(w.web6.port());
  python_says("import socket, urllib.request\n"
              "def f():\n"
              "  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
              "  s.settimeout(10)\n"
              "  s.sendto(b'there', ('127.0.0.1', "
                + udp
                + "))\n"
                  "  back = s.recv(9).decode()\n"
                  "  return [back, urllib.request.urlopen('http://[::1]:"
                + six + "').read().decode()]\n",
              list({"127.0.0.1:" + udp, "[::1]:" + six}),
              R"(["there","hello"])");
}

BOOST_AUTO_TEST_CASE(judges_by_the_name_that_was_looked_up) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  const auto source = "import socket, urllib.request\n"
                      "def get(host):\n"
                      "  try: return urllib.request.urlopen(f'http://{host}:"
    + w.port()
    + "').read().decode()\n"
      "  except OSError as e: return type(e.reason).__name__\n"
      "def f():\n"
      "  return [get('127-0-0-8.good.test'), get('127-0-0-8.bad.test'),\n"
      "          get('127-0-0-1.good.test'), get('127.0.0.9'),\n"
      "          socket.getaddrinfo('127-0-0-8.good.test', 80)[0][4][0]]\n";
  python_says(
    source, list({"*.good.test"}),
    R"(["hello","gaierror","PermissionError","PermissionError","127.0.0.8"])");
}

BOOST_AUTO_TEST_CASE(serves_fetch_and_net_of_node) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  node_says("const net = require('net');\n"
            "async function f() {\n"
            "  const get = async (host) => {\n"
            "    try { return await (await fetch(`http://${host}:"
              + w.port()
              + "`)).text(); }\n"
                "    catch (e) { return (e.cause ?? e).code; }\n"
                "  };\n"
                "  const plain = await new Promise((done) => {\n"
                "    const s = net.connect("
              + w.port()
              + ", '127.0.0.8', () => s.write('GET / HTTP/1.0\\r\\n\\r\\n'));\n"
                "    let all = '';\n"
                "    s.on('data', (d) => { all += d; });\n"
                "    s.on('error', (e) => done(e.code));\n"
                "    s.on('close', () => done(all.slice(-5)));\n"
                "  });\n"
                "  return [await get('127-0-0-8.x.test'), await get('127.0.0.1'"
                "), await get('none.x.test'), plain];\n"
                "}\n",
            network_policy{}, R"(["hello","EACCES","ENOTFOUND","hello"])");
}

BOOST_AUTO_TEST_CASE(serves_programs_of_a_shell) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  auto run = shell("python3 -c 'import urllib.request as u; "
                   "print(u.urlopen(\"http://127.0.0.8:"
                   + w.port() + "\").read())'");
  run.network = network_policy{};
  BOOST_TEST(w.cold.run(run).stdout_text == "b'hello'\n");
}

BOOST_AUTO_TEST_CASE(asks_nobody_when_the_network_is_off) {
  const auto source = "import socket, urllib.request\n"
                      "def attempt(g):\n"
                      "  try: g(); return 'done'\n"
                      "  except OSError as e: return e.errno\n"
                      "def f():\n"
                      "  return [attempt(lambda: socket.socket()),\n"
                      "    attempt(lambda: socket.socket(10, 2)),\n"
                      "    attempt(lambda: socket.socketpair()) ]\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::python, source, nothing));
      BOOST_TEST(r.value_json == R"([13,13,"done"])");
      BOOST_TEST(r.network.empty());
      BOOST_TEST(r.notes.empty());
    }
}

BOOST_AUTO_TEST_CASE(knows_nothing_of_the_run_before) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  auto policy = list({"*.once.test"});
  auto first = w.warm.run(net_tool(language::python,
                                   "import socket\ndef f():\n"
                                   "  return socket.create_connection(("
                                   "'127-0-0-9.once.test', "
                                     + w.port() + ")) is not None\n",
                                   policy));
  BOOST_TEST(first.value_json == "true", first.stderr_text);
  // The same slot, by its key. Its address was learnt by the name; no more.
  auto second = w.warm.run(net_tool(language::python,
                                    "import socket\ndef f():\n"
                                    "  return socket.socket().connect_ex(("
                                    "'127.0.0.9', "
                                      + w.port() + "))\n",
                                    policy));
  BOOST_TEST(second.value_json == "13");
  BOOST_TEST(second.network.size() == 1u);
  auto third
    = w.warm.run(net_tool(language::python, "def f():\n  return 1\n", policy));
  BOOST_TEST(third.network.empty());
}

BOOST_AUTO_TEST_CASE(keeps_the_listener_from_every_tool) {
  TROUPE_NEEDS("network_broker");
  // Whoever holds it answers the filter's questions.
  python_says("import os\n"
              "def f():\n"
              "  kinds = [os.readlink(f'/proc/self/fd/{n}') for n in "
              "sorted(os.listdir('/proc/self/fd'), key=int) if int(n) > 3 and "
              "os.path.lexists(f'/proc/self/fd/{n}')]\n"
              "  return [k for k in kinds if '/fd' not in k]\n",
              network_policy{}, "[]");
}

BOOST_AUTO_TEST_CASE(tells_nothing_of_the_network_it_was_made_in) {
  TROUPE_NEEDS("network_broker");
  // A socket of the broker is of the host's network.
  python_says(
    "import errno, fcntl, socket\n"
    "def attempt(g):\n"
    "  try: g(); return 'OK'\n"
    "  except OSError as e: return errno.errorcode[e.errno]\n"
    "def f():\n"
    "  s = socket.socket()\n"
    "  u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "  return [attempt(lambda: fcntl.ioctl(s, 0x8912, bytes(64))),\n"
    "    attempt(lambda: socket.if_nameindex()),\n"
    "    attempt(lambda: s.setsockopt(1, 25, b'lo')),\n"
    "    attempt(lambda: u.setsockopt(0, 35, bytes(8))),\n"
    "    attempt(lambda: s.setsockopt(0, 4, bytes(4))),\n"
    "    attempt(lambda: s.setsockopt(1, 76, 1)),\n"      // SO_PASSPIDFD
    "    attempt(lambda: s.setsockopt(6, 31, b'tls')),\n" // TCP_ULP
    "    attempt(lambda: u.setsockopt(17, 100, 2)),\n"    // UDP_ENCAP
    "    attempt(lambda: s.setsockopt(6, 1, 1))]\n",
    network_policy{},
    R"(["EPERM","EAFNOSUPPORT","EPERM","EPERM","EPERM","EPERM","EPERM",)"
    R"("EPERM","OK"])");
}

BOOST_AUTO_TEST_CASE(says_that_there_is_no_broker) {
  local_options options;
  options.pretend_absent = {"network_broker"};
  options.zygote.enabled = false;
  local_host host{options};
  auto r = host.run(net_tool(language::python,
                             "import socket\ndef f():\n"
                             "  try: socket.socket()\n"
                             "  except OSError as e: return e.errno\n",
                             network_policy{}));
  BOOST_TEST(r.value_json == "13");
  BOOST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(r.notes[0].find("no network broker") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(says_that_nothing_holds_an_unisolated_run) {
  auto run = shell("true");
  run.isolation = isolation_level::off;
  run.network = nothing;
  auto r = shared_fixture().cold.run(run);
  BOOST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(r.notes[0].find("isolation is off") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
