// When a broker begins and ends, seen from runs.
#include "tests/runtime/local/egress/networked_runs.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::test;
using namespace troupe::network::test;

BOOST_AUTO_TEST_SUITE(network_brokers_of_runs)

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
  const auto warden = living_warden(w.warm);
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

BOOST_AUTO_TEST_SUITE_END()
