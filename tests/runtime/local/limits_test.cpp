#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>
#include <unistd.h>

// Every limit ends its run with a reason of its own, and soon.

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(limits_of_a_run)

namespace {

std::string reason_of(const run_result& r) {
  return std::string{to_string(r.reason)};
}

prepared_run python_tool(std::string source) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = language::python;
  run.name = run.function = "f";
  run.source = std::move(source);
  run.limits.wall = seconds{20};
  return run;
}

} // namespace

BOOST_AUTO_TEST_CASE(ends_what_sleeps_too_long) {
  auto run = shell("sleep 1000");
  run.limits.wall = milliseconds{300};
  auto before = std::chrono::steady_clock::now();
  auto r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "wall_timeout");
  BOOST_TEST((std::chrono::steady_clock::now() - before < seconds{3}));
}

BOOST_AUTO_TEST_CASE(ends_what_ignores_every_signal) {
  auto run = shell("trap '' TERM INT HUP; while :; do sleep 1000; done");
  run.limits.wall = milliseconds{300};
  BOOST_TEST(reason_of(shared_host().run(run)) == "wall_timeout");
}

BOOST_AUTO_TEST_CASE(ends_what_stopped_itself) {
  auto run = shell("kill -STOP $$");
  run.limits.wall = milliseconds{300};
  BOOST_TEST(reason_of(shared_host().run(run)) == "wall_timeout");
}

BOOST_AUTO_TEST_CASE(ends_what_computes_too_long) {
  auto run = shell("while :; do :; done");
  run.limits.cpu = milliseconds{300};
  auto r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "cpu_timeout");
  BOOST_TEST((r.usage.cpu >= milliseconds{300}));
  BOOST_TEST((r.usage.cpu < seconds{3}));
}

BOOST_AUTO_TEST_CASE(counts_the_time_of_all_processes_together) {
  TROUPE_NEEDS("cpu_clock");
  auto run = shell("for i in 1 2 3 4; do (while :; do :; done) & done; wait");
  run.limits.cpu = milliseconds{400};
  BOOST_TEST(reason_of(shared_host().run(run)) == "cpu_timeout");
}

BOOST_AUTO_TEST_CASE(ends_what_wants_too_much_memory) {
  auto run = python("x = bytearray(1 << 30)\nprint(len(x))");
  run.limits.memory_bytes = 64u << 20;
  auto r = shared_host().run(run);
  if (lacks("memory_limit").empty())
    BOOST_TEST(reason_of(r) == "memory_limit");
  BOOST_TEST(r.stdout_text == "");
}

BOOST_AUTO_TEST_CASE(counts_files_in_memory_as_memory) {
  TROUPE_NEEDS("memory_limit");
  auto run = python("import os\n"
                    "fd = os.memfd_create('x')\n"
                    "while True: os.write(fd, bytes(1 << 20))\n");
  run.limits.memory_bytes = 64u << 20;
  run.limits.disk_bytes = 1u << 30;
  BOOST_TEST(reason_of(shared_host().run(run)) == "memory_limit");
}

BOOST_AUTO_TEST_CASE(counts_its_tmp_as_memory) {
  TROUPE_NEEDS("memory_limit");
  auto run = python("f = open('/tmp/x', 'wb')\n"
                    "while True: f.write(bytes(1 << 20))\n");
  run.limits.memory_bytes = 64u << 20;
  run.limits.disk_bytes = 1u << 30;
  BOOST_TEST(reason_of(shared_host().run(run)) == "memory_limit");
}

BOOST_AUTO_TEST_CASE(survives_a_fork_bomb) {
  TROUPE_NEEDS("process_limit");
  auto run = python("import os\n"
                    "while True: os.fork()\n");
  run.limits.processes = 20;
  run.limits.wall = seconds{3};
  auto r = shared_host().run(run);
  bool known = r.reason == exit_reason::pids_limit
    || r.reason == exit_reason::wall_timeout;
  BOOST_TEST(known, to_string(r.reason));
  BOOST_TEST(shared_host().run(shell("echo fine")).stdout_text == "fine\n");
}

BOOST_AUTO_TEST_CASE(names_the_limit_of_processes) {
  auto r = shared_host().run([] {
    auto run = python("import subprocess\n"
                      "all = [subprocess.Popen(['sleep', '1000'])"
                      " for i in range(30)]\n");
    run.limits.processes = 10;
    return run;
  }());
  if (lacks("process_limit").empty())
    BOOST_TEST(reason_of(r) == "pids_limit");
  BOOST_TEST((r.status == run_status::error));
}

BOOST_AUTO_TEST_CASE(counts_threads_as_processes) {
  TROUPE_NEEDS("process_limit");
  auto run = python("import threading, time\n"
                    "for i in range(100):\n"
                    "  threading.Thread(target=time.sleep, args=(1000,),"
                    " daemon=True).start()\n");
  run.limits.processes = 20;
  BOOST_TEST(reason_of(shared_host().run(run)) == "pids_limit");
}

