// A thousand sandboxes, one after the other, and what is left of them: nothing.
// TROUPE_SANDBOX_ROUNDS says how many.
#include "tests/runtime/local/footprint.hpp"
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <signal.h>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

// A program that is not told otherwise leaves them out.
BOOST_AUTO_TEST_SUITE(leaks_of_sandboxes, *boost::unit_test::disabled())

namespace {

/// What a process of the host has, beside ourselves.
struct process_state {
  explicit process_state(int pid)
      : descriptors{entries("/proc/" + std::to_string(pid) + "/fd")},
        mounts{std::ranges::count(
          isolation::read_text("/proc/" + std::to_string(pid) + "/mountinfo")
            .value_or(""),
          '\n')} {}
  std::size_t descriptors;
  std::ptrdiff_t mounts;
};

/// Ended in another way each time.
void use_one(sandbox_host& host, std::size_t round) {
  auto box = host.make();
  BOOST_REQUIRE(host.write(box, "/home/user/f", std::to_string(round)));
  auto seen = host.shell(box, "cat f; (setsid sleep 1000 &) >/dev/null 2>&1");
  BOOST_TEST(seen.out == std::to_string(round));
  auto left = std::make_shared<process_watch>();
  switch (round % 4) {
  case 0:
    break;
  case 1: // with a process that goes on
    BOOST_REQUIRE(host.start(box, "sleep 1000", *left));
    break;
  case 2: // with one that was killed
    host.shell(box, "sleep 1000", milliseconds{1});
    break;
  case 3: // with one that forks while it is deleted
    BOOST_REQUIRE(
      host.start(box, "while :; do (sleep 1000 &); done", *left, true));
    break;
  }
  host.destroy(box);
}

} // namespace

BOOST_AUTO_TEST_CASE(leave_nothing_after_many_rounds) {
  TROUPE_NEEDS("user_namespace");
  const auto rounds = from_environment("TROUPE_SANDBOX_ROUNDS", 200);
  const footprint before;
  std::vector<std::string> groups;
  {
    local_host backend{without_interpreters()};
    sandbox_host host{backend};
    const auto warden = living_warden(backend);
    for (std::size_t i = 0; i < 20; ++i)
      use_one(host, i); // pools fill
    const footprint early;
    const process_state warden_early{warden};
    const auto early_groups = groups_made(backend);
    for (std::size_t i = 0; i < rounds; ++i)
      use_one(host, i);
    BOOST_TEST(backend.backend().warden_pid() == warden);
    BOOST_TEST(processes_below(warden).empty());
    const footprint late;
    const process_state warden_late{warden};
    BOOST_TEST(late.descriptors <= early.descriptors);
    BOOST_TEST(late.mounts == early.mounts);
    BOOST_TEST(warden_late.descriptors <= warden_early.descriptors);
    BOOST_TEST(warden_late.mounts == warden_early.mounts);
    BOOST_TEST(groups_made(backend) <= early_groups + 4);
    BOOST_TEST_MESSAGE(rounds << " sandboxes: " << early.memory_kib
                              << " KiB, then " << late.memory_kib << " KiB");
    // A leak of a KiB a round shows in 10,000.
    BOOST_TEST(late.memory_kib <= early.memory_kib + 6 * 1024);
    groups = groups_of(backend.backend().instance_directory());
  }
  check_rest(before, footprint{}, "after the backend has gone");
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
}

BOOST_AUTO_TEST_SUITE_END()
