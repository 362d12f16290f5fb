#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(limits_of_a_sandbox)

BOOST_AUTO_TEST_CASE(kill_who_takes_too_much_memory_and_not_the_sandbox) {
  TROUPE_NEEDS("memory_limit");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.memory_bytes = 64u << 20;
  living box{host, std::move(wanted)};
  auto seen = host.shell(*box, "python3 -c 'x = bytearray(256 << 20)'");
  BOOST_REQUIRE(seen.good());
  BOOST_TEST((seen.how->end->signaled || seen.how->end->exit_code != 0));
  BOOST_TEST(host.shell(*box, "echo on").out == "on\n");
}

BOOST_AUTO_TEST_CASE(leave_the_sandbox_when_everything_in_it_is_small) {
  TROUPE_NEEDS("memory_limit");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.memory_bytes = 48u << 20;
  wanted.limits.processes = 512;
  living box{host, std::move(wanted)};
  // None of these is larger than what is ours inside.
  host.shell(*box,
             "i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; "
             "wait",
             milliseconds{3'000});
  auto after = host.shell(*box, "echo on");
  BOOST_REQUIRE_MESSAGE(after.good(), to_string(after.how->end.error()));
  BOOST_TEST(after.out == "on\n");
}

BOOST_AUTO_TEST_CASE(leave_room_for_a_shell_when_files_have_taken_the_rest) {
  TROUPE_NEEDS("memory_limit");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.memory_bytes = 64u << 20;
  wanted.limits.disk_bytes = 1u << 30; // more than there is memory
  living box{host, std::move(wanted)};
  auto full = host.shell(*box, "cat /dev/zero > /tmp/x");
  BOOST_TEST(full.err.find("No space left") != std::string::npos, full.err);
  BOOST_TEST(host.shell(*box, "rm /tmp/x; echo on").out == "on\n");
}

BOOST_AUTO_TEST_CASE(hold_a_fork_bomb_and_end_it) {
  TROUPE_NEEDS("process_limit");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.processes = 60;
  living box{host, std::move(wanted)};
  process_request what;
  what.argv = {"python3", "-c",
               "import os\nwhile 1:\n  try: os.fork()\n  except OSError: pass"};
  auto bomb = host.run(*box, std::move(what), milliseconds{1'500});
  BOOST_TEST((bomb.refused() == ec::timeout));
  auto after = host.shell(*box, "echo on");
  BOOST_REQUIRE_MESSAGE(after.good(), to_string(after.how->end.error()));
  BOOST_TEST(after.out == "on\n");
}

BOOST_AUTO_TEST_CASE(refuse_a_process_beyond_them_and_say_so) {
  TROUPE_NEEDS("process_limit");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.processes = 12;
  living box{host, std::move(wanted)};
  std::vector<std::shared_ptr<process_watch>> all;
  std::optional<error> refused;
  for (int i = 0; i < 13 && !refused; ++i) {
    auto& seen = all.emplace_back(std::make_shared<process_watch>());
    if (auto begun = host.start(*box, "exec sleep 1000", *seen); !begun)
      refused = begun.error();
  }
  BOOST_REQUIRE(refused);
  BOOST_TEST((refused->code == ec::exhausted), to_string(*refused));
  BOOST_TEST(refused->text.find("processes") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
