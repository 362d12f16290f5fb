#include "tests/runtime/local/warm/node_table.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(node_warm_and_cold,
                      *boost::unit_test::precondition(has_warm_node))

namespace {

prepared_run script(std::string source, language lang = language::javascript) {
  return tool(std::move(source), "{}", lang);
}

constexpr auto warm_node = zygote::family::node;

void check_numbers(local_host& host) {
  // Each of these, not only all of them together.
  for (const char* one : {"Math.random()", "require('crypto').randomUUID()",
                          "require('crypto').randomInt(1e12)",
                          "require('vm').runInNewContext('Math.random()')"}) {
    const auto run = script(std::string{"exports.f = () => "} + one);
    std::set<std::string> seen;
    for (int i = 0; i < 4; ++i)
      seen.insert(host.run(run).value_json);
    BOOST_TEST(seen.size() == 4u, one);
  }
  BOOST_TEST(host
               .run(script("const make = require('vm').runInNewContext;\n"
                           "exports.f = () =>\n"
                           "  Math.random() === make('Math.random()')"))
               .value_json
             == "false");
}

} // namespace

BOOST_AUTO_TEST_CASE(tell_the_same_of_every_run) {
  BOOST_REQUIRE(warm_is_ready(warm_node));
  const auto& table = node_table();
  const auto before = warm_host().backend().slots(warm_node).runs;
  for (const auto level : {isolation_level::standard, isolation_level::strict})
    for (const auto& [name, source] : table) {
      BOOST_TEST_CONTEXT(name << ", " << to_string(level)) {
        auto run = script(source);
        run.isolation = level;
        BOOST_TEST(essence(warm_host().run(run))
                   == essence(cold_host().run(run)));
      }
    }
  BOOST_TEST(warm_host().backend().slots(warm_node).runs
             >= before + 2 * table.size());
  BOOST_TEST(cold_host().backend().slots(warm_node).runs == 0u);
}

BOOST_AUTO_TEST_CASE(keep_the_same_limits) {
  BOOST_REQUIRE(warm_is_ready(warm_node));
  for (const auto& c : node_limits()) {
    if (!lacks(c.layer).empty())
      continue;
    auto run = script(c.source);
    c.narrow(run.limits);
    const auto warm = warm_host().run(run);
    const auto cold = cold_host().run(run);
    BOOST_TEST_CONTEXT(c.source) {
      BOOST_TEST(to_string(warm.reason) == to_string(cold.reason));
      BOOST_TEST(warm.detail == cold.detail);
      BOOST_TEST(to_string(warm.status) == to_string(cold.status));
      BOOST_TEST(warm.stdout_text == cold.stdout_text);
    }
  }
}

/// A Node that does not take what it is handed compiles it, without a word.
BOOST_AUTO_TEST_CASE(take_the_code_that_was_compiled_for_them) {
  const auto run
    = script("import * as v8 from 'node:v8';\n"
             "const size = () =>\n"
             "  v8.getHeapCodeStatistics().bytecode_and_metadata_size;\n"
             "function never(n: number) { return n * n + 1; }\n"
             "export function f() {\n"
             "  size();\n"
             "  const before = size();\n"
             "  never(2);\n"
             "  return size() - before;\n"
             "}\n",
             language::typescript);
  local_host host{{}};
  // Both are cold starts, and so is what the second one asks to be compiled.
  for (int i = 0; i < 2; ++i)
    BOOST_TEST(host.run(run).value_json != "0");
  BOOST_REQUIRE(eventually([&] {
    const auto now = host.backend().slots(warm_node);
    return now.zygotes > 0 && now.trouble.empty();
  }));
  std::string value;
  for (int i = 0; i < 50 && value != "0"; ++i)
    value = host.run(run).value_json;
  BOOST_TEST(value == "0");
  BOOST_TEST(host.run(run).value_json == "0");
}

BOOST_AUTO_TEST_CASE(draw_numbers_of_their_own) {
  BOOST_REQUIRE(warm_is_ready(warm_node));
  check_numbers(warm_host());
}

// Of every run: a realm of its own, two more and two
// workers, which have two realms each.
BOOST_AUTO_TEST_CASE(draw_numbers_of_their_own_in_every_realm) {
  BOOST_REQUIRE(warm_is_ready(warm_node));
  const auto run = script(R"(const { runInNewContext } = require('vm');
const { Worker } = require('worker_threads');
const draw = "[Math.random(), require('vm').runInNewContext('Math.random()')]";
const work = () => new Promise((done, fail) => {
  const text = `require('worker_threads').parentPort.postMessage(${draw})`;
  new Worker(text, { eval: true }).on('message', done).on('error', fail);
});
exports.f = async () => [Math.random(), runInNewContext('Math.random()'),
  runInNewContext('Math.random()'), ...(await work()), ...(await work())];
)");
  std::set<std::string> seen;
  constexpr std::size_t realms = 7;
  for (const auto level : {isolation_level::standard, isolation_level::standard,
                           isolation_level::strict}) {
    auto one = run;
    one.isolation = level;
    const auto r = warm_host().run(one);
    BOOST_TEST(r.failure.message == "");
    auto list = r.value_json;
    std::ranges::replace_if(
      list, [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
    std::istringstream words{list};
    for (std::string word; words >> word;)
      seen.insert(word);
  }
  BOOST_TEST(seen.size() == 3 * realms);
}

BOOST_AUTO_TEST_CASE(draw_numbers_of_their_own_when_v8_is_told_in_words) {
  local_options options;
  options.zygote.direct_seed = false;
  local_host host{options};
  host.run(script("exports.f = () => 1"));
  BOOST_REQUIRE(
    eventually([&] { return host.backend().slots(warm_node).zygotes == 1; }));
  check_numbers(host);
  BOOST_TEST(host.backend().slots(warm_node).runs > 0u);
}

BOOST_AUTO_TEST_CASE(carry_typescript_warm) {
  BOOST_REQUIRE(warm_is_ready(warm_node));
  const auto before = warm_host().backend().slots(warm_node).runs;
  auto run = tool("export async function f(n: number): Promise<number> {"
                  " return n * 2 }",
                  R"({"n": 21})", language::typescript);
  for (int i = 0; i < 4; ++i) // the later ones with compiled code
    BOOST_TEST(warm_host().run(run).value_json == "42");
  BOOST_TEST(warm_host().backend().slots(warm_node).runs >= before + 4);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
