// Thousands of runs, well and badly ended, and what is left of them: nothing.
// TROUPE_LEAK_RUNS says how many; the default is what every build can afford.
// In a process of its own: the hosts of other tests come and go as they like.
#include "tests/runtime/local/footprint.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

using namespace troupe;
using namespace troupe::test;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace fs = std::filesystem;

// A program that nobody told otherwise leaves them out.
BOOST_AUTO_TEST_SUITE(leaks, *boost::unit_test::disabled())

namespace {

prepared_run a_tool(std::string source) {
  prepared_run run;
  run.kind = run_kind::source;
  run.lang = language::python;
  run.organization = default_organization();
  run.name = run.function = "f";
  run.source = std::move(source);
  run.limits.wall = seconds{60};
  return run;
}

/// What tools do when nobody minds.
prepared_run ordinary(std::size_t i) {
  switch (i % 10) {
  case 0:
    return shell("echo x > /tmp/x; cat /tmp/x");
  case 1:
    return a_tool("import os\ndef f():\n  open('/tmp/left', 'w').write('x')\n"
                  "  return len(os.listdir('/tmp'))\n"); // a dirty slot
  case 2:
    return a_tool("import subprocess\ndef f():\n"
                  "  subprocess.Popen(['sleep', '1000'])\n  return 1\n");
  case 3: {
    auto run = a_tool("def f():\n  return 1\n");
    run.isolation = isolation_level::strict;
    return run;
  }
  case 4: {
    auto run
      = a_tool("import socket\ndef f():\n"
               "  return socket.socket().connect_ex(('127.0.0.1', 1))\n");
    run.network = {network_mode::listed, {"127.0.0.1"}};
    return run;
  }
  case 5:
    return a_tool("def f():\n  raise ValueError('as tools do')\n");
  default:
    return a_tool("def f():\n  return sum(range(1000))\n");
  }
}

enum class fate { spared, timeout, cancelled, memory, cpu };

prepared_run doomed(fate f) {
  auto sleeper = std::string{"import time\ndef f():\n  print('on', flush=True)"
                             "\n  time.sleep(1000)\n"};
  if (f == fate::timeout) {
    auto run = a_tool(sleeper);
    run.limits.wall = milliseconds{100};
    return run;
  }
  if (f == fate::memory) {
    auto run = a_tool("def f():\n  x = bytearray(1 << 30)\n");
    run.limits.memory_bytes = 96u << 20;
    return run;
  }
  if (f == fate::cpu) {
    auto run = shell("while :; do :; done");
    run.limits.cpu = milliseconds{100};
    return run;
  }
  return a_tool(sleeper); // to be cancelled
}

std::string_view reason_for(fate f) {
  switch (f) {
  case fate::timeout:
    return "wall_timeout";
  case fate::cancelled:
    return "cancelled";
  case fate::memory:
    return "memory_limit";
  case fate::cpu:
    return "cpu_timeout";
  case fate::spared:
    break;
  }
  return "exited";
}

/// Runs in batches; `after` is called between them with how many are done.
void run_many(local_host& host, std::size_t count, bool with_deaths,
              const std::function<void(std::size_t)>& after) {
  constexpr std::size_t batch = 20;
  for (std::size_t done = 0; done < count; done += batch) {
    struct one {
      std::shared_ptr<watcher> seen;
      run_id id;
      fate f;
    };
    std::vector<one> all;
    for (std::size_t i = done; i < std::min(count, done + batch); ++i) {
      auto f = with_deaths && i % 5 == 0 ? static_cast<fate>(1 + i / 5 % 4)
                                         : fate::spared;
      if (f == fate::memory && !host.backend().probe().has("memory_limit"))
        f = fate::timeout;
      auto run = f == fate::spared ? ordinary(i) : doomed(f);
      run.id = run_id::make();
      all.push_back({host.start(run), run.id, f});
    }
    for (auto& o : all) {
      if (o.f == fate::cancelled && o.seen->wait_for_output("on"))
        host.backend().cancel(o.id, exit_reason::cancelled);
      auto outcome = o.seen->wait();
      BOOST_REQUIRE(outcome.answer);
      auto reason = std::string{to_string(outcome.answer->reason)};
      if (reason == "raised") // by itself, too
        reason = "exited";
      BOOST_TEST((reason == reason_for(o.f) || reason == "lost"),
                 reason << " instead of " << reason_for(o.f) << " "
                        << outcome.answer->detail);
    }
    after(std::min(count, done + batch));
  }
}

/// The whole life of a host that carries `count` runs.
void live(std::size_t count, bool with_deaths, std::size_t warden_every) {
  const footprint before;
  std::string instance, state;
  std::vector<std::string> groups;
  std::uint64_t early_kib = 0, late_kib = 0;
  std::size_t early_groups = 0, late_groups = 0;
  {
    local_host host;
    instance = host.backend().instance_directory();
    state = host.state_dir();
    auto next_death = warden_every;
    run_many(host, count, with_deaths, [&](std::size_t done) {
      if (early_kib == 0 && done * 5 >= count) { // pools have filled by then
        early_kib = status_number("VmRSS:\t");
        early_groups = groups_made(host);
      }
      if (warden_every != 0 && done >= next_death && done < count) {
        next_death += warden_every;
        if (const auto warden = host.backend().warden_pid(); warden > 0)
          ::kill(warden, SIGKILL);
      }
    });
    late_kib = status_number("VmRSS:\t");
    late_groups = groups_made(host);
    groups = groups_of(instance);
    BOOST_TEST(host.run(shell("echo fine")).stdout_text == "fine\n");
  }
  BOOST_TEST_MESSAGE(count << " runs: " << early_kib << " KiB after a fifth, "
                           << late_kib << " KiB at the end; groups "
                           << early_groups << ", then " << late_groups);
  check_rest(before, footprint{}, "after the backend has gone");
  BOOST_TEST(!fs::exists(state));
  for (const auto& g : groups)
    BOOST_TEST(!fs::exists(g), g);
  // What the pools of the allocator keep; a leak of 1 KiB a run shows in
  // 10,000.
  constexpr std::uint64_t allowance_kib = 6 * 1024;
  BOOST_TEST(late_kib <= early_kib + allowance_kib);
  constexpr std::size_t more_groups = 40; // as many hierarchies as runs at once
  BOOST_TEST(late_groups <= early_groups + more_groups);
}

std::size_t runs() {
  return from_environment("TROUPE_LEAK_RUNS", 300);
}

} // namespace

