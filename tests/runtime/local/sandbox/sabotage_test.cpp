// What a process of a sandbox does to those of ours that have its user.
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(sabotage_in_a_sandbox)

namespace {

/// A command, and what can be seen of it.
struct command {
  command(sandbox_host& host, const sandbox_handle& box, std::string line)
      : host_{host}, box_{box} {
    auto begun = host.start(box, std::move(line), *seen);
    BOOST_REQUIRE_MESSAGE(begun, to_string(begun.error()));
    process = *begun;
    BOOST_REQUIRE(seen->wait_for_output("on"));
  }

  /// From inside, to the process that watches it: the one forked before it.
  void tell_parent(const std::string& signal) {
    tell(process->pid() - 1, signal);
  }
  void tell(int pid, const std::string& signal) {
    auto sent
      = host_.shell(box_, "kill -" + signal + " " + std::to_string(pid));
    BOOST_TEST(sent.code() == 0, sent.err);
  }
  void signal_from_outside(std::int32_t number) {
    auto send = [this, number]() -> boost::asio::awaitable<result<void>> {
      co_return process->signal(number);
    };
    BOOST_TEST(host_.call(send()).has_value());
  }

  std::shared_ptr<process_watch> seen = std::make_shared<process_watch>();
  sandbox_process_ptr process;

private:
  sandbox_host& host_;
  sandbox_handle box_;
};

const char* until_usr1 = "trap 'echo bye; exit 7' USR1; echo on; while :; do "
                         "sleep 0.01; done";

} // namespace

BOOST_AUTO_TEST_CASE(of_its_parent_does_not_hide_how_a_command_ends) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  command victim{host, *box, until_usr1};
  victim.tell_parent("KILL");
  BOOST_TEST(host.shell(*box, "echo on").out == "on\n");
  victim.tell(victim.process->pid(), "USR1");
  auto end = victim.seen->wait();
  BOOST_REQUIRE_MESSAGE(end, to_string(end.error()));
  BOOST_TEST(!end->signaled);
  BOOST_TEST(end->exit_code == 7);
  BOOST_TEST(victim.seen->output() == "on\nbye\n");
}

BOOST_AUTO_TEST_CASE(of_its_parent_does_not_save_a_command_from_being_killed) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  command victim{host, *box,
                 "trap '' TERM; sleep 1000 & sleep 1000 & echo $! > last; echo "
                 "on; wait; sleep 1000"};
  victim.tell_parent("KILL");
  BOOST_TEST(host.shell(*box, "echo on").out == "on\n");
  victim.signal_from_outside(SIGKILL);
  auto end = victim.seen->wait();
  BOOST_REQUIRE_MESSAGE(end, to_string(end.error()));
  BOOST_TEST(end->signaled);
  BOOST_TEST(end->signal == SIGKILL);
  BOOST_TEST(
    eventually([&] { return host.shell(*box, "kill -0 $(cat last)").code(); }));
}

BOOST_AUTO_TEST_CASE(by_stopping_what_watches_a_command_has_no_effect) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  command victim{host, *box, until_usr1};
  for (int i = 0; i < 20; ++i)
    victim.tell_parent("STOP");
  victim.signal_from_outside(SIGUSR1);
  auto end = victim.seen->wait();
  BOOST_REQUIRE_MESSAGE(end, to_string(end.error()));
  BOOST_TEST(end->exit_code == 7);
}

BOOST_AUTO_TEST_CASE(by_stopping_everything_leaves_the_files_to_be_read) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host.write(*box, "/home/user/f", "text")); // a hand waits
  BOOST_TEST(host.shell(*box, "kill -STOP -1; echo on").out == "on\n");
  BOOST_TEST(host.read(*box, "/home/user/f").value() == "text");
  // Ended instead, the next call gets another one.
  BOOST_TEST(host.shell(*box, "kill -KILL -1; echo on").out == "on\n");
  BOOST_TEST(eventually([&] {
    auto text = host.read(*box, "/home/user/f");
    return text && *text == "text";
  }));
}

BOOST_AUTO_TEST_SUITE_END()
