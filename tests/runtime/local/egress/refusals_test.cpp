// What a refused connection makes of a run.
#include "tests/runtime/local/egress/networked_runs.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(network_refusals_of_runs)

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
      BOOST_TEST(to_string(r.reason) == "raised");
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

BOOST_AUTO_TEST_SUITE_END()
