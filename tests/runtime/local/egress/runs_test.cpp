// The network as runs of the backend find it: cold and warm, Python, Node and
// shell. What the broker does call by call is tested beside this.
#include "tests/runtime/local/egress/brokered_tool.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(network_of_runs)

namespace {

/// Servers of the host, and backends that take 127.0.0.8 and above for the
/// internet.
struct world {
  http_server web;
  http_server web6{AF_INET6};
  udp_echo echo;
  nameserver names;
  local_host warm{options(true)};
  local_host cold{options(false)};

  local_options options(bool with_zygotes) const {
    local_options o;
    o.zygote.enabled = with_zygotes;
    o.network = pretend_public(names);
    return o;
  }
  std::string port() const { return text(web.port()); }
};

prepared_run net_tool(language lang, std::string source,
                      network_policy policy) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = lang;
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = std::move(source);
  run.network = std::move(policy);
  run.limits.wall = std::chrono::seconds{30};
  return run;
}

world& shared_fixture() {
  static auto* made = [] {
    auto* w = new world;
    std::atexit([] { delete &shared_fixture(); });
    BOOST_REQUIRE(eventually([&] {
      const auto now = w->warm.backend().slots();
      return now.zygotes > 0 && now.trouble.empty();
    }));
    w->warm.run(net_tool(language::javascript, "function f() {}", {}));
    BOOST_REQUIRE(!lacks_warm_node().empty() || eventually([&] {
      return w->warm.backend().slots(zygote::family::node).zygotes > 0;
    }));
    return w;
  }();
  return *made;
}

struct way {
  const char* name;
  local_host& host;
};

/// Both ways of a run.
std::array<way, 2> ways() {
  return {way{"warm", shared_fixture().warm},
          way{"cold", shared_fixture().cold}};
}

bool decided(const run_result& r, std::string_view target, bool allowed) {
  return std::ranges::any_of(r.network, [&](const auto& e) {
    return e.allowed == allowed && e.target.find(target) != std::string::npos;
  });
}

/// Runs it both ways, which must agree.
void python_says(const std::string& source, const network_policy& policy,
                 const std::string& value) {
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::python, source, policy));
      BOOST_TEST(r.value_json == value, r.value_json << r.stderr_text);
    }
}

void node_says(const std::string& source, const network_policy& policy,
               const std::string& value) {
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::javascript, source, policy));
      BOOST_TEST(r.value_json == value, r.value_json << r.stderr_text);
    }
}

const network_policy nothing{network_mode::off, {}};

} // namespace

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

BOOST_AUTO_TEST_CASE(names_a_refusal_as_the_reason_of_a_failure) {
  TROUPE_NEEDS("network_broker");
  const auto source = "import socket\n"
                      "def f():\n"
                      "  socket.create_connection(('169.254.169.254', 80))\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::python, source, network_policy{}));
      BOOST_TEST(to_string(r.reason) == "policy_denied");
      BOOST_TEST(r.failure.name == "PermissionError");
      BOOST_REQUIRE(r.notes.size() == 1u);
      BOOST_TEST(r.notes[0].find("169.254.169.254:80") != std::string::npos,
                 r.notes[0]);
      BOOST_TEST(decided(r, "169.254.169.254:80", false));
    }
}

BOOST_AUTO_TEST_CASE(lets_no_refusal_hide_how_a_run_ended) {
  TROUPE_NEEDS("network_broker");
  const std::string refused
    = "import socket, time\n"
      "def f():\n"
      "  try: socket.create_connection(('169.254.169.254', 80))\n"
      "  except OSError: pass\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(
        language::python, refused + "  raise ValueError('of my own')\n", {}));
      BOOST_TEST(r.detail == "of my own");
      BOOST_TEST(decided(r, "169.254.169.254:80", false));
      auto late
        = net_tool(language::python, refused + "  time.sleep(1000)\n", {});
      late.limits.wall = std::chrono::seconds{1};
      r = host.run(late);
      BOOST_TEST(to_string(r.reason) == "wall_timeout");
      BOOST_TEST(r.detail == "it ran longer than its limit of 1000 ms");
      BOOST_TEST(decided(r, "169.254.169.254:80", false));
      // An exit code says little: here the refusal stands beside it.
      r = host.run(
        net_tool(language::python, refused + "  import os; os._exit(7)\n", {}));
      BOOST_TEST(r.detail.find("exit code 7") != std::string::npos, r.detail);
      BOOST_TEST(r.detail.find("169.254.169.254:80") != std::string::npos,
                 r.detail);
    }
}

