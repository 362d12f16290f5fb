// Strict slots that serve once, and are made before they are needed.
#include "tests/runtime/local/warm/fixture.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(slot_spares)

namespace {

constexpr const char* which_world = "import os\n"
                                    "def f():\n"
                                    "  was = os.path.exists('/tmp/mark')\n"
                                    "  open('/tmp/mark', 'w').close()\n"
                                    "  return [was, os.readlink("
                                    "'/proc/self/ns/pid')]\n";

/// A host where no slot can give each run a world of its own.
struct plain_host : ready_fixture {
  explicit plain_host(std::uint32_t spares)
      : ready_fixture{[&] {
          auto options = without_armed();
          options.spares = spares;
          return options;
        }()} {
    makers->makes_namespaces = false;
  }

  std::shared_ptr<flight> begin_strict(organization_id of
                                       = default_organization()) {
    auto run = make_run(which_world, "f", "{}");
    run.isolation = isolation_level::strict;
    run.organization = std::move(of);
    return begin(std::move(run));
  }

  bool has_idle(std::size_t count) {
    return serve_until([&] { return carrier->counts().idle == count; });
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(carry_the_runs_after_the_first) {
  plain_host host{2};
  std::set<std::string> worlds;
  const auto first = host.begin_strict();
  BOOST_TEST(!first->started); // nothing was made for it
  worlds.insert(host.finish(first).value());
  for (std::size_t i = 1; i <= 4; ++i) {
    BOOST_REQUIRE(host.has_idle(2));
    // Two for the first, and one more for each since: none was used twice.
    BOOST_TEST(host.makers->prepared == 2 + i);
    const auto next = host.begin_strict();
    BOOST_TEST(next->started); // at once: its slot was there
    worlds.insert(host.finish(next).value());
  }
  BOOST_TEST(worlds.size() == 5u);
  for (const auto& world : worlds)
    BOOST_TEST(world.starts_with("[false,"));
  BOOST_REQUIRE(host.has_idle(2));
  BOOST_TEST(host.carrier->counts().slots == 2u);
  BOOST_TEST(host.makers->released == 5u);
}

BOOST_AUTO_TEST_CASE(are_none_when_none_are_wanted) {
  plain_host host{0};
  for (std::size_t i = 1; i <= 3; ++i) {
    const auto run = host.begin_strict();
    BOOST_TEST(!run->started);
    BOOST_TEST(host.finish(run).value().starts_with("[false,"));
    BOOST_TEST(host.makers->prepared == i);
    BOOST_TEST(host.carrier->counts().slots == 0u);
  }
}

BOOST_AUTO_TEST_CASE(serve_their_organization_only) {
  plain_host host{2};
  host.finish(host.begin_strict());
  BOOST_REQUIRE(host.has_idle(2));
  const auto other = organization_id::make();
  const auto theirs = host.begin_strict(other);
  BOOST_TEST(!theirs->started); // what waits is not theirs
  host.finish(theirs);
  BOOST_REQUIRE(host.has_idle(4));
  BOOST_TEST(host.makers->prepared == 6u);
  // Now there is something for both.
  BOOST_TEST(host.begin_strict(other)->started);
  BOOST_TEST(host.begin_strict()->started);
}

BOOST_AUTO_TEST_CASE(never_push_out_a_slot_that_exists) {
  auto options = without_armed();
  options.max_slots = 3;
  ready_fixture host{options};
  host.makers->makes_namespaces = false;
  BOOST_TEST(host.run("def f():\n  return 1\n", "f").value() == "1");
  auto strict = host.make_run(which_world, "f", "{}");
  strict.isolation = isolation_level::strict;
  host.finish(host.begin(std::move(strict)));
  // Two places were left while it ran: its own and one for a spare.
  BOOST_REQUIRE(
    host.serve_until([&] { return host.carrier->counts().idle == 2; }));
  BOOST_TEST(host.makers->prepared == 3u);
  BOOST_TEST(host.run("def f():\n  return 2\n", "f").value() == "2");
  BOOST_TEST(host.makers->prepared == 3u); // still in the first one's slot
}

/// The whole way: a slot that shows something in /tmp serves once.
BOOST_AUTO_TEST_CASE(are_made_by_the_backend_where_worlds_are_not) {
  TROUPE_NEEDS("private_tree")
  auto& host = warm_python();
  auto run = tool(which_world);
  run.isolation = isolation_level::strict;
  run.organization = organization_id::make(); // nobody else's slots
  run.mounts.push_back({"/usr/share", "/tmp/shown", false});
  std::set<std::string> worlds;
  const auto before = host.backend().slots();
  for (std::size_t i = 1; i <= 3; ++i) {
    const auto idle = host.backend().slots().idle;
    const auto result = host.run(run);
    BOOST_TEST(result.value_json.starts_with("[false,"), result.value_json);
    worlds.insert(result.value_json);
    BOOST_TEST(host.backend().slots().runs >= before.runs + i); // none cold
    BOOST_TEST((result.isolation.level == isolation_level::strict));
    BOOST_REQUIRE(
      i > 1 || eventually([&] { return host.backend().slots().idle > idle; }));
  }
  BOOST_TEST(worlds.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
