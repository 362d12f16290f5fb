#include "brokered_tool.hpp"
#include "runtime/local/egress/broker.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::network;
using namespace troupe::network::test;

// What people write, behind a broker.

BOOST_AUTO_TEST_SUITE(brokered_programs)

BOOST_AUTO_TEST_CASE(lets_urllib_reach_a_listed_address) {
  http_server web;
  auto target = "127.0.0.1:" + text(web.port());
  auto e = run_python("import urllib.request as u\n"
                      "print(u.urlopen('http://"
                        + target + "/', timeout=10).read())",
                      list({target}));
  BOOST_TEST(e.output == "b'hello'\n");
  BOOST_TEST(e.status == 0);
  BOOST_TEST(web.contacts() == 1);
  BOOST_TEST(has(e.report, target, true));
}

BOOST_AUTO_TEST_CASE(judges_by_the_name_that_was_looked_up) {
  http_server web;
  nameserver names;
  auto port = text(web.port());
  auto fetch = [&](std::string host) {
    return "try: print(u.urlopen('http://" + host + ":" + port
      + "/', timeout=10).read())\n"
        "except Exception as e: print(type(e.reason).__name__)\n";
  };
  auto e
    = run_python("import urllib.request as u\n" + fetch("127-0-0-8.good.test")
                   + fetch("127-0-0-8.bad.test")  // not looked up
                   + fetch("127-0-0-1.good.test") // rebinding
                   + fetch("127.0.0.9"),          // nobody's name
                 list({"*.good.test"}), pretend_public(names));
  BOOST_TEST(e.output
             == "b'hello'\ngaierror\nPermissionError\nPermissionError\n");
  BOOST_TEST(web.contacts() == 1);
  BOOST_TEST(has(e.report, "127-0-0-8.good.test:" + port, true));
  BOOST_TEST(has(e.report, "127-0-0-8.bad.test", false));
  BOOST_TEST(has(e.report, "127-0-0-1.good.test:" + port, false));
  BOOST_TEST(has(e.report, "127.0.0.9:" + port, false));
}

BOOST_AUTO_TEST_CASE(serves_asyncio_and_threads) {
  http_server web;
  nameserver names;
  auto port = text(web.port());
  auto e = run_python(
    "import asyncio, urllib.request as u\n"
    "from concurrent.futures import ThreadPoolExecutor\n"
    "async def one():\n"
    "    r, w = await asyncio.open_connection('127-0-0-8.x.test', "
      + port
      + ")\n"
        "    w.write(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
        "    body = await r.read()\n"
        "    w.close()\n"
        "    return body[-5:]\n"
        "async def main():\n"
        "    print(set(await asyncio.gather(*[one() for _ in range(8)])))\n"
        "asyncio.run(main())\n"
        "get = lambda i: u.urlopen('http://127.0.0.9:"
      + port
      + "').read()\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    print(set(pool.map(get, range(16))))\n",
    network_policy{}, pretend_public(names));
  BOOST_TEST(e.output == "{b'hello'}\n{b'hello'}\n");
  BOOST_TEST(web.contacts() == 24);
}

BOOST_AUTO_TEST_CASE(lets_no_tool_be_a_server) {
  http_server web;
  nameserver names;
  brokered_tool tool{{"python3", "-c",
                      "import socket, urllib.request as u\n"
                      "print(u.urlopen('http://127-0-0-8.x.test:"
                        + text(web.port())
                        + "/').read())\n"
                          "try: socket.socket().listen()\n"
                          "except PermissionError: print('no server')\n"},
                     network_policy{},
                     pretend_public(names)};
  BOOST_TEST(tool.finish().output == "b'hello'\nno server\n");
}

BOOST_AUTO_TEST_CASE(serves_node) {
  http_server web;
  nameserver names;
  auto port = text(web.port());
  brokered_tool tool{
    {"node", "-e",
     "(async () => {\n"
     "  const get = async (host) => {\n"
     "    try { const r = await fetch(`http://${host}:"
       + port
       + "/`);\n"
         "      console.log(await r.text()); }\n"
         "    catch (e) { console.log((e.cause ?? e).code); }\n"
         "  };\n"
         "  await get('127-0-0-8.good.test');\n"
         "  await get('127.0.0.1');\n"
         "  await get('none.good.test');\n"
         "  const dns = require('dns').promises;\n"
         "  console.log(await dns.resolve4('127-0-0-8.good.test'));\n"
         "})();"},
    list({"*.good.test"}),
    pretend_public(names)};
  auto e = tool.finish();
  BOOST_TEST(e.output == "hello\nEACCES\nENOTFOUND\n[ '127.0.0.8' ]\n");
  BOOST_TEST(web.contacts() == 1);
}

BOOST_AUTO_TEST_CASE(speaks_version_six) {
  http_server web{AF_INET6};
  auto target = "[::1]:" + text(web.port());
  auto e = run_python("import urllib.request as u\n"
                      "print(u.urlopen('http://"
                        + target + "/', timeout=10).read())",
                      list({target}));
  BOOST_TEST(e.output == "b'hello'\n");
  BOOST_TEST(has(e.report, target, true));
}

BOOST_AUTO_TEST_SUITE_END()
