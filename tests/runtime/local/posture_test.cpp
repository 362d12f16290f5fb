#include "runtime/local/isolation/cgroup_files.hpp"
#include "tests/runtime/local/at_work.hpp"

#include <boost/test/unit_test.hpp>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

// A running tool and its pid 1, looked at from outside, thread by thread: what
// the kernel says about them, compared with lists that are complete. In every
// way that a run's process can come to be.

using namespace troupe;
using namespace troupe::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(posture)

namespace {

std::string read(const fs::path& path) {
  return isolation::read_text(path).value_or("");
}

void check_identity(std::map<std::string, std::string>& s) {
  std::istringstream uids{s["Uid"]};
  std::istringstream gids{s["Gid"]};
  for (int i = 0; i < 4; ++i) { // real, effective, saved, file system
    unsigned uid = 0, gid = 0;
    uids >> uid;
    gids >> gid;
    if (::geteuid() == 0) {
      BOOST_TEST(uid >= 65'536u); // no user of this host
      BOOST_TEST(gid == uid);
    } else {
      BOOST_TEST(uid == ::geteuid());
    }
  }
  if (::geteuid() == 0)
    BOOST_TEST((s["Groups"].empty() || s["Groups"] == " "), s["Groups"]);
}

void check_task(const fs::path& task, const way& w) {
  BOOST_TEST_CONTEXT(task) {
    auto s = status_of(task);
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
      BOOST_TEST(s[set] == "0000000000000000", set);
    BOOST_TEST(s["NoNewPrivs"] == "1");
    BOOST_TEST(s["Seccomp"] == "2");
    // A world of its own, where the host allows one, has one more.
    const bool may_have_world = w.level == isolation_level::strict
      && (w.host == warm_python || w.host == warm_node);
    BOOST_TEST((s["Seccomp_filters"] == "1"
                || (may_have_world && s["Seccomp_filters"] == "2")));
    BOOST_TEST(s["TracerPid"] == "0");
    check_identity(s);
    for (const char* space :
         {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
      auto its = link_of(task / "ns" / space);
      BOOST_TEST(!its.empty(), space);
      BOOST_TEST(its != link_of(fs::path{"/proc/self/ns"} / space), space);
    }
    BOOST_TEST(link_of(task / "root") == "/");
  }
}

/// The targets of its descriptors, by number.
std::map<int, std::string> descriptors_of(const fs::path& process) {
  std::map<int, std::string> all;
  for (const auto& entry : fs::directory_iterator(process / "fd"))
    all[std::atoi(entry.path().filename().c_str())] = link_of(entry.path());
  return all;
}

void check_descriptors_of_tool(const fs::path& process, const way& w) {
  auto all = descriptors_of(process);
  BOOST_TEST(all[0].ends_with("/null"));
  BOOST_TEST(all[1].starts_with("pipe:"));
  BOOST_TEST(all[2].starts_with("pipe:"));
  if (w.has_channel)
    BOOST_TEST(all[3].starts_with("socket:"));
  // An event loop of Node makes its own: nothing that leads outside.
  for (auto& [number, target] : all)
    if (number > 2 + int{w.has_channel})
      BOOST_TEST((target.starts_with("anon_inode:[event")
                  || target.starts_with("pipe:") || target.ends_with("/null")),
                 number << " is " << target);
}

/// Nobody answers questions that the filter asks from in here, and there is no
/// way out of the tree: no directory, no file but of its own groups, one number
/// of its own pid namespace, to be read, and the word of a run's own world.
void check_descriptors_of_pid_1(const fs::path& process, const way& w) {
  for (auto& [number, target] : descriptors_of(process)) {
    bool known = target.ends_with("/null") || target.starts_with("socket:")
      || target == "anon_inode:[signalfd]"
      || target.find("memory.") != std::string::npos
      || target.find("pids.events") != std::string::npos
      || target.ends_with("/kernel/ns_last_pid")
      || (w.level == isolation_level::strict
          && target == "anon_inode:[eventfd]");
    BOOST_TEST(known, number << " is " << target);
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

void check_limits(const fs::path& process) {
  auto limits = limits_of(process);
  BOOST_TEST(limits["Max core file size"] == "0 0");
  BOOST_TEST(limits["Max open files"] == "100 100");
  BOOST_TEST(limits["Max msgqueue size"] == "0 0");
  BOOST_TEST(limits["Max realtime priority"] == "0 0");
  BOOST_TEST(limits["Max nice priority"] == "0 0");
  BOOST_TEST(limits["Max pending signals"] == "1024 1024");
  BOOST_TEST(limits["Max locked memory"] == "8388608 8388608");
  BOOST_TEST(limits["Max file size"] == "1048576 1048576");
}

void check_mounts(const fs::path& process) {
  std::set<std::string> places;
  std::istringstream lines{read(process / "mountinfo")};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::string id, parent, device, root, place, options;
    fields >> id >> parent >> device >> root >> place >> options;
    places.insert(place);
    BOOST_TEST(options.find("nosuid") != std::string::npos, place);
    bool is_device = place.starts_with("/dev/") && place != "/dev/shm";
    if (!is_device)
      BOOST_TEST(options.find("nodev") != std::string::npos, place);
    bool may_write = place == "/tmp" || place == "/dev/shm";
    BOOST_TEST((options.starts_with(may_write ? "rw" : "ro")), place);
    // Nothing that happens outside reaches in, nothing from inside reaches out.
    BOOST_TEST(line.find("shared:") == std::string::npos, place);
    BOOST_TEST(line.find("master:") == std::string::npos, place);
  }
  for (const char* place :
       {"/", "/usr", "/proc", "/tmp", "/dev/shm", "/dev/null", "/dev/zero",
        "/dev/full", "/dev/random", "/dev/urandom", "/opt/troupe/runners"})
    BOOST_TEST(places.erase(place) == 1u, place);
  for (const auto& rest : places)
    BOOST_TEST(rest.starts_with("/etc/"), rest);
}

void check_groups(const fs::path& process, local_host& host) {
  auto name = fs::path{host.backend().instance_directory()}.filename().string();
  std::istringstream lines{read(process / "cgroup")};
  int ours = 0;
  for (std::string line; std::getline(lines, line);)
    ours += line.find("troupe-" + name + "/r") != std::string::npos ? 1 : 0;
  auto has = [](const char* layer) { return lacks(layer).empty(); };
  BOOST_TEST(ours >= int{has("memory_limit") || has("process_limit")});
  if (has("memory_limit"))
    BOOST_TEST(read(process / "cgroup").find("troupe-" + name)
               != std::string::npos);
}

} // namespace

BOOST_AUTO_TEST_CASE(is_what_it_should_be_for_every_thread) {
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      at_work run{w};
      std::size_t tasks = 0;
      for (int pid : run.processes()) {
        auto process = fs::path{"/proc"} / std::to_string(pid);
        for (const auto& task : fs::directory_iterator(process / "task")) {
          check_task(task, w);
          ++tasks;
        }
        BOOST_TEST(read(process / "uid_map").find("1000") != std::string::npos);
        check_groups(process, run.host());
      }
      BOOST_TEST(tasks >= run.processes().size());
    }
}

BOOST_AUTO_TEST_CASE(holds_exactly_these_descriptors) {
  if (!sees_everything()) {
    BOOST_TEST_MESSAGE("skipped: only root may look at them");
    return;
  }
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      at_work run{w};
      check_descriptors_of_tool(run.tool(), w);
      check_descriptors_of_pid_1(
        "/proc/" + std::to_string(run.processes().front()), w);
    }
}

BOOST_AUTO_TEST_CASE(sees_exactly_these_mounts) {
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      at_work run{w};
      check_mounts(run.tool());
      if (sees_everything())
        check_mounts("/proc/" + std::to_string(run.processes().front()));
    }
}

