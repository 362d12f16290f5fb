#include "tests/runtime/local/warm/fixture.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <thread>

namespace troupe::test {

namespace {

pid_t child_of(pid_t parent) {
  const auto number = std::to_string(parent);
  std::ifstream children{"/proc/" + number + "/task/" + number + "/children"};
  pid_t child = 0;
  children >> child;
  return child;
}

/// What this process alone has.
std::size_t own_memory(pid_t process) {
  return memory_of(process, "Private_Dirty:");
}

zygote::zygote_options with(bool ready_pages) {
  auto options = without_armed();
  options.ready_pages = ready_pages;
  return options;
}

/// Of a process that was forked and warmed, and has no run yet.
std::size_t memory_of_waiting(bool ready_pages) {
  auto options = with(ready_pages);
  options.preforked = 1;
  ready_fixture f{options};
  f.run("def f():\n  return 1\n", "f");
  f.serve_until([&] { return f.carrier->counts().preforked == 1; });
  const auto slot = child_of(f.makers->interpreters().back());
  std::size_t before = 0;
  int same = 0;
  // It has been told to warm itself, and is still, when it no longer grows.
  eventually([&] {
    const auto now = own_memory(child_of(slot));
    same = now > 0 && now == before ? same + 1 : 0;
    before = now;
    return same == 10;
  });
  return before;
}

} // namespace

BOOST_AUTO_TEST_SUITE(ready_pages)

BOOST_AUTO_TEST_CASE(are_found_before_the_first_run) {
  ready_fixture f{with(true)};
  const auto pages = f.carrier->counts().ready_pages;
  BOOST_TEST(pages > 20u);
  BOOST_TEST(pages < 2'000u);
  BOOST_TEST(f.run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(are_found_in_node) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::node));
  const auto now = warm_host().backend().slots(zygote::family::node);
  BOOST_TEST(now.ready_pages > 50u);
  BOOST_TEST(now.ready_pages < 4'000u);
}

BOOST_AUTO_TEST_CASE(are_not_looked_for_by_who_does_not_want_them) {
  ready_fixture f{with(false)};
  BOOST_TEST(f.carrier->counts().ready_pages == 0u);
  BOOST_TEST(f.run("def f():\n  return 1\n", "f").value() == "1");
}

BOOST_AUTO_TEST_CASE(belong_to_a_process_before_its_run) {
  const auto without = memory_of_waiting(false);
  BOOST_REQUIRE(without > 0u);
  BOOST_TEST(memory_of_waiting(true) > without + 40);
}

BOOST_AUTO_TEST_CASE(leave_nothing_of_a_rehearsal_behind) {
  // No process but the interpreter's own, no module more.
  const std::string source = "import sys\n"
                             "def f():\n"
                             "  return [sorted(sys.modules), sys.path]\n";
  ready_fixture f{with(true)}, plain{with(false)};
  BOOST_TEST(child_of(f.makers->interpreters().back()) == 0);
  const auto seen = f.run(source, "f");
  BOOST_REQUIRE(seen.answered);
  BOOST_TEST(seen.value() == plain.run(source, "f").value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