BOOST_AUTO_TEST_CASE(blames_the_policy_for_nothing_that_no_policy_allows) {
  TROUPE_NEEDS("network_broker");
  const auto source = "import socket\n"
                      "def f():\n"
                      "  s = socket.socket()\n"
                      "  s.bind(('127.0.0.1', 80))\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::python, source, network_policy{}));
      BOOST_TEST(to_string(r.reason) == "exited");
      BOOST_TEST(r.failure.name == "PermissionError");
      BOOST_TEST(decided(r, "bind 127.0.0.1:80", false));
    }
}

BOOST_AUTO_TEST_CASE(leaves_a_success_a_success_whatever_was_refused) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  const auto source = "import socket\n"
                      "def f():\n"
                      "  s = socket.socket()\n"
                      "  return [socket.socket().connect_ex(('127.0.0.1', "
    + w.port() + ")), s.connect_ex(('127.0.0.8', " + w.port() + "))]\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto r = host.run(net_tool(language::python, source, network_policy{}));
      BOOST_TEST((r.status == run_status::success));
      BOOST_TEST(r.value_json == "[13,0]");
      BOOST_TEST(decided(r, "127.0.0.1:" + w.port(), false));
      BOOST_TEST(decided(r, "127.0.0.8:" + w.port(), true));
      BOOST_TEST(r.network.size() == 2u);
    }
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

BOOST_AUTO_TEST_CASE(ends_with_calls_in_flight) {
  TROUPE_NEEDS("network_broker");
  // Nobody accepts and the queue is full: a connect that never returns.
  unique_fd full{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  ::bind(full.get(), reinterpret_cast<sockaddr*>(&any), size);
  ::listen(full.get(), 0);
  ::getsockname(full.get(), reinterpret_cast<sockaddr*>(&any), &size);
  const auto source = "import socket\n"
                      "def f():\n"
                      "  for _ in range(4):\n"
                      "    socket.create_connection(('127.0.0.8', "
    + text(ntohs(any.sin_port)) + "))\n";
  for (auto& [name, host] : ways())
    BOOST_TEST_CONTEXT(name) {
      auto run = net_tool(language::python, source, network_policy{});
      run.limits.wall = std::chrono::milliseconds{500};
      BOOST_TEST(to_string(host.run(run).reason) == "wall_timeout");
      run.source = "def f():\n  return 1\n";
      run.limits.wall = std::chrono::seconds{20};
      BOOST_TEST(host.run(run).value_json == "1");
    }
}

namespace {

/// Of that name, below that process.
std::vector<pid_t> children_named(pid_t parent, const std::string& name) {
  std::vector<pid_t> found;
  const auto task = "/proc/" + text(parent) + "/task/" + text(parent);
  std::ifstream list{task + "/children"};
  for (pid_t child; list >> child;) {
    std::string its_name;
    std::getline(std::ifstream{"/proc/" + text(child) + "/comm"}, its_name);
    if (its_name == name)
      found.push_back(child);
  }
  return found;
}

} // namespace

BOOST_AUTO_TEST_CASE(replaces_a_slot_whose_broker_died) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  const auto policy = network_policy{network_mode::listed, {"127.0.0.8/30"}};
  const auto connects
    = net_tool(language::python,
               "import socket\ndef f():\n"
               "  return socket.socket().connect_ex(('127.0.0.8', "
                 + w.port() + "))\n",
               policy);
  BOOST_TEST(w.warm.run(connects).value_json == "0");
  const auto warden = w.warm.backend().warden_pid();
  const auto brokers = children_named(warden, "troupe-broker");
  BOOST_TEST(!brokers.empty());
  for (auto pid : brokers)
    ::kill(pid, SIGKILL);
  BOOST_TEST(eventually(
    [&] { return children_named(warden, "troupe-broker").empty(); }));
  const auto after = w.warm.run(connects);
  BOOST_TEST(after.value_json == "0");
  BOOST_TEST(after.notes.empty());
}

BOOST_AUTO_TEST_CASE(starts_no_broker_for_a_tool_that_needs_none) {
  TROUPE_NEEDS("network_broker");
  auto& w = shared_fixture();
  const auto policy = network_policy{network_mode::listed, {"127.0.0.9/32"}};
  const auto before
    = children_named(w.warm.backend().warden_pid(), "troupe-broker").size();
  const auto quiet
    = net_tool(language::python, "def f():\n  return 1\n", policy);
  BOOST_TEST(w.warm.run(quiet).value_json == "1");
  BOOST_TEST(
    children_named(w.warm.backend().warden_pid(), "troupe-broker").size()
    <= before);
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
