// The engine and the warden are killed in the middle of everything.
#include "tests/runtime/local/footprint.hpp"
#include "tests/runtime/local/sandbox/sandboxes.hpp"
#include "tests/runtime/local/sandbox/serve_sandboxes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

using namespace troupe;
using namespace troupe::test;
using std::chrono::seconds;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(crashes_around_a_sandbox)

namespace {

/// A moment that another round does not hit. Nothing is waited for: what is
/// under way then is what is to be broken off.
void some_moment(std::mt19937& dice) {
  ::poll(nullptr, 0, std::uniform_int_distribution<int>{0, 60}(dice));
}

/// Another engine of this program, busy with sandboxes.
struct busy_engine {
  explicit busy_engine(char* state_dir) {
    int ends[2];
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    char self[] = "test_local";
    char mode[] = "--engine-with-sandboxes";
    char* argv[] = {self, mode, state_dir, nullptr};
    BOOST_REQUIRE(
      ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv, environ)
      == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';)
      instance += c;
    ::close(ends[0]);
  }
  ~busy_engine() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  pid_t pid = 0;
  std::string instance;
};

std::vector<unique_fd> watched(const std::vector<int>& pids) {
  std::vector<unique_fd> all;
  for (int pid : pids)
    all.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return all;
}

/// Dead, if not reaped yet: that is up to the one that has adopted them.
bool all_gone(const std::vector<unique_fd>& processes) {
  return std::ranges::all_of(processes, [](const unique_fd& process) {
    pollfd end{process.get(), POLLIN, 0};
    return !process || ::poll(&end, 1, 0) == 1;
  });
}

} // namespace

BOOST_AUTO_TEST_CASE(of_the_engine_leave_nothing_behind) {
  TROUPE_NEEDS("user_namespace");
  std::mt19937 dice{42};
  for (std::size_t round = 0; round < from_environment("TROUPE_CRASHES", 5);
       ++round) {
    char name[] = "/tmp/troupe-test-XXXXXX";
    BOOST_REQUIRE(::mkdtemp(name) != nullptr);
    std::string instance;
    std::vector<std::string> groups;
    {
      busy_engine engine{name};
      instance = engine.instance;
      BOOST_REQUIRE(fs::exists(instance));
      groups = groups_of(instance);
      some_moment(dice);
    }
    BOOST_TEST(eventually([&] { return !fs::exists(instance); }));
    for (const auto& group : groups)
      BOOST_TEST(!fs::exists(group), group);
    fs::remove_all(name);
  }
}

BOOST_AUTO_TEST_CASE(
  of_engine_and_warden_at_once_are_swept_by_the_next_engine) {
  TROUPE_NEEDS("user_namespace");
  std::mt19937 dice{7};
  char name[] = "/tmp/troupe-test-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(name) != nullptr);
  std::vector<std::string> instances, groups;
  for (int round = 0; round < 3; ++round) {
    busy_engine engine{name};
    instances.push_back(engine.instance);
    std::ranges::copy(groups_of(engine.instance), std::back_inserter(groups));
    some_moment(dice);
    for (int pid : processes_below(engine.pid))
      if (status_line(pid, "PPid") == std::to_string(engine.pid))
        ::kill(pid, SIGKILL); // its warden
  }
  {
    auto options = without_interpreters();
    options.state_dir = name;
    local_host next{options};
    sandbox_host host{next};
    living box{host};
    BOOST_TEST(host.shell(*box, "echo on").out == "on\n");
    for (const auto& instance : instances)
      BOOST_TEST(!fs::exists(instance), instance);
  }
  for (const auto& group : groups)
    BOOST_TEST(!fs::exists(group), group);
  fs::remove_all(name);
}

BOOST_AUTO_TEST_CASE(of_the_warden_end_every_call_and_leave_nothing) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  std::mt19937 dice{23};
  busy_sandboxes all{backend.backend().strand(),
                     host.provider().shared_from_this(), 3};
  std::vector<unique_fd> seen;
  for (std::size_t round = 0; round < from_environment("TROUPE_CRASHES", 5);
       ++round) {
    const auto enough = all.made + 2;
    BOOST_TEST(eventually([&] { return all.made > enough; }));
    some_moment(dice);
    const auto warden = backend.backend().warden_pid();
    if (warden <= 0)
      continue;
    for (auto& process : watched(processes_below(warden)))
      seen.push_back(std::move(process));
    ::kill(warden, SIGKILL);
  }
  all.over = true;
  BOOST_REQUIRE(eventually([&] { return all.users == 0; }));
  BOOST_TEST(eventually([&] { return all_gone(seen); }));
  BOOST_TEST(eventually([&] {
    return host.call(host.provider().list(within(seconds{1}))).value().empty();
  }));
}

BOOST_AUTO_TEST_CASE(of_the_warden_let_no_deletion_answer_too_soon) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  auto wanted = sandbox_host::request();
  wanted.limits.processes = 256;
  const auto warden = living_warden(backend);
  auto box = host.make(std::move(wanted));
  auto many = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(
    box, "for i in $(seq 150); do sleep 1000 & done; echo on; wait", *many));
  BOOST_REQUIRE(many->wait_for_output("on"));
  const auto inside = watched(processes_below(warden));
  BOOST_TEST(inside.size() > 150u);
  ::kill(warden, SIGKILL);
  host.destroy(box);
  BOOST_TEST(all_gone(inside));
}

BOOST_AUTO_TEST_SUITE_END()
