#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <csignal>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(processes_in_a_sandbox)

BOOST_AUTO_TEST_CASE(tell_their_output_and_how_they_ended) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = host.shell(*box, "echo out; echo err >&2; exit 7");
  BOOST_TEST(seen.code() == 7);
  BOOST_TEST(seen.out == "out\n");
  BOOST_TEST(seen.err == "err\n");
  auto killed = host.shell(*box, "kill -TERM $$");
  BOOST_REQUIRE(killed.good());
  BOOST_TEST(killed.how->end->signaled);
  BOOST_TEST(killed.how->end->signal == SIGTERM);
  for (int code : {0, 1, 127, 255})
    BOOST_TEST(host.shell(*box, "exit " + std::to_string(code)).code() == code);
}

BOOST_AUTO_TEST_CASE(have_the_input_variables_and_directory_they_were_given) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.env.emplace("OF_THE_SANDBOX", secret{"one"});
  wanted.env.emplace("BOTH", secret{"sandbox"});
  living box{host, std::move(wanted)};
  process_request what;
  what.argv
    = {"/bin/sh", "-c", "cat; pwd; echo $OF_THE_SANDBOX $BOTH $HOME; id -un"};
  what.input = std::string(200'000, 'x') + "\n";
  what.env = {{"BOTH", "process"}};
  auto seen = host.run(*box, what);
  BOOST_TEST(seen.code() == 0);
  BOOST_TEST(seen.out
             == what.input + "/home/user\none process /home/user\nuser\n");
  what.cwd = "/tmp";
  what.argv = {"pwd"};
  BOOST_TEST(host.run(*box, what).out == "/tmp\n");
}

BOOST_AUTO_TEST_CASE(that_cannot_begin_say_why_and_never_began) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  const auto refuse = [&](process_request what, const char* field) {
    auto seen = host.run(*box, std::move(what));
    BOOST_TEST((seen.refused() == ec::invalid_request));
    BOOST_TEST(!seen.how->may_have_begun);
    BOOST_REQUIRE(!seen.how->end.error().fields.empty());
    BOOST_TEST(seen.how->end.error().fields.front().pointer == field);
  };
  refuse({{"/no/such/program"}, {}, {}, {}}, "/argv");
  refuse({{}, {}, {}, {}}, "/argv");
  refuse({{"true"}, {}, {}, "/no/such/place"}, "/cwd");
  refuse({{"true"}, {}, {}, "relative"}, "/cwd");
  sandbox_handle other{"sb_that_never_was"};
  BOOST_TEST((host.shell(other, ":").refused() == ec::not_found));
}

BOOST_AUTO_TEST_CASE(see_what_earlier_ones_left) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_TEST(host.shell(*box, "echo kept > file; mkdir -p /tmp/a/b").code()
             == 0);
  BOOST_TEST(host.shell(*box, "cat file; ls /tmp/a").out == "kept\nb\n");
  living other{host};
  BOOST_TEST(host.shell(*other, "ls /home/user /tmp").out
             == "/home/user:\n\n/tmp:\n");
}

BOOST_AUTO_TEST_CASE(run_twenty_at_once) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.processes = 256; // each has a parent, and a pipe of two
  living box{host, std::move(wanted)};
  // Each waits until all have begun.
  std::vector<std::shared_ptr<process_watch>> all;
  for (int i = 0; i < 20; ++i) {
    auto& seen = all.emplace_back(std::make_shared<process_watch>());
    auto begun = host.start(*box,
                            "n=" + std::to_string(i)
                              + "; touch began-$n; until [ $(ls began-* | wc "
                                "-l) = 20 ]; do :; done; echo $n; exit $n",
                            *seen);
    BOOST_REQUIRE_MESSAGE(begun, to_string(begun.error()));
  }
  for (int i = 0; i < 20; ++i) {
    auto end = all[static_cast<std::size_t>(i)]->wait();
    BOOST_REQUIRE(end);
    BOOST_TEST(end->exit_code == i);
    BOOST_TEST(all[static_cast<std::size_t>(i)]->output()
               == std::to_string(i) + "\n");
  }
}

