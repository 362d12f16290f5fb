#include "tests/runtime/local/at_work.hpp"

#include "runtime/local/isolation/cgroup_files.hpp"
#include "tests/runtime/local/ready_host.hpp"

#include <boost/test/unit_test.hpp>

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace troupe::test {

namespace fs = std::filesystem;

namespace {

// Each says in which pid namespace it is, and stays.
prepared_run python_tool() {
  return tool("import os, threading, time\n"
              "def f():\n"
              "  for i in range(3):\n"
              "    threading.Thread(target=time.sleep, args=(1000,)).start()\n"
              "  print(os.readlink('/proc/self/ns/pid'), flush=True)\n"
              "  time.sleep(1000)\n");
}
prepared_run node_tool() {
  return tool(
    "function f() {\n"
    "  console.log(require('fs').readlinkSync('/proc/self/ns/pid'));\n"
    "  return new Promise((r) => setTimeout(r, 1000000));\n}\n",
    "{}", language::javascript);
}
prepared_run shell_line() { // the shell stays: what it waits for may be opening
  return shell("s=$(readlink /proc/self/ns/pid); echo $s; sleep 1000 & wait");
}

constexpr way all_ways[] = {
  {"python, warm", warm_python, python_tool, isolation_level::standard, true},
  {"python, warm, strict", warm_python, python_tool, isolation_level::strict,
   true},
  {"python, cold", cold_host, python_tool, isolation_level::standard, true},
  {"python, cold, strict", cold_host, python_tool, isolation_level::strict,
   true},
  {"node, warm", warm_node, node_tool, isolation_level::standard, true},
  {"node, warm, strict", warm_node, node_tool, isolation_level::strict, true},
  {"node, ready", ready_host, node_tool, isolation_level::standard, true},
  {"node, ready, strict", ready_host, node_tool, isolation_level::strict, true},
  {"node", cold_host, node_tool, isolation_level::standard, true},
  {"node, strict", cold_host, node_tool, isolation_level::strict, true},
  {"shell", cold_host, shell_line, isolation_level::standard, false},
  {"shell, strict", cold_host, shell_line, isolation_level::strict, false},
};

} // namespace

std::span<const way> ways() {
  return all_ways;
}

std::string link_of(const fs::path& path) {
  std::error_code code;
  return fs::read_symlink(path, code);
}

std::map<std::string, std::string> status_of(const fs::path& task) {
  std::map<std::string, std::string> fields;
  std::istringstream lines{isolation::read_text(task / "status").value_or("")};
  for (std::string line; std::getline(lines, line);) {
    auto colon = line.find(":\t");
    if (colon != std::string::npos)
      fields[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return fields;
}

bool sees_everything() {
  return ::geteuid() == 0;
}

at_work::at_work(const way& w, const std::function<void(prepared_run&)>& change)
    : host_{w.host()} {
  auto run = w.make();
  run.id = id_ = run_id::make();
  run.isolation = w.level;
  run.limits.wall = std::chrono::minutes{2};
  if (change)
    change(run);
  const bool is_ready = &host_ == &ready_host();
  const auto others = host_.backend().ready_nodes().running;
  BOOST_REQUIRE(!is_ready || prepare_for(host_, run));
  seen_ = host_.start(run);
  BOOST_REQUIRE(seen_->wait_for_output("]\n"));
  BOOST_TEST(
    (!is_ready || host_.backend().ready_nodes().running == others + 1));
  find();
}

at_work::~at_work() {
  host_.backend().cancel(id_, exit_reason::cancelled);
  seen_->wait();
}

fs::path at_work::tool() const {
  return fs::path{"/proc"} / std::to_string(tool_);
}

void at_work::find() {
  auto space = seen_->output();
  space = space.substr(0, space.find('\n'));
  for (const auto& entry : fs::directory_iterator("/proc")) {
    int pid = std::atoi(entry.path().filename().c_str());
    // Below an ordinary user its pid 1 may not be looked at.
    if (pid > 0 && link_of(entry.path() / "ns/pid") == space)
      pids_.push_back(pid);
  }
  // The number inside stands last.
  std::ranges::sort(pids_, {}, [](int pid) {
    auto numbers = status_of("/proc/" + std::to_string(pid))["NSpid"];
    return std::atoi(numbers.substr(numbers.find_last_of('\t') + 1).c_str());
  });
  BOOST_REQUIRE(!pids_.empty());
  tool_ = pids_.size() > 1 ? pids_[1] : pids_[0];
  if (sees_everything())
    BOOST_REQUIRE(pids_.size() >= 2u); // pid 1 and the tool
}

} // namespace troupe::test
