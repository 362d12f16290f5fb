#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(joined_libraries)

namespace {

std::unique_ptr<local_host> host_with(bool joined_libraries) {
  local_options options;
  options.zygote.joined_libraries = joined_libraries;
  auto host = std::make_unique<local_host>(options);
  BOOST_REQUIRE(
    eventually([&] { return host->backend().slots().zygotes == 1; }));
  return host;
}

int number(const run_result& r) {
  BOOST_REQUIRE_MESSAGE(r.status == run_status::success, r.failure.message);
  return std::stoi(r.value_json);
}

/// How many mappings a run is made of.
prepared_run counting() {
  return tool("def f():\n"
              "  return sum(1 for _ in open('/proc/self/maps'))\n");
}

/// Work for what nearly no run uses, and for callbacks into the interpreter.
prepared_run rare_work() {
  return tool(
    "import bz2, decimal, hashlib, json, lzma, ssl, xml.parsers.expat, zlib\n"
    "def f():\n"
    "  names = []\n"
    "  p = xml.parsers.expat.ParserCreate()\n"
    "  p.StartElementHandler = lambda name, _: names.append(name)\n"
    "  p.Parse('<a><b/></a>', True)\n"
    "  text = b'text' * 999\n"
    "  decimal.getcontext().prec = 30\n"
    "  ssl.create_default_context()\n"
    "  try: zlib.decompress(b'no')\n"
    "  except zlib.error as problem: names.append(type(problem).__name__)\n"
    "  return [names, str(decimal.Decimal(1) / 7), \n"
    "          len(lzma.decompress(lzma.compress(text))),\n"
    "          len(bz2.decompress(bz2.compress(text))),\n"
    "          hashlib.sha256(text).hexdigest()[:8],\n"
    "          hashlib.new('sha3_256', text).hexdigest()[:8]]\n");
}

} // namespace

BOOST_AUTO_TEST_CASE(make_runs_of_fewer_mappings_that_can_do_the_same) {
  const auto joined = host_with(true);
  const auto plain = host_with(false);
  BOOST_TEST(number(joined->run(counting())) + 15
             < number(plain->run(counting())));
  const auto wanted = plain->run(rare_work());
  BOOST_REQUIRE(wanted.status == run_status::success);
  for (int i = 0; i < 2; ++i)
    BOOST_TEST(joined->run(rare_work()).value_json == wanted.value_json);
}

BOOST_AUTO_TEST_CASE(are_the_runs_own_where_it_writes_to_them) {
  const auto host = host_with(true);
  // The last word of each, which it finds as it was, changes, and leaves.
  const auto vandal
    = tool("import ctypes\n"
           "def f():\n"
           "  found = [line.split()[0].split('-') for line in "
           "open('/proc/self/maps')\n"
           "           if '/memfd:libraries' in line]\n"
           "  seen = []\n"
           "  for _, end in found:\n"
           "    word = ctypes.c_uint64.from_address(int(end, 16) - 8)\n"
           "    seen.append(word.value)\n"
           "    word.value ^= 0x5a5a\n"
           "    seen.append(word.value == seen[-1] ^ 0x5a5a)\n"
           "  return seen\n");
  const auto first = host->run(vandal);
  BOOST_REQUIRE(first.status == run_status::success);
  BOOST_TEST(first.value_json.find("true") != std::string::npos);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(host->run(vandal).value_json == first.value_json);
}

BOOST_AUTO_TEST_CASE(cannot_be_changed_by_their_file) {
  const auto host = host_with(true);
  // A way to it, if there were one, would lead to every run to come.
  const auto seeker = tool(
    "import os\n"
    "def f():\n"
    "  lines = [l for l in open('/proc/self/maps') if 'memfd:libraries' in l]\n"
    "  opened = []\n"
    "  for line in lines:\n"
    "    try:\n"
    "      opened.append(os.open('/proc/self/map_files/' + line.split()[0],\n"
    "                            os.O_RDWR))\n"
    "    except OSError: pass\n"
    "  for fd in range(64):\n"
    "    try:\n"
    "      if 'libraries' in os.readlink(f'/proc/self/fd/{fd}'):\n"
    "        opened.append(fd)\n"
    "    except OSError: pass\n"
    "  return [len(lines) > 0, opened]\n");
  BOOST_TEST(host->run(seeker).value_json == "[true,[]]");
}

BOOST_AUTO_TEST_CASE(are_joined_in_node,
                     *boost::unit_test::precondition(has_warm_node)) {
  const auto count = [](bool joined) {
    local_options options;
    options.zygote.joined_libraries = joined;
    local_host host{options};
    const auto mappings = tool("import * as fs from 'node:fs';\n"
                               "export function f() {\n"
                               "  return fs.readFileSync('/proc/self/maps', "
                               "'utf8').split('\\n').length\n"
                               "}",
                               "{}", language::typescript);
    host.run(mappings); // the first that could use it
    BOOST_REQUIRE(eventually(
      [&] { return host.backend().slots(zygote::family::node).zygotes == 1; }));
    const auto r = host.run(mappings);
    BOOST_REQUIRE(host.backend().slots(zygote::family::node).runs > 0u);
    return number(r);
  };
  BOOST_TEST(count(true) < count(false));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
