#include "runtime/local/isolation/cgroup_files.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <thread>

// What is left when a run, a warden or an engine has gone: nothing.

using namespace troupe;
using namespace troupe::test;
namespace fs = std::filesystem;

extern char** environ;

BOOST_AUTO_TEST_SUITE(life_and_death)

namespace {

/// A host on which every process in a group belongs to a run: the slots of
/// warm interpreters live there as well, and come and go as they like.
local_options cold_only() {
  local_options options;
  options.zygote.enabled = false;
  return options;
}

/// The cgroup directories that an instance wrote down.
std::vector<std::string> groups_of(const std::string& instance) {
  std::ifstream file{instance + "/cgroups"};
  std::vector<std::string> paths;
  for (std::string line; std::getline(file, line);)
    paths.push_back(line);
  return paths;
}

/// Every process in them, as the host numbers it.
std::set<int> processes_in(const std::vector<std::string>& groups) {
  std::set<int> pids;
  for (const auto& group : groups) {
    std::error_code code;
    for (const auto& run : fs::directory_iterator(group, code)) {
      std::ifstream file{run.path() / "cgroup.procs"};
      for (int pid = 0; file >> pid;)
        pids.insert(pid);
    }
  }
  return pids;
}

std::size_t count_entries(const fs::path& directory) {
  std::error_code code;
  return static_cast<std::size_t>(
    std::distance(fs::directory_iterator(directory, code), {}));
}

std::size_t lines_of(const char* path) {
  auto text = isolation::read_text(path).value_or("");
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// A zombie is dead: it only waits for whoever adopted it to take note.
bool is_alive(int pid) {
  auto stat = isolation::read_text("/proc/" + std::to_string(pid) + "/stat");
  auto state = stat ? stat->find(") ") : std::string::npos;
  return state != std::string::npos && stat->at(state + 2) != 'Z'
    && stat->at(state + 2) != 'X';
}

/// Numbers that must be the same before and after.
struct footprint {
  std::size_t descriptors = count_entries("/proc/self/fd");
  std::size_t mounts = lines_of("/proc/self/mountinfo");
  std::size_t children
    = isolation::read_text("/proc/thread-self/children").value_or("").size();
  std::size_t processes = 0;
  std::size_t directories = 0;
};

footprint look(local_host& host) {
  footprint f;
  const auto& instance = host.backend().instance_directory();
  f.processes = processes_in(groups_of(instance)).size();
  f.directories = count_entries(instance);
  return f;
}

} // namespace

BOOST_AUTO_TEST_CASE(leaves_nothing_after_hundreds_of_runs) {
  local_host host{cold_only()};
  host.run(shell("true"));
  auto before = look(host);
  constexpr int rounds = 50;
  for (int i = 0; i < rounds; ++i) {
    std::vector<std::shared_ptr<watcher>> all;
    for (int kind = 0; kind < 4; ++kind) {
      auto run = shell(kind == 0     ? "echo fine"
                         : kind == 1 ? "setsid sleep 1000 & sleep 1000"
                         : kind == 2 ? "echo x > /tmp/x; kill -9 $$"
                                     : "sleep 1000 & exit 3");
      run.id = run_id::make();
      run.limits.wall = std::chrono::milliseconds{kind == 1 ? 50 : 20'000};
      all.push_back(host.start(run));
    }
    for (auto& run : all)
      BOOST_TEST(run->wait().answer.has_value());
  }
  auto after = look(host);
  // Other hosts of this process let go of theirs when they like.
  BOOST_TEST(after.descriptors <= before.descriptors);
  BOOST_TEST(after.mounts == before.mounts);
  BOOST_TEST(after.children == before.children);
  BOOST_TEST(after.processes == 0u);
  BOOST_TEST(after.directories == before.directories);
}

BOOST_AUTO_TEST_CASE(loses_its_runs_when_the_warden_dies_and_goes_on) {
  local_host host{cold_only()};
  auto run = shell("echo on; exec sleep 1000");
  auto seen = host.start(run);
  BOOST_TEST(seen->wait_for_output("on"));
  auto groups = groups_of(host.backend().instance_directory());
  auto pids = processes_in(groups);
  if (!groups.empty())
    BOOST_TEST(pids.size() == 2u); // pid 1 and the tool
  ::kill(living_warden(host), SIGKILL);
  auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(to_string(outcome.answer->reason) == "lost");
  BOOST_TEST(outcome.may_have_started);
  // It is told only when nothing is left.
  for (int pid : pids)
    BOOST_TEST(!is_alive(pid));
  BOOST_TEST(host.run(shell("echo again")).stdout_text == "again\n");
}

BOOST_AUTO_TEST_CASE(cleans_up_when_it_stops) {
  std::string instance;
  std::vector<std::string> groups;
  std::shared_ptr<watcher> seen;
  {
    local_host host;
    seen = host.start(shell("echo on; sleep 1000"));
    BOOST_TEST(seen->wait_for_output("on"));
    instance = host.backend().instance_directory();
    groups = groups_of(instance);
  }
  auto outcome = seen->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(to_string(outcome.answer->reason) == "cancelled");
  BOOST_TEST(!fs::exists(instance));
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
}

BOOST_AUTO_TEST_CASE(cleans_up_when_the_engine_is_killed) {
  char name[] = "/tmp/troupe-test-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(name) != nullptr);
  int ends[2];
  BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  char self[] = "test_local";
  char mode[] = "--engine-with-a-sleeper";
  char* argv[] = {self, mode, name, nullptr};
  pid_t engine = 0;
  BOOST_REQUIRE(
    ::posix_spawn(&engine, "/proc/self/exe", &actions, nullptr, argv, environ)
    == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  // It says where it lives once its run has begun.
  std::string instance;
  for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';)
    instance += c;
  ::close(ends[0]);
  BOOST_REQUIRE(fs::exists(instance));
  auto groups = groups_of(instance);
  auto pids = processes_in(groups);
  ::kill(engine, SIGKILL);
  ::waitpid(engine, nullptr, 0);
  BOOST_TEST(eventually([&] { return !fs::exists(instance); }));
  for (int pid : pids)
    BOOST_TEST(!is_alive(pid));
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
  fs::remove_all(name);
}

BOOST_AUTO_TEST_CASE(sweeps_what_a_dead_instance_left_and_only_that) {
  local_host living;
  auto dead = living.state_dir() + "/local-deadbeef";
  fs::create_directories(dead);
  std::ofstream{dead + "/lock"};
  std::ofstream{dead + "/cgroups"} << "/no/such/group\n";
  auto alive = living.backend().instance_directory();
  ::kill(living_warden(living), SIGKILL); // its successor sweeps
  BOOST_TEST(eventually([&] { return !fs::exists(dead); }));
  BOOST_TEST(fs::exists(alive));
  BOOST_TEST(living.run(shell("echo on")).stdout_text == "on\n");
}

BOOST_AUTO_TEST_CASE(keeps_a_run_that_comes_with_the_death_of_the_warden) {
  local_host host;
  const auto dying = living_warden(host);
  std::promise<std::shared_ptr<watcher>> begun;
  // On its strand, so that the run is next and the death is not heard of.
  boost::asio::post(host.backend().strand(), [&] {
    // It must not read the run: then it might have begun.
    siginfo_t stopped{}, dead{};
    ::kill(dying, SIGSTOP);
    ::waitid(P_PID, static_cast<id_t>(dying), &stopped, WSTOPPED | WNOWAIT);
    begun.set_value(host.start(shell("echo on")));
    ::kill(dying, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(dying), &dead, WEXITED | WNOWAIT);
  });
  const auto outcome = begun.get_future().get()->wait();
  BOOST_REQUIRE(outcome.answer);
  BOOST_TEST(outcome.answer->stdout_text == "on\n", outcome.answer->detail);
}

BOOST_AUTO_TEST_CASE(replaces_a_warden_that_hangs) {
  local_options options;
  options.warden_answers = std::chrono::seconds{3};
  local_host host{options};
  BOOST_REQUIRE(eventually(
    [&] { return host.backend().slots(zygote::family::python).zygotes > 0; }));
  const auto hung = living_warden(host);
  ::kill(hung, SIGSTOP);
  prepared_run run; // warm: its slot would have to be leased
  run.kind = run_kind::source;
  run.lang = language::python;
  run.name = run.function = "f";
  run.source = "def f():\n  return 7\n";
  const auto r = host.run(run);
  BOOST_TEST(r.value_json == "7", r.detail);
  BOOST_TEST(host.backend().warden_pid() != hung);
}

// -- fail closed -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(counts_missing_control_groups_as_missing_layers) {
  // The prober wants a process with one thread.
  const auto child = ::fork();
  if (child == 0) {
    const isolation::cgroup_site nowhere;
    isolation::probe_context context;
    context.groups = &nowhere;
    context.uid = ::geteuid();
    context.gid = ::getegid();
    const auto why = isolation::probe_host(context).missing_core();
    const bool told = why.find("memory_limit is not available") != why.npos
      && why.find("process_limit is not available") != why.npos
      && why.find("Delegate=yes") != why.npos;
    ::_exit(told ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(tells_whoever_waits_for_a_warden_that_nobody_wants) {
  char name[] = "/tmp/troupe-test-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(name) != nullptr);
  local_options options;
  options.state_dir = name;
  options.kill_grace = std::chrono::milliseconds{1};
  boost::asio::io_context io;
  auto backend = local_backend::open(io.get_executor(), options);
  BOOST_REQUIRE(backend.has_value());
  // Nobody serves it yet: it is stopped before its warden can say a word.
  (*backend)->stop();
  std::thread server{[&] { io.run(); }};
  auto probed = (*backend)->wait_until_probed();
  BOOST_TEST(!probed);
  BOOST_TEST(probed.error().text == "the local backend stops");
  server.join();
  fs::remove_all(name);
}

// P8
BOOST_AUTO_TEST_CASE(refuses_to_run_without_a_core_layer) {
  for (std::string layer :
       {"seccomp", "user_namespace", "network_namespace", "memory_limit"}) {
    local_options options;
    options.pretend_absent = {layer};
    local_host host{options};
    auto ready = host.backend().ready();
    BOOST_TEST(!ready, layer);
    BOOST_TEST(ready.error().text.find(layer) != std::string::npos);
    auto r = host.run(shell("echo never"));
    BOOST_TEST(to_string(r.reason) == "start_failed");
    BOOST_TEST(r.detail.find(layer) != std::string::npos, r.detail);
    BOOST_TEST(r.stdout_text == "");
  }
}

// P8
BOOST_AUTO_TEST_CASE(runs_without_a_layer_only_when_asked_and_says_so) {
  local_options options;
  options.pretend_absent = {"seccomp"};
  options.isolation = isolation_level::best_effort;
  local_host host{options};
  auto run = python("import ctypes\n"
                    "print(ctypes.CDLL(None).syscall(101, 0, 0, 0, 0))\n");
  run.isolation = isolation_level::best_effort;
  auto r = host.run(run);
  // The filter's twin: without it the call succeeds.
  BOOST_TEST(r.stdout_text == "0\n");
  auto layer
    = std::ranges::find(r.isolation.layers, "seccomp", &isolation_layer::name);
  BOOST_REQUIRE((layer != r.isolation.layers.end()));
  BOOST_TEST((layer->state == layer_state::absent));
}

BOOST_AUTO_TEST_SUITE_END()
