// Processes with a terminal: it is theirs, keys and sizes reach what runs in
// it, and nothing of it is seen in other sandboxes.
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(terminals_in_a_sandbox)

namespace {

/// A shell at a terminal, and what that has shown.
class terminal {
public:
  terminal(sandbox_host& host, const sandbox_handle& in,
           std::vector<std::string> argv = {"/bin/bash", "--norc"})
      : host_{host} {
    process_request what;
    what.argv = std::move(argv);
    what.env["PS1"] = "% ";
    what.terminal = terminal_size{100, 30};
    auto begun = host.call(
      host.provider().start(in, std::move(what), false, seen->events(),
                            within(std::chrono::seconds{30})));
    BOOST_REQUIRE_MESSAGE(begun, (begun ? "" : to_string(begun.error())));
    process_ = *begun;
  }

  /// Where the process may be told things.
  result<void> tell(std::function<result<void>(sandbox_process&)> what) {
    auto coroutine = [&]() -> boost::asio::awaitable<result<void>> {
      co_return what(*process_);
    };
    return host_.call(coroutine());
  }
  void type(const std::string& keys) {
    auto typed = tell([&](sandbox_process& p) { return p.write(keys); });
    BOOST_TEST(typed.has_value());
  }
  bool shows(const std::string& text) { return seen->wait_for_output(text); }
  result<void> resize(terminal_size to) {
    return tell([&](sandbox_process& p) { return p.resize(to); });
  }
  result<void> kill() {
    return tell([](sandbox_process& p) { return p.signal(SIGKILL); });
  }

  std::shared_ptr<process_watch> seen = std::make_shared<process_watch>();

private:
  sandbox_host& host_;
  sandbox_process_ptr process_;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_shell_has_one_of_the_sandbox_s_own) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  terminal shell{host, *box};
  shell.type("tty; stty size; echo $TERM; test -t 2 && echo all 'three'\n");
  BOOST_TEST(shell.shows("/dev/pts/0"));
  BOOST_TEST(shell.shows("30 100"));
  BOOST_TEST(shell.shows("xterm-256color"));
  BOOST_TEST(shell.shows("all three"));
  shell.type("ps -o sid= -p $$ | grep -q \"^ *$$\\$\" && echo lead''s; echo / "
             ">/dev/tty\n");
  BOOST_TEST(shell.shows("leads\r\n/\r\n"));
  shell.type("exit 7\n");
  auto end = shell.seen->wait();
  BOOST_REQUIRE(end);
  BOOST_TEST(end->exit_code == 7);
  BOOST_TEST((shell.resize({}).error().code == ec::conflict));
}

BOOST_AUTO_TEST_CASE(keys_interrupt_and_stop_what_runs) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  terminal shell{host, *box};
  shell.type("(echo u''p1; exec sleep 1000)\n");
  BOOST_TEST(shell.shows("up1"));
  shell.type("\x03");
  shell.type("echo status $?\n");
  BOOST_TEST(shell.shows("status 130"));
  shell.type("(echo u''p2; exec sleep 1000)\n");
  BOOST_TEST(shell.shows("up2"));
  shell.type("\x1a");
  BOOST_TEST(shell.shows("Stopped"));
  shell.type("jobs; kill %1; wait; echo no jo''bs\n");
  BOOST_TEST(shell.shows("no jobs"));
  shell.type("(echo u''p3; exec cat); echo ba''ck\n");
  BOOST_TEST(shell.shows("up3"));
  shell.type("line\n");
  BOOST_TEST(shell.shows("line\r\nline\r\n"));
  // The end of input is a key, and the shell's own input goes on.
  BOOST_TEST(shell
               .tell([](sandbox_process& p) -> result<void> {
                 p.close_input();
                 return {};
               })
               .has_value());
  BOOST_TEST(shell.shows("back\r\n"));
  shell.type("exit\n");
  BOOST_TEST(shell.seen->wait()->exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_new_size_reaches_what_runs_in_it) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  terminal shell{host, *box};
  shell.type("trap 'echo resized to $(stty size)' WINCH; echo rea''dy\n");
  BOOST_TEST(shell.shows("ready"));
  BOOST_TEST(shell.resize({120, 40}).has_value());
  shell.type("\n");
  BOOST_TEST(shell.shows("resized to 40 120"));
}

BOOST_AUTO_TEST_CASE(what_it_is_given_first_is_typed) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  process_request what;
  what.argv = {"/bin/sh", "-c", "read a; echo got:$a; stty -echo; tty"};
  what.input = "typed\n";
  what.terminal = terminal_size{};
  auto seen = host.run(*box, what);
  BOOST_TEST(seen.code() == 0);
  BOOST_TEST(seen.out == "typed\r\ngot:typed\r\n/dev/pts/0\r\n");
  BOOST_TEST(seen.err == "");
}