BOOST_AUTO_TEST_CASE(leaves_nothing_after_many_runs) {
  live(runs(), false, 0);
}

BOOST_AUTO_TEST_CASE(leaves_nothing_when_every_fifth_run_and_the_warden_die) {
  live(runs(), true, std::min<std::size_t>(500, runs() / 3));
}

BOOST_AUTO_TEST_CASE(sleeps_side_by_side_and_not_in_waves) {
  const auto count = from_environment("TROUPE_SLEEPERS", 100);
  local_options options;
  // A thousand fit into what an engine is opened with.
  options.max_running
    = std::max(options.max_running, static_cast<std::uint32_t>(count));
  options.zygote.max_slots
    = std::max(options.zygote.max_slots, static_cast<std::uint32_t>(count));
  local_host host{options};
  BOOST_REQUIRE(eventually([&] {
    return host.backend().slots().trouble.empty()
      && host.backend().slots().zygotes > 0;
  }));
  const auto sleep_all = [&](const char* length) {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<watcher>> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(host.start(a_tool("import time\ndef f():\n  time.sleep("
                                      + std::string{length} + ")\n")));
    for (auto& seen : all) {
      auto outcome = seen->wait();
      BOOST_REQUIRE(outcome.answer);
      BOOST_TEST(to_string(outcome.answer->reason) == "exited",
                 outcome.answer->detail);
    }
    return std::chrono::steady_clock::now() - begun;
  };
  sleep_all("1"); // makes the slots
  const auto took = sleep_all("1");
  BOOST_TEST_MESSAGE(
    count << " sleepers of 1 s ended in "
          << std::chrono::duration_cast<milliseconds>(took).count() << " ms");
  BOOST_TEST((took >= seconds{1}));
  // Two waves would take two seconds; a busy machine gets some of the second.
  BOOST_TEST((took < seconds{2} + milliseconds{10} * count));
}

BOOST_AUTO_TEST_CASE(cuts_64_mebibytes_of_output_without_growing) {
  const auto source = "import os\ndef f():\n  piece = b'x' * 65536\n"
                      "  for _ in range(1024):\n    rest = piece\n"
                      "    while rest: rest = rest[os.write(1, rest):]\n"
                      "  return 'done'\n";
  local_host host;
  BOOST_REQUIRE(eventually([&] {
    return host.backend().slots().trouble.empty()
      && host.backend().slots().zygotes > 0;
  }));
  host.run(a_tool("def f():\n  return 1\n"));
  const auto before = status_number("VmRSS:\t");
  for (bool warm : {true, false}) {
    auto run = a_tool(source);
    if (!warm)
      run.interpreter = "/usr/bin/python3"; // of its own: not in a slot
    run.limits.output_bytes = 1u << 20;
    auto r = host.run(run);
    BOOST_TEST(r.value_json == "\"done\"", r.stderr_text);
    BOOST_TEST(r.stdout_text.size() == std::size_t{1} << 20);
    BOOST_TEST(r.stdout_truncated);
    BOOST_TEST(r.usage.stdout_bytes == std::uint64_t{64} << 20);
  }
  const auto after = status_number("VmRSS:\t");
  BOOST_TEST_MESSAGE("memory of the engine: " << before << " KiB, then "
                                              << after << " KiB");
  BOOST_TEST(after <= before + 16 * 1024);
}

BOOST_AUTO_TEST_SUITE_END()