BOOST_AUTO_TEST_CASE(names_the_limit_of_its_disk) {
  auto run = shell("dd if=/dev/zero of=/tmp/x bs=1M count=100 2>/dev/null");
  run.limits.disk_bytes = 4u << 20;
  auto r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "disk_limit");
}

BOOST_AUTO_TEST_CASE(shares_one_bound_between_tmp_and_shared_memory) {
  auto run = shell("dd if=/dev/zero of=/dev/shm/x bs=1M count=3 2>/dev/null;"
                   "dd if=/dev/zero of=/tmp/x bs=1M count=3 2>/dev/null");
  run.limits.disk_bytes = 4u << 20;
  BOOST_TEST(reason_of(shared_host().run(run)) == "disk_limit");
}

BOOST_AUTO_TEST_CASE(names_the_limit_of_its_files) {
  auto run = python("for i in range(1000): open(f'/tmp/{i}', 'w').close()");
  run.limits.inodes = 50;
  BOOST_TEST(reason_of(shared_host().run(run)) == "disk_limit");
}

BOOST_AUTO_TEST_CASE(names_the_limit_of_a_file) {
  // Beyond it, and all the same nothing is full.
  auto run = shell("exec dd if=/dev/zero of=/tmp/x bs=1 count=1 seek=5M");
  run.limits.disk_bytes = 4u << 20;
  auto r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "disk_limit");
  BOOST_TEST(r.signal == SIGXFSZ);
  BOOST_TEST(r.detail.find("SIGXFSZ") != std::string::npos, r.detail);
  BOOST_TEST(r.notes.empty());
  // Whoever sends it to itself cannot be told from that, but for a full disk.
  r = shared_host().run(shell("kill -XFSZ $$"));
  BOOST_TEST(r.detail.find("SIGXFSZ") != std::string::npos, r.detail);
  run = shell("cat /dev/zero > /tmp/x 2>/dev/null; kill -XFSZ $$");
  run.limits.disk_bytes = 4u << 20;
  r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "disk_limit");
  BOOST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(r.notes[0] == "its /tmp was full");
}

BOOST_AUTO_TEST_CASE(bounds_open_files) {
  auto run = python("import os\n"
                    "n = 0\n"
                    "try:\n"
                    "  while True: os.dup(0); n += 1\n"
                    "except OSError as e: print(n, e.errno)\n");
  run.limits.open_files = 40;
  BOOST_TEST(shared_host().run(run).stdout_text == "37 24\n");
}

BOOST_AUTO_TEST_CASE(cuts_a_flood_of_output_and_goes_on) {
  auto run = shell("head -c 10000000 /dev/zero | tr '\\0' x; exit 0");
  run.limits.output_bytes = 1000;
  auto r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "exited");
  BOOST_TEST(r.stdout_text == std::string(1000, 'x'));
  BOOST_TEST(r.stdout_truncated);
  BOOST_TEST(!r.stderr_truncated);
  BOOST_TEST(r.usage.stdout_bytes == 10'000'000u);
}

BOOST_AUTO_TEST_CASE(ends_a_flood_of_output_when_told_so) {
  local_options options;
  options.end_on_output_limit = true;
  local_host host{options};
  auto run = shell("yes");
  run.limits.output_bytes = 1000;
  auto r = host.run(run);
  BOOST_TEST(reason_of(r) == "output_limit");
  BOOST_TEST(r.stdout_text.size() == 1000u);
}

BOOST_AUTO_TEST_CASE(does_not_wait_for_who_was_left_behind) {
  auto before = std::chrono::steady_clock::now();
  auto r = shared_host().run(
    shell("(setsid sleep 1000 & ) ; (setsid setsid sleep 1000 &) ; echo done"));
  BOOST_TEST(r.stdout_text == "done\n");
  BOOST_TEST(reason_of(r) == "exited");
  BOOST_TEST((std::chrono::steady_clock::now() - before < seconds{5}));
}

BOOST_AUTO_TEST_CASE(reports_the_signal_that_ended_it) {
  auto r = shared_host().run(shell("kill -SEGV $$"));
  BOOST_TEST(reason_of(r) == "signaled");
  BOOST_TEST(r.signal == SIGSEGV);
}

BOOST_AUTO_TEST_CASE(takes_a_signal_for_a_limit_only_where_it_was_used_up) {
  auto r = shared_host().run(shell("kill -XCPU $$"));
  BOOST_TEST(reason_of(r) == "signaled");
  BOOST_TEST(r.signal == SIGXCPU);
  r = shared_host().run(
    python_tool("import os, signal\n"
                "def f():\n  os.kill(os.getpid(), signal.SIGXCPU)\n"));
  BOOST_TEST(reason_of(r) == "signaled");
  BOOST_TEST(r.signal == SIGXCPU);
}

