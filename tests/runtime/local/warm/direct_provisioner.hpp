#pragma once

#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/root_tree.hpp"
#include "runtime/local/isolation/seccomp.hpp"
#include "runtime/local/warm/slot_sandbox.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe::test {

using shown_list = std::vector<std::pair<std::string, std::string>>;

/// Grounds made by the test itself, without a warden and without cgroups: what
/// is left is the zygote and its slots. Needs root or user namespaces.
class direct_provisioner final : public zygote::slot_provisioner {
public:
  /// Directories of the host that every slot sees, and where.
  direct_provisioner(boost::asio::any_io_executor executor, shown_list shown);
  ~direct_provisioner() override;

  void prepare(const launch& like,
               std::function<void(result<zygote::slot_sandbox>)> done) override;
  void release(std::uint64_t ticket, std::function<void()> gone) override;
  std::uint64_t spawn_interpreter(std::vector<std::string> argv,
                                  unique_fd control,
                                  std::function<void(error)> told) override;
  void kill_interpreter(std::uint64_t number) override;

  const std::vector<pid_t>& interpreters() const { return interpreters_; }
  std::size_t prepared = 0;
  std::size_t released = 0;
  /// Makes the next slot_provisioner unusable: an isolation step will say no.
  bool spoil = false;
  /// As on a host that lacks what it takes: strict slots serve once.
  bool makes_namespaces = true;
  /// What the memory group of the next slot_provisioner says; -1: there is
  /// none.
  int memory_events = -1;
  /// And what it says of the most it ever had.
  int memory_peak = -1;

private:
  boost::asio::any_io_executor executor_;
  shown_list shown_;
  std::vector<pid_t> interpreters_;
  std::uint64_t next_ = 0;
};

/// The host's python3 behind shims and links, and the directory it needs.
struct python_install {
  std::string executable;
  std::string prefix; // "": inside of /usr
};

/// A range that the product does not use.
inline constexpr std::uint32_t first_uid = 1'800'000'000;

inline isolation::plan plan_for(const prepared_run& run,
                                const shown_list& shown,
                                bool makes_namespaces) {
  isolation::plan plan;
  if (run.isolation == isolation_level::off) {
    plan.layers = {.user = false,
                   .mounts = false,
                   .pids = false,
                   .network = false,
                   .ipc = false,
                   .uts = false,
                   .cgroup_view = false,
                   .capabilities = false,
                   .landlock = false,
                   .seccomp = false};
    return plan;
  }
  plan.tree = isolation::standard_tree();
  for (const auto& [host, inside] : shown)
    plan.tree.shown.push_back({host, inside, false, false, false, -1});
  plan.tree.scratch_bytes = run.limits.disk_bytes;
  plan.tree.scratch_inodes = run.limits.inodes;
  plan.rlimits
    = isolation::standard_rlimits({.open_files = run.limits.open_files});
  plan.namespaces_per_run
    = run.isolation == isolation_level::strict && makes_namespaces;
  isolation::filter_options options;
  options.makes_namespaces = plan.namespaces_per_run;
  plan.filter = isolation::build_filter(options);
  if (plan.namespaces_per_run)
    plan.run_filter = isolation::build_run_filter();
  return plan;
}

inline direct_provisioner::direct_provisioner(
  boost::asio::any_io_executor executor, shown_list shown)
    : executor_{std::move(executor)}, shown_{std::move(shown)} {}

inline direct_provisioner::~direct_provisioner() {
  for (auto pid : interpreters_) {
    ::kill(pid, SIGKILL); // our own child, not reaped yet
    ::waitpid(pid, nullptr, 0);
  }
}

inline void direct_provisioner::prepare(
  const launch& like, std::function<void(result<zygote::slot_sandbox>)> done) {
  const auto plan = plan_for(*like.run, shown_, makes_namespaces);
  const auto bytes = isolation::encode(plan);
  zygote::slot_sandbox made;
  made.ticket = ++next_;
  made.plan.reset(::memfd_create("plan", MFD_CLOEXEC));
  const auto size = spoil ? bytes.size() / 2 : bytes.size();
  if (::write(made.plan.get(), bytes.data(), size) < 0)
    throw std::runtime_error{"memfd"};
  made.clone_flags = isolation::clone_flags(plan.layers);
  made.new_user = plan.layers.user;
  made.privileged = ::geteuid() == 0;
  made.uid = made.privileged ? first_uid + static_cast<std::uint32_t>(next_)
                             : ::geteuid();
  made.gid = made.privileged ? made.uid : ::getegid();
  made.namespaces_per_run = plan.namespaces_per_run;
  made.report.level = like.run->isolation;
  if (memory_events >= 0)
    made.events.reset(::fcntl(memory_events, F_DUPFD_CLOEXEC, 0));
  if (memory_peak >= 0)
    made.peak.reset(::fcntl(memory_peak, F_DUPFD_CLOEXEC, 0));
  ++prepared;
  auto shared = std::make_shared<zygote::slot_sandbox>(std::move(made));
  boost::asio::post(executor_, [shared, done] { done(std::move(*shared)); });
}

inline void direct_provisioner::release(std::uint64_t,
                                        std::function<void()> gone) {
  ++released;
  if (gone)
    boost::asio::post(executor_, std::move(gone));
}

/// Numbers count from one.
inline void direct_provisioner::kill_interpreter(std::uint64_t number) {
  ::kill(interpreters_.at(number - 1), SIGKILL);
}

inline std::uint64_t
direct_provisioner::spawn_interpreter(std::vector<std::string> argv,
                                      unique_fd control,
                                      std::function<void(error)> told) {
  std::vector<char*> arguments;
  for (auto& text : argv)
    arguments.push_back(text.data());
  arguments.push_back(nullptr);
  char language[] = "LANG=C.UTF-8";
  char bind_now[] = "LD_BIND_NOW=1"; // or every child would
  char* variables[] = {language, bind_now, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, control.get(), 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0].c_str(), &actions, nullptr,
                                   arguments.data(), variables);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) {
    interpreters_.push_back(pid);
    return interpreters_.size();
  }
  boost::asio::post(executor_, [told, text = "spawn " + argv[0]] {
    error why;
    why.text = text;
    told(why);
  });
  return 0;
}

inline python_install find_python() {
  python_install found;
  auto* pipe = ::popen("python3 -I -c 'import os, sys;"
                       "print(os.path.realpath(sys.executable));"
                       "print(sys.base_prefix)'",
                       "r");
  char line[4096];
  if (pipe && ::fgets(line, sizeof line, pipe))
    found.executable
      = std::string{line}.substr(0, std::string{line}.size() - 1);
  if (pipe && ::fgets(line, sizeof line, pipe))
    found.prefix = std::string{line}.substr(0, std::string{line}.size() - 1);
  if (pipe)
    ::pclose(pipe);
  if (found.prefix.starts_with("/usr"))
    found.prefix.clear();
  return found;
}

} // namespace troupe::test
