#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::test {

namespace {

/// What a warm Node holds of its own, but for huge pages: of those for its
/// constants there is one more or less, by what has been looked at.
std::size_t memory_of_node(local_host& host) {
  const auto node = host.backend().slots(zygote::family::node).zygote_pid;
  return memory_of(node, "Anonymous:") - memory_of(node, "AnonHugePages:");
}

std::unique_ptr<local_host> warm_node_with(bool idle_nursery) {
  local_options options;
  options.zygote.idle_nursery = idle_nursery;
  auto host = std::make_unique<local_host>(options);
  host->run(tool("export function f() { return 1 }", "{}",
                 language::typescript)); // the first that could use it
  BOOST_REQUIRE(eventually(
    [&] { return host->backend().slots(zygote::family::node).zygotes == 1; }));
  return host;
}

} // namespace

BOOST_AUTO_TEST_SUITE(idle_nursery,
                      *boost::unit_test::precondition(has_warm_node))

BOOST_AUTO_TEST_CASE(is_given_back_and_still_of_use) {
  const auto host = warm_node_with(true);
  const auto plain = warm_node_with(false);
  BOOST_TEST(memory_of_node(*host) + 1'500 < memory_of_node(*plain));
  // Objects that die at once and some that do not, for many times the nursery:
  // it is filled, collected, and grows.
  const auto r = host->run(
    tool("export function f(n: number) {\n"
         "  const kept: Record<string, number[]>[] = [];\n"
         "  for (let i = 0; i < n; ++i) {\n"
         "    const made = { a: [i, i + 0.5], b: [i, -i] };\n"
         "    if (i % 1000 === 0) kept.push(made);\n"
         "  }\n"
         "  return kept.reduce((sum, o) => sum + o.a[1] + o.b[1], 0);\n"
         "}",
         R"({"n": 2000000})", language::typescript));
  BOOST_TEST(r.value_json == "1000");
  BOOST_TEST(host->backend().slots(zygote::family::node).runs > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
