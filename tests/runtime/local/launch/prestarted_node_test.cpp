// Processes of Node that were started before their run came.
#include "runtime/local/isolation/cgroup_files.hpp"
#include "runtime/runner/program.hpp"
#include "tests/runtime/local/ready_host.hpp"
#include "tests/runtime/local/warm/node_table.hpp"
#include "tests/runtime/local/warm/warm_pair.hpp"
#include "tests/support/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace troupe::test {

BOOST_AUTO_TEST_SUITE(ready_node)

namespace {

namespace fs = std::filesystem;

prepared_run script(std::string source, language lang = language::javascript) {
  return tool(std::move(source), "{}", lang);
}

/// Of the host: the processes below this one that execute Node.
std::vector<pid_t> nodes_below(pid_t parent) {
  std::vector<pid_t> found;
  std::error_code code;
  for (const auto& task : fs::directory_iterator(
         "/proc/" + std::to_string(parent) + "/task", code)) {
    std::ifstream list{task.path() / "children"};
    for (pid_t child = 0; list >> child;) {
      const auto below = nodes_below(child);
      found.insert(found.end(), below.begin(), below.end());
      const auto program
        = fs::read_symlink("/proc/" + std::to_string(child) + "/exe", code);
      if (program.filename().string().starts_with("node"))
        found.push_back(child);
    }
  }
  return found;
}

bool is_alive(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(tell_the_same_of_every_run_as_a_cold_start) {
  local_host host{without_warm_node()};
  auto never = without_warm_node();
  never.ready_node = 0;
  local_host cold_start{never}; // it has compiled as often: traces show that
  auto table = node_table();
  table["its limits"]
    = "const fs = require('fs'); exports.f = () =>"
      " fs.readFileSync('/proc/self/limits', 'utf8').split('\\n')";
  table["its network"]
    = "exports.f = async () => { try { await fetch('http://127.0.0.1:9/');"
      " return 'there' } catch (e) { throw new Error(e.cause.code) } }";
  for (const auto level :
       {isolation_level::standard, isolation_level::strict}) {
    auto like = script("");
    like.isolation = level;
    BOOST_REQUIRE(prepare_for(host, like));
    for (const auto& [name, source] : table) {
      BOOST_TEST_CONTEXT(name << ", " << to_string(level)) {
        auto run = script(source);
        run.isolation = level;
        const auto ready = run_ready(host, run);
        const auto cold = cold_start.run(run);
        BOOST_TEST(essence(ready) == essence(cold));
        BOOST_TEST((ready.network == cold.network));
        BOOST_TEST(ready.detail == cold.detail);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(keep_the_limits_of_a_cold_start) {
  local_host host{without_warm_node()};
  for (const auto& c : node_limits()) {
    if (!lacks(c.layer).empty())
      continue;
    auto run = script(c.source);
    c.narrow(run.limits);
    BOOST_TEST_CONTEXT(c.source) {
      BOOST_REQUIRE(prepare_for(host, run));
      const auto ready = run_ready(host, run);
      const auto cold = cold_host().run(run);
      BOOST_TEST(to_string(ready.reason) == to_string(cold.reason));
      BOOST_TEST(ready.detail == cold.detail);
      BOOST_TEST(to_string(ready.status) == to_string(cold.status));
      BOOST_TEST(ready.stdout_text == cold.stdout_text);
      BOOST_TEST(ready.failure.name == cold.failure.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(serve_one_run_each_whoever_it_is_of) {
  local_host host{without_warm_node()};
  const auto source
    = "const fs = require('fs'); exports.f = () => {"
      " const r = [globalThis.before, process.env.MARK,"
      " fs.existsSync('/tmp/mark'), fs.existsSync('/dev/shm/m')];"
      " globalThis.before = 1; fs.writeFileSync('/tmp/mark', '');"
      " fs.writeFileSync('/dev/shm/m', ''); return r }";
  BOOST_REQUIRE(prepare_for(host, script("")));
  std::set<std::string> numbers;
  for (int i = 0; i < 4; ++i) {
    auto run = script(source);
    run.organization = organization_id::make();
    run.env["MARK"] = secret{"mark-" + std::to_string(i)};
    BOOST_TEST(run_ready(host, run).value_json
               == "[null,\"mark-" + std::to_string(i) + "\",false,false]");
    numbers.insert(
      run_ready(host, script("exports.f = () => Math.random()")).value_json);
  }
  BOOST_TEST(numbers.size() == 4u);
}

BOOST_AUTO_TEST_CASE(hold_nothing_of_the_run_that_they_were_started_after) {
  TROUPE_NEEDS("private_tree")
  local_host host{without_warm_node()};
  auto run = script("exports.f = () => 'the-source-of-somebody'");
  run.args_json = R"({})";
  run.env["TOKEN"] = secret{"the-token-of-somebody"};
  run.organization = organization_id::make();
  host.run(run);
  host.run(run);
  BOOST_REQUIRE(has_waiting(host, 2));
  std::vector<pid_t> waiting;
  BOOST_REQUIRE(eventually([&] { // the source is being compiled, perhaps
    waiting = nodes_below(host.backend().warden_pid());
    return waiting.size() == 2;
  }));
  for (const auto pid : waiting) {
    const auto home = "/proc/" + std::to_string(pid);
    const auto told = isolation::read_text(home + "/environ").value_or("")
      + isolation::read_text(home + "/cmdline").value_or("");
    BOOST_TEST(told.find("serve.cjs") != told.npos); // one may look
    BOOST_TEST(told.find("somebody") == told.npos);
    BOOST_TEST(told.find("TOKEN") == told.npos);
    BOOST_TEST(told.find(run.organization.str()) == told.npos);
  }
}

BOOST_AUTO_TEST_CASE(are_not_charged_for_the_time_that_they_waited) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  BOOST_REQUIRE(has_waiting(host, 2)); // they took a while to get there
  const auto begun = std::chrono::steady_clock::now();
  const auto result = run_ready(host, script("exports.f = () => 1"));
  BOOST_TEST((result.usage.wall <= std::chrono::steady_clock::now() - begun));
  BOOST_TEST(result.usage.wall.count() > 0);
}

BOOST_AUTO_TEST_CASE(leave_runs_of_another_shape_to_a_cold_start) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  const auto carried = host.backend().ready_nodes().runs;
  auto closed = script("exports.f = () => 2");
  closed.network.mode = network_mode::off;
  auto small = script("exports.f = () => 2");
  small.limits.memory_bytes /= 2;
  auto off = script("exports.f = () => 2");
  off.isolation = isolation_level::off;
  auto shown = script("exports.f = () => 2");
  shown.mounts.push_back({"/usr/share", "/opt/share", false});
  auto elsewhere = script("exports.f = () => 2");
  elsewhere.working_dir = "/usr";
  for (const auto& run : {closed, small, off, shown, elsewhere}) {
    BOOST_TEST(host.run(run).value_json == "2");
    BOOST_TEST(host.backend().ready_nodes().runs == carried);
  }
  // None of them came twice in a row: the others are still served.
  run_ready(host, script("exports.f = () => 1"));
  // This one does.
  BOOST_REQUIRE(prepare_for(host, small));
  BOOST_TEST(run_ready(host, small).value_json == "2");
}

BOOST_AUTO_TEST_CASE(are_started_after_the_first_run_and_end_when_none_comes) {
  auto options = without_warm_node();
  options.ready_idle = std::chrono::milliseconds{300};
  options.ready_node = 3;
  local_host host{options};
  BOOST_TEST(host.run(shell("echo x")).stdout_text == "x\n");
  auto now = host.backend().ready_nodes();
  BOOST_TEST(now.waiting + now.coming == 0u);
  host.run(script("exports.f = () => 1"));
  now = host.backend().ready_nodes();
  BOOST_TEST(now.waiting + now.coming <= 3u);
  BOOST_TEST(now.runs == 0u);
  BOOST_REQUIRE(eventually([&] {
    const auto later = host.backend().ready_nodes();
    return later.waiting + later.coming == 0;
  }));
  BOOST_REQUIRE(eventually(
    [&] { return nodes_below(host.backend().warden_pid()).empty(); }));
  BOOST_TEST(host.backend().ready_nodes().deaths == 0u);
}

BOOST_AUTO_TEST_CASE(are_replaced_when_they_die_waiting) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  BOOST_REQUIRE(has_waiting(host, 2));
  for (const auto pid : nodes_below(host.backend().warden_pid()))
    ::kill(pid, SIGKILL);
  BOOST_REQUIRE(
    eventually([&] { return host.backend().ready_nodes().deaths == 2; }));
  BOOST_TEST(host.run(script("exports.f = () => 7")).value_json == "7");
  BOOST_REQUIRE(has_waiting(host, 2));
  BOOST_TEST(run_ready(host, script("exports.f = () => 8")).value_json == "8");
}

BOOST_AUTO_TEST_CASE(are_not_started_for_ever_when_they_cannot_live) {
  auto options = without_warm_node();
  options.node = "/usr/bin/false";
  local_host host{options};
  for (int i = 0; i < 6; ++i) {
    BOOST_TEST(
      (host.run(script("exports.f = () => 1")).status == run_status::error));
    BOOST_REQUIRE(eventually([&] {
      const auto now = host.backend().ready_nodes();
      return now.waiting + now.coming == 0;
    }));
  }
  const auto deaths = host.backend().ready_nodes().deaths;
  BOOST_TEST(deaths >= 1u);
  BOOST_TEST(deaths <= 4u); // two at a time
}

BOOST_AUTO_TEST_CASE(take_over_when_no_warm_node_can_be_had) {
  tests::temporary_directory place;
  fs::permissions(place.path(), fs::perms{0755});
  fs::create_directory(place / "bin");
  // Another program to the addon, the same to everybody else.
  std::ofstream{place / "bin/node"}
    << "#!/bin/sh\ncase \"$*\" in *boot.cjs*) exit 9;; esac\n"
       "exec /usr/bin/node \"$@\"\n";
  fs::permissions(place / "bin/node", fs::perms{0755});
  local_options options;
  options.zygote.gathered_pages = false; // it would be loaded into the shell
  options.node = (place / "bin/node").string();
  local_host host{options};
  BOOST_TEST(host.run(script("exports.f = () => 1")).value_json == "1");
  BOOST_REQUIRE(eventually(
    [&] { return host.backend().slots(zygote::family::node).restarts > 0; }));
  BOOST_REQUIRE(prepare_for(host, script("")));
  BOOST_TEST(run_ready(host, script("exports.f = () => 2")).value_json == "2");
  auto typed = tool("export function f(n: number): number { return n * 2 }",
                    R"({"n": 21})", language::typescript);
  BOOST_TEST(run_ready(host, typed).value_json == "42");
}

BOOST_AUTO_TEST_CASE(are_not_there_where_node_is_warm,
                     *boost::unit_test::precondition(has_warm_node)) {
  BOOST_REQUIRE(warm_is_ready(zygote::family::node));
  warm_host().run(script("exports.f = () => 1"));
  const auto now = warm_host().backend().ready_nodes();
  BOOST_TEST(now.waiting + now.coming + now.running == 0u);
  BOOST_TEST(now.runs + now.deaths == 0u);
}

BOOST_AUTO_TEST_CASE(are_there_again_when_their_warden_has_died) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  for (std::uint64_t i = 1; i <= 3; ++i) { // as often as one would give up
    BOOST_REQUIRE(has_waiting(host, 2));
    ::kill(living_warden(host), SIGKILL);
    BOOST_REQUIRE(
      eventually([&] { return host.backend().ready_nodes().deaths == 2 * i; }));
    BOOST_TEST(host.run(script("exports.f = () => 1")).value_json == "1");
  }
  BOOST_REQUIRE(has_waiting(host, 2));
  BOOST_TEST(run_ready(host, script("exports.f = () => 2")).value_json == "2");
}

BOOST_AUTO_TEST_CASE(lose_a_run_with_their_warden_and_say_so) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  auto run = script("exports.f = () => { console.log('on');"
                    " return new Promise((r) => setTimeout(r, 60000)) }");
  auto seen = host.start(run);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  BOOST_TEST(host.backend().ready_nodes().running == 1u);
  ::kill(living_warden(host), SIGKILL);
  const auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(to_string(outcome.answer->reason) == "lost");
  BOOST_TEST(outcome.may_have_started);
}

BOOST_AUTO_TEST_CASE(are_cancelled_like_any_other) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  auto run = script("exports.f = () => { console.log('on'); for (;;); }");
  run.id = run_id::make();
  auto seen = host.start(run);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  BOOST_TEST(host.backend().ready_nodes().running == 1u);
  host.backend().cancel(run.id, exit_reason::cancelled);
  const auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(to_string(outcome.answer->reason) == "cancelled");
  BOOST_TEST(host.backend().ready_nodes().running == 0u);
}

BOOST_AUTO_TEST_CASE(leave_nothing_behind_a_crowd) {
  local_host host{without_warm_node()};
  BOOST_REQUIRE(prepare_for(host, script("")));
  const auto crowd = [&host] {
    std::vector<std::shared_ptr<watcher>> all;
    for (int i = 0; i < 12; ++i)
      all.push_back(
        host.start(script("exports.f = () => " + std::to_string(i))));
    for (int i = 0; i < 12; ++i) {
      const auto outcome = all[static_cast<std::size_t>(i)]->wait();
      BOOST_REQUIRE(outcome.answer);
      BOOST_TEST(outcome.answer->value_json == std::to_string(i));
    }
    BOOST_REQUIRE(has_waiting(host, 2));
  };
  const auto descriptors
    = [] { return std::distance(fs::directory_iterator{"/proc/self/fd"}, {}); };
  crowd();
  const auto before = host.backend().ready_nodes();
  const auto open = descriptors();
  crowd();
  // What was compiled meanwhile may still be ending.
  BOOST_TEST(eventually([&] { return descriptors() == open; }));
  const auto after = host.backend().ready_nodes();
  BOOST_TEST(after.runs >= before.runs + 2); // those that waited, at least
  BOOST_TEST(after.running == 0u);
  BOOST_TEST(after.deaths == 0u);
}

BOOST_AUTO_TEST_CASE(load_while_they_wait_what_a_run_may_need) {
  if (!troupe::script::typescript_available())
    return; // nothing takes so long that it would be worth it
  local_host host{without_warm_node()};
  const auto look
    = script("exports.f = () => Object.keys(require('module')"
             "._cache).some((n) => n.endsWith('transpiler.cjs'))");
  BOOST_TEST(cold_host().run(look).value_json == "false");
  BOOST_REQUIRE(prepare_for(host, look));
  BOOST_TEST(run_ready(host, look).value_json == "true");
}

BOOST_AUTO_TEST_CASE(can_be_switched_off) {
  auto options = without_warm_node();
  options.ready_node = 0;
  local_host host{options};
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(host.run(script("exports.f = () => 1")).value_json == "1");
  const auto now = host.backend().ready_nodes();
  BOOST_TEST(now.waiting + now.coming + now.runs == 0u);
}

BOOST_AUTO_TEST_CASE(end_with_the_backend) {
  std::vector<pid_t> all;
  {
    local_host host{without_warm_node()};
    host.run(script("exports.f = () => 1"));
    BOOST_REQUIRE(has_waiting(host, 2));
    all = nodes_below(host.backend().warden_pid());
    BOOST_TEST(all.size() == 2u);
  }
  for (const auto pid : all)
    BOOST_TEST(!is_alive(pid));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe::test