BOOST_AUTO_TEST_CASE(is_bounded_in_every_process) {
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      at_work run{w, [](prepared_run& r) {
                    r.limits.open_files = 100;
                    r.limits.disk_bytes = 1u << 20;
                  }};
      check_limits(run.tool());
    }
}

BOOST_AUTO_TEST_CASE(knows_nothing_of_the_environment_of_the_engine) {
  ::setenv("TROUPE_TEST_SECRET", "of the engine", 1);
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      local_options options;
      at_work run{w};
      for (int pid : run.processes())
        BOOST_TEST(
          read("/proc/" + std::to_string(pid) + "/environ").find("SECRET")
          == std::string::npos);
    }
  ::unsetenv("TROUPE_TEST_SECRET");
}

BOOST_AUTO_TEST_CASE(hides_pid_1_from_the_tool) {
  if (!sees_everything())
    return;
  // Not dumpable: what is in its /proc belongs to root, whoever it runs as.
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      at_work run{w};
      struct stat about {};
      auto path = "/proc/" + std::to_string(run.processes().front()) + "/fd";
      BOOST_REQUIRE(::stat(path.c_str(), &about) == 0);
      BOOST_TEST(about.st_uid == 0u);
    }
}

BOOST_AUTO_TEST_CASE(gives_two_runs_two_users_and_two_worlds) {
  TROUPE_NEEDS("own_uid");
  for (const auto& w : ways())
    BOOST_TEST_CONTEXT(w.name) {
      at_work one{w};
      at_work two{w};
      BOOST_TEST(status_of(one.tool())["Uid"] != status_of(two.tool())["Uid"]);
      for (const char* space :
           {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"})
        BOOST_TEST(link_of(one.tool() / "ns" / space)
                     != link_of(two.tool() / "ns" / space),
                   space);
    }
}

BOOST_AUTO_TEST_SUITE_END()
