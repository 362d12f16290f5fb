#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <signal.h>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(pause_of_a_sandbox)

namespace {

result<void> pause(sandbox_host& host, const sandbox_handle& box,
                   std::chrono::seconds lifetime = std::chrono::seconds{60}) {
  return host.call(
    host.provider().pause(box, lifetime, within(std::chrono::seconds{10})));
}

result<void> resume(sandbox_host& host, const sandbox_handle& box) {
  return host.call(host.provider().resume(box, std::chrono::seconds{60},
                                          within(std::chrono::seconds{10})));
}

} // namespace

BOOST_AUTO_TEST_CASE(stands_still_and_goes_on_where_it_was) {
  TROUPE_NEEDS("atomic_kill");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto cat = host.start(*box,
                        "n=0; while read x; do n=$((n+1)); echo $x$n; "
                        "done",
                        *seen, true);
  BOOST_REQUIRE(cat);
  BOOST_REQUIRE((*cat)->write("a\n"));
  BOOST_REQUIRE(seen->wait_for_output("a1"));
  BOOST_REQUIRE(pause(host, *box));
  BOOST_TEST(pause(host, *box).has_value()); // it does already
  BOOST_TEST((*cat)->write("b\n").has_value());
  // Whatever another one does meanwhile, this one does not answer.
  living other{host};
  BOOST_TEST(host.shell(*other, "echo on").out == "on\n");
  BOOST_TEST(seen->output() == "a1\n");
  BOOST_REQUIRE(resume(host, *box));
  BOOST_TEST(seen->wait_for_output("b2"));
  BOOST_TEST(resume(host, *box).has_value());
  BOOST_TEST(host.shell(*box, "echo on").out == "on\n");
}

BOOST_AUTO_TEST_CASE(stops_what_forks_as_fast_as_it_can) {
  TROUPE_NEEDS("atomic_kill");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(
    *box, "echo on; while :; do (:); done & while :; do (:); done", *seen));
  BOOST_REQUIRE(seen->wait_for_output("on"));
  for (int i = 0; i < 5; ++i) {
    BOOST_REQUIRE(pause(host, *box));
    BOOST_REQUIRE(resume(host, *box));
  }
}

BOOST_AUTO_TEST_CASE(can_be_destroyed_and_leaves_a_group_that_runs) {
  TROUPE_NEEDS("atomic_kill");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  // Groups are used again: one that stayed frozen would hang the next one.
  for (int i = 0; i < 3; ++i) {
    auto box = host.make();
    auto seen = std::make_shared<process_watch>();
    BOOST_REQUIRE(host.start(box, "echo on; sleep 1000", *seen));
    BOOST_REQUIRE(seen->wait_for_output("on"));
    BOOST_REQUIRE(pause(host, box));
    host.destroy(box);
    BOOST_TEST(!seen->wait());
  }
  BOOST_TEST(processes_below(backend.backend().warden_pid()).empty());
}

BOOST_AUTO_TEST_CASE(ends_when_its_time_is_over_all_the_same) {
  TROUPE_NEEDS("atomic_kill");
  sandbox_host host;
  auto box = host.make();
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(box, "echo on; sleep 1000", *seen));
  BOOST_REQUIRE(seen->wait_for_output("on"));
  BOOST_REQUIRE(pause(host, box, std::chrono::seconds{1}));
  auto end = seen->wait();
  BOOST_REQUIRE(!end);
  BOOST_TEST((resume(host, box).error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(is_refused_for_one_that_is_gone) {
  TROUPE_NEEDS("atomic_kill");
  sandbox_host host;
  auto box = host.make();
  host.destroy(box);
  BOOST_TEST((pause(host, box).error().code == ec::not_found));
  BOOST_TEST((resume(host, box).error().code == ec::not_found));
}

BOOST_AUTO_TEST_SUITE_END()
