#include "runtime/local/isolation/cgroup_files.hpp"
#include "tests/runtime/local/support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

// A running tool and its pid 1, looked at from outside, thread by thread: what
// the kernel says about them, compared with a list that is complete.

using namespace troupe;
using namespace troupe::test;
namespace fs = std::filesystem;

namespace {

/// Every process in a group belongs to a run then. What lives in a warm slot
/// is looked at by the zygotes' own tests.
local_options cold_only() {
  local_options options;
  options.zygote.enabled = false;
  return options;
}

std::string read(const fs::path& path) {
  return isolation::read_text(path).value_or("");
}

std::string link_of(const fs::path& path) {
  std::error_code code;
  return fs::read_symlink(path, code);
}

/// The fields of /proc/PID/task/TID/status.
std::map<std::string, std::string> status_of(const fs::path& task) {
  std::map<std::string, std::string> fields;
  std::istringstream lines{read(task / "status")};
  for (std::string line; std::getline(lines, line);) {
    auto colon = line.find(":\t");
    if (colon != std::string::npos)
      fields[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return fields;
}

/// Every process of the instance's runs, as the host numbers it.
std::vector<int> processes_of(local_host& host) {
  std::set<int> pids;
  std::ifstream record{host.backend().instance_directory() + "/cgroups"};
  for (std::string group; std::getline(record, group);) {
    std::error_code code;
    for (const auto& run : fs::directory_iterator(group, code)) {
      std::ifstream file{run.path() / "cgroup.procs"};
      for (int pid = 0; file >> pid;)
        pids.insert(pid);
    }
  }
  return {pids.begin(), pids.end()};
}

void check_task(const fs::path& task) {
  BOOST_TEST_CONTEXT(task) {
    auto s = status_of(task);
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
      BOOST_TEST(s[set] == "0000000000000000", set);
    BOOST_TEST(s["NoNewPrivs"] == "1");
    BOOST_TEST(s["Seccomp"] == "2");
    BOOST_TEST(s["Groups"].find_first_not_of(" 0123456789")
               == std::string::npos);
    std::istringstream uids{s["Uid"]};
    std::istringstream gids{s["Gid"]};
    for (int i = 0; i < 4; ++i) {
      unsigned uid = 0, gid = 0;
      uids >> uid;
      gids >> gid;
      if (::geteuid() == 0) {
        BOOST_TEST(uid >= local_options{}.first_uid);
        BOOST_TEST(gid == uid);
      } else {
        BOOST_TEST(uid == ::geteuid());
      }
    }
    if (::geteuid() == 0)
      BOOST_TEST((s["Groups"].empty() || s["Groups"] == " "), s["Groups"]);
    for (const char* space :
         {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"})
      BOOST_TEST(link_of(task / "ns" / space)
                   != link_of(fs::path{"/proc/self/ns"} / space),
                 space);
  }
}

std::map<std::string, std::string> limits_of(const fs::path& process) {
  std::map<std::string, std::string> soft_and_hard;
  std::istringstream lines{read(process / "limits")};
  for (std::string line; std::getline(lines, line);) {
    auto name = line.substr(0, 26);
    name.erase(name.find_last_not_of(' ') + 1);
    std::istringstream rest{
      line.substr(std::min<std::size_t>(26, line.size()))};
    std::string soft, hard;
    rest >> soft >> hard;
    soft_and_hard[name] = soft + " " + hard;
  }
  return soft_and_hard;
}

} // namespace

BOOST_AUTO_TEST_SUITE(posture)

BOOST_AUTO_TEST_CASE(is_what_it_should_be_for_every_thread) {
  TROUPE_NEEDS("process_limit");
  local_host host{cold_only()};
  for (const auto& make :
       {shell("echo on; read x < /dev/zero; sleep 1000"),
        python("import threading, time\n"
               "for i in range(3):\n"
               "  threading.Thread(target=time.sleep, args=(1000,)).start()\n"
               "print('on', flush=True)\n"),
        node("console.log('on'); setInterval(() => {}, 1000)")}) {
    auto run = make;
    run.id = run_id::make();
    auto seen = host.start(run);
    BOOST_REQUIRE(seen->wait_for_output("on"));
    auto pids = processes_of(host);
    BOOST_REQUIRE_MESSAGE(pids.size() >= 2, "pid 1 and the tool");
    for (int pid : pids) {
      auto process = fs::path{"/proc"} / std::to_string(pid);
      for (const auto& task : fs::directory_iterator(process / "task"))
        check_task(task);
      // pid 1 and the tool have one root, and it is not ours.
      BOOST_TEST(read(process / "uid_map").find("1000") != std::string::npos);
    }
    host.backend().cancel(run.id, exit_reason::cancelled);
    seen->wait();
  }
}

BOOST_AUTO_TEST_CASE(shows_exactly_these_mounts) {
  auto r
    = shared_host().run(shell("cut -d' ' -f5,6 /proc/self/mountinfo | sort"));
  std::set<std::string> places;
  std::istringstream lines{r.stdout_text};
  for (std::string place, options; lines >> place >> options;) {
    places.insert(place);
    BOOST_TEST(options.find("nosuid") != std::string::npos, place);
    bool is_device = place.starts_with("/dev/") && place != "/dev/shm";
    if (!is_device)
      BOOST_TEST(options.find("nodev") != std::string::npos, place);
    bool may_write = is_device || place == "/tmp" || place == "/dev/shm";
    BOOST_TEST((options.starts_with(may_write ? "rw" : "ro")), place);
  }
  for (const char* place :
       {"/", "/usr", "/proc", "/tmp", "/dev/shm", "/dev/null", "/dev/zero",
        "/dev/full", "/dev/random", "/dev/urandom", "/opt/troupe/runners"})
    BOOST_TEST(places.erase(place) == 1u, place);
  for (const auto& rest : places)
    BOOST_TEST((rest.starts_with("/etc/")), rest);
}

BOOST_AUTO_TEST_CASE(bounds_every_process) {
  TROUPE_NEEDS("process_limit");
  local_host host{cold_only()};
  auto run = shell("echo on; sleep 1000");
  run.id = run_id::make();
  run.limits.open_files = 100;
  auto seen = host.start(run);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  auto pids = processes_of(host);
  BOOST_REQUIRE(!pids.empty());
  auto limits = limits_of(fs::path{"/proc"} / std::to_string(pids.back()));
  BOOST_TEST(limits["Max core file size"] == "0 0");
  BOOST_TEST(limits["Max open files"] == "100 100");
  BOOST_TEST(limits["Max msgqueue size"] == "0 0");
  BOOST_TEST(limits["Max realtime priority"] == "0 0");
  host.backend().cancel(run.id, exit_reason::cancelled);
  seen->wait();
}

BOOST_AUTO_TEST_CASE(gives_two_runs_two_users_and_two_worlds) {
  TROUPE_NEEDS("own_uid");
  local_host host{cold_only()};
  auto first = host.start(shell("echo on; sleep 1000"));
  auto second = host.start(shell("echo on; sleep 1000"));
  BOOST_REQUIRE(first->wait_for_output("on"));
  BOOST_REQUIRE(second->wait_for_output("on"));
  std::map<std::string, std::set<std::string>> users_by_space;
  for (int pid : processes_of(host)) {
    auto process = fs::path{"/proc"} / std::to_string(pid);
    users_by_space[link_of(process / "ns/pid")].insert(
      status_of(process)["Uid"]);
  }
  BOOST_REQUIRE(users_by_space.size() == 2u);
  auto one = users_by_space.begin();
  auto two = std::next(one);
  BOOST_TEST(one->second.size() == 1u);
  BOOST_TEST(two->second.size() == 1u);
  BOOST_TEST((one->second != two->second));
}

BOOST_AUTO_TEST_SUITE_END()