BOOST_AUTO_TEST_CASE(says_of_a_blocked_call_what_the_kernel_said) {
  const auto source = "import os, signal\n"
                      "def f():\n  os.kill(os.getpid(), signal.SIGSYS)\n";
  auto run = python_tool(source);
  auto r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "syscall_blocked");
  BOOST_TEST(r.detail.find("killed by SIGSYS") != std::string::npos, r.detail);
  if (::geteuid() != 0)
    return;
  run.isolation = isolation_level::off; // and no filter
  r = shared_host().run(run);
  BOOST_TEST(reason_of(r) == "signaled");
  BOOST_TEST(r.signal == SIGSYS);
}

BOOST_AUTO_TEST_CASE(cancels_at_once) {
  auto run = shell("echo on; sleep 1000");
  run.id = run_id::make();
  auto seen = shared_host().start(run);
  BOOST_TEST(seen->wait_for_output("on"));
  shared_host().backend().cancel(run.id, exit_reason::cancelled);
  auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(reason_of(*outcome.answer) == "cancelled");
  BOOST_TEST(outcome.may_have_started);
}

BOOST_AUTO_TEST_CASE(says_when_there_is_no_such_program) {
  auto r = shared_host().run(program({"/no/such/program"}));
  BOOST_TEST(reason_of(r) == "start_failed");
  BOOST_TEST(r.detail.find("No such file") != std::string::npos, r.detail);
}

BOOST_AUTO_TEST_CASE(refuses_the_same_run_twice) {
  auto run = shell("sleep 1000");
  run.id = run_id::make();
  auto first = shared_host().start(run);
  auto second = shared_host().start(run)->wait();
  BOOST_REQUIRE(!second.answer);
  BOOST_TEST((second.answer.error().code == ec::conflict));
  shared_host().backend().cancel(run.id, exit_reason::cancelled);
  first->wait();
}

// -- answers -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(takes_no_answer_for_an_error) {
  auto r
    = shared_host().run(python_tool("import os\ndef f():\n  os._exit(0)\n"));
  BOOST_TEST((r.status == run_status::error));
  BOOST_TEST(r.exit_code == 0);
}

BOOST_AUTO_TEST_CASE(takes_a_forged_answer_for_an_error) {
  auto r = shared_host().run(
    python_tool("import os\ndef f():\n  os.write(3, b'{\"value\": 1}' * 100)\n"
                "  os._exit(0)\n"));
  BOOST_TEST((r.status == run_status::error));
}

BOOST_AUTO_TEST_CASE(survives_an_endless_answer) {
  auto run = python_tool(
    "import os\ndef f():\n  while True: os.write(3, bytes(65536))\n");
  run.limits.result_bytes = 1u << 20;
  auto r = shared_host().run(run);
  BOOST_TEST((r.status == run_status::error));
  BOOST_TEST(reason_of(r) == "output_limit");
  BOOST_TEST(r.detail == "it returned more than its 1 MiB of JSON");
}

BOOST_AUTO_TEST_CASE(names_the_limit_of_its_result) {
  auto run = python_tool("def f():\n  return ['x' * 100] * 20000\n");
  run.limits.result_bytes = 1u << 20;
  auto r = shared_host().run(run);
  BOOST_TEST((r.status == run_status::error));
  BOOST_TEST(reason_of(r) == "output_limit");
  BOOST_TEST(r.detail.find("1048576 bytes") != std::string::npos, r.detail);
  run.source = "def f():\n  return ['x' * 100] * 2000\n"; // and the twin
  BOOST_TEST(reason_of(shared_host().run(run)) == "exited");
}

BOOST_AUTO_TEST_CASE(takes_no_error_of_the_tools_for_a_limit) {
  const auto r = shared_host().run(
    python_tool("class ResultTooLarge(Exception): pass\n"
                "def f():\n  raise ResultTooLarge('mine')\n"));
  BOOST_TEST(reason_of(r) == "raised");
  BOOST_TEST(r.failure.name == "ResultTooLarge");
}

BOOST_AUTO_TEST_CASE(survives_descriptors_sent_over_the_channel) {
  auto r = shared_host().run(python_tool(
    "import socket, os, array\n"
    "def f():\n"
    "  s = socket.socket(fileno=os.dup(3))\n"
    "  fds = array.array('i', [0, 1, 2])\n"
    "  s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])\n"
    "  return 1\n"));
  // The byte beside them spoils the frame; nothing else happens.
  BOOST_TEST((r.status == run_status::error));
}

BOOST_AUTO_TEST_CASE(keeps_an_answer_whose_sender_left_a_child_behind) {
  auto r
    = shared_host().run(python_tool("import subprocess\n"
                                    "def f():\n"
                                    "  subprocess.Popen(['sleep', '1000'])\n"
                                    "  return 7\n"));
  BOOST_TEST((r.status == run_status::success));
  BOOST_TEST(r.value_json == "7");
}

BOOST_AUTO_TEST_SUITE_END()