BOOST_AUTO_TEST_CASE(a_process_with_streams_has_no_size) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto begun = host.start(*box, "read wait", *seen, true);
  BOOST_REQUIRE(begun);
  auto resize = [&]() -> boost::asio::awaitable<result<void>> {
    auto told = (*begun)->resize(terminal_size{});
    (*begun)->close_input();
    co_return told;
  };
  const auto refused = host.call(resize());
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == ec::conflict));
  (void)seen->wait();
}

BOOST_AUTO_TEST_CASE(two_sandboxes_do_not_see_each_other_s) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living one{host};
  living other{host};
  terminal first{host, *one};
  terminal second{host, *one};
  first.type("ls /dev/pts | tr '\\n' ' '; echo\n");
  BOOST_TEST(first.shows("0 1 ptmx"));
  BOOST_TEST(host.shell(*other, "ls /dev/pts").out == "ptmx\n");
}

BOOST_AUTO_TEST_CASE(one_is_the_caller_s_wherever_its_name_leads) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_TEST(host.shell(*box, "rm /dev/ptmx && mkfifo /dev/ptmx").code() == 0);
  terminal shell{host, *box};
  shell.type("tty\n");
  BOOST_TEST(shell.shows("/dev/pts/0"));
}

BOOST_AUTO_TEST_CASE(nothing_is_typed_into_another_s) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  terminal shell{host, *box};
  BOOST_TEST(shell.shows("% "));
  const auto tried = host.shell(
    *box,
    "python3 -c 'import fcntl, termios\n"
    "with open(\"/dev/pts/0\") as t: fcntl.ioctl(t, termios.TIOCSTI, \"x\")'");
  BOOST_TEST(tried.code() != 0);
  BOOST_TEST(tried.err.find("Operation not permitted") != tried.err.npos);
}

BOOST_AUTO_TEST_CASE(there_are_64_at_most_and_each_comes_back) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto taker = std::make_shared<process_watch>();
  auto begun = host.start(*box,
                          "exec python3 -c 'import os\nall = []\n"
                          "try:\n  while True: all.append(os.openpty())\n"
                          "except OSError: print(len(all), flush=True)\n"
                          "input()'",
                          *taker, true);
  BOOST_REQUIRE(begun);
  BOOST_TEST(taker->wait_for_output("64\n"));
  process_request what;
  what.argv = {"true"};
  what.terminal = terminal_size{};
  BOOST_TEST((host.run(*box, what).refused() == ec::exhausted));
  auto end = [&]() -> boost::asio::awaitable<result<void>> {
    (*begun)->close_input();
    co_return result<void>{};
  };
  host.call(end());
  (void)taker->wait();
  BOOST_TEST(host.run(*box, what).code() == 0);
}

BOOST_AUTO_TEST_CASE(its_end_hangs_up_on_what_it_started) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  terminal shell{host, *box, {"/bin/sh"}};
  shell.type("(trap 'echo hung >hung; exit' HUP; echo rea''dy; while :; do "
             "sleep 0.01; done)\n");
  BOOST_TEST(shell.shows("ready"));
  BOOST_TEST(shell.kill().has_value());
  BOOST_TEST(shell.seen->wait()->signaled);
  // All of it goes with it, the hard way.
  BOOST_TEST(host.shell(*box, "pgrep -x sleep || echo none").out == "none\n");
}

BOOST_AUTO_TEST_CASE(a_flood_is_ended_by_a_key) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  // Nothing of it is kept but its size and its last words.
  auto mutex = std::make_shared<std::mutex>();
  auto bytes = std::make_shared<std::size_t>();
  auto last = std::make_shared<std::string>();
  process_events events;
  events.output = [=](output_stream, std::string_view some) {
    std::lock_guard lock{*mutex};
    *bytes += some.size();
    *last = (*last + std::string{some});
    last->erase(0, last->size() - std::min<std::size_t>(last->size(), 8'192));
  };
  events.ended = [](result<process_end>) {};
  process_request what;
  what.argv = {"/bin/bash", "--norc"};
  what.terminal = terminal_size{};
  what.input = "yes\n";
  auto begun = host.call(host.provider().start(
    *box, what, false, std::move(events), within(std::chrono::seconds{30})));
  BOOST_REQUIRE(begun);
  BOOST_TEST(eventually([&] {
    std::lock_guard lock{*mutex};
    return *bytes > 4u << 20;
  }));
  auto interrupt = [&]() -> boost::asio::awaitable<result<void>> {
    co_return (*begun)->write("\x03"
                              "echo after $?\n");
  };
  BOOST_TEST(host.call(interrupt()).has_value());
  BOOST_TEST(eventually([&] {
    std::lock_guard lock{*mutex};
    return last->find("after 130") != std::string::npos;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