BOOST_AUTO_TEST_CASE(take_input_while_they_run) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto begun = host.start(*box, "while read l; do echo got $l; done; echo end",
                          *seen, true);
  BOOST_REQUIRE(begun);
  const auto on_strand = [&](auto work) {
    auto coroutine
      = [&]() -> boost::asio::awaitable<result<void>> { co_return work(); };
    return host.call(coroutine());
  };
  BOOST_TEST(on_strand([&] { return (*begun)->write("one\n"); }).has_value());
  BOOST_TEST(seen->wait_for_output("got one\n"));
  BOOST_TEST(on_strand([&] { return (*begun)->write("two\n"); }).has_value());
  BOOST_TEST(seen->wait_for_output("got two\n"));
  BOOST_TEST((*begun)->pid() > 1);
  on_strand([&]() -> result<void> {
    (*begun)->close_input();
    return {};
  });
  auto end = seen->wait();
  BOOST_REQUIRE(end);
  BOOST_TEST(end->exit_code == 0);
  BOOST_TEST(seen->output() == "got one\ngot two\nend\n");
  auto late = on_strand([&] { return (*begun)->write("three\n"); });
  BOOST_REQUIRE(!late);
  BOOST_TEST((late.error().code == ec::conflict));
}

BOOST_AUTO_TEST_CASE(that_read_nothing_bound_what_is_written_to_them) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto begun = host.start(*box, "sleep 1000", *seen, true);
  BOOST_REQUIRE(begun);
  auto flood = [&]() -> boost::asio::awaitable<result<void>> {
    for (int i = 0; i < 100; ++i)
      if (auto taken = (*begun)->write(std::string(100'000, 'x')); !taken)
        co_return taken;
    co_return result<void>{};
  };
  auto taken = host.call(flood());
  BOOST_REQUIRE(!taken);
  BOOST_TEST((taken.error().code == ec::exhausted));
}

BOOST_AUTO_TEST_CASE(get_signals_with_all_that_they_started) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto begun = host.start(
    *box,
    "trap 'echo usr1; exit 3' USR1; echo on; while :; do sleep 0.01; done",
    *seen);
  BOOST_REQUIRE(begun && seen->wait_for_output("on"));
  auto coroutine = [&](int number) -> boost::asio::awaitable<result<void>> {
    co_return (*begun)->signal(number);
  };
  BOOST_TEST(!host.call(coroutine(0)).has_value());
  BOOST_TEST(!host.call(coroutine(65)).has_value());
  BOOST_TEST(host.call(coroutine(SIGUSR1)).has_value());
  auto end = seen->wait();
  BOOST_REQUIRE(end);
  // Its sleep went first, or it did: both are told of the signal.
  BOOST_TEST(end->exit_code == 3);
  BOOST_TEST(!host.call(coroutine(SIGUSR1)).has_value());
}

BOOST_AUTO_TEST_CASE(that_take_too_long_go_with_their_whole_tree) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  // A daemon: another session, and an orphan.
  auto seen = host.shell(*box,
                         "(setsid sh -c 'trap : TERM INT HUP; echo $$ > daemon;"
                         " while :; do sleep 0.05; done' &) ; sleep 1000",
                         milliseconds{700});
  BOOST_TEST((seen.refused() == ec::timeout));
  BOOST_TEST(seen.how->may_have_begun);
  auto after = host.shell(*box, "kill -0 $(cat daemon)");
  BOOST_TEST(after.code() != 0);
}

BOOST_AUTO_TEST_CASE(left_behind_on_purpose_go_on) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = host.shell(*box,
                         "(while [ ! -e stop ]; do sleep 0.01; done; echo done "
                         "> done) >/dev/null 2>&1 & echo left");
  BOOST_TEST(seen.out == "left\n");
  BOOST_TEST(host.shell(*box, "ls").out == "");
  host.shell(*box, "touch stop");
  BOOST_TEST(
    eventually([&] { return host.read(*box, "/home/user/done").has_value(); }));
}

BOOST_AUTO_TEST_CASE(that_are_scripts_print_their_answer) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  sandbox_script script;
  script.runner = std::make_shared<const std::string>("x = 6\n");
  script.rest = secret{"print(x * 7)\n"};
  std::string out;
  output_sink sink = [&](output_stream, std::string_view text) { out += text; };
  auto how = host.call(host.provider().run_script(
    *box, language::python, script, sink, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(how.end);
  BOOST_TEST(out == "42\n");
}

BOOST_AUTO_TEST_SUITE_END()
