#include "runtime/local/isolation/cgroup_files.hpp"
#include "runtime/local/isolation/cgroups.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

namespace troupe::isolation {

namespace {

bool lists(std::string_view text, char separator, std::string_view word) {
  while (!text.empty()) {
    auto end = text.find(separator);
    if (text.substr(0, end) == word)
      return true;
    if (end == std::string_view::npos)
      break;
    text.remove_prefix(end + 1);
  }
  return false;
}

/// The caller's group in one hierarchy: `controller` of v1, "" for v2.
std::string own_group(std::string_view controller) {
  auto text = read_text("/proc/self/cgroup").value_or("");
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    auto first = line.find(':');
    auto second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    auto names = std::string_view{line}.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : lists(names, ',', controller))
      return line.substr(second + 1);
  }
  return {};
}

/// Where that group is visible in the file system, or "".
std::string own_directory(std::string_view controller) {
  auto group = own_group(controller);
  if (group.empty())
    return {};
  auto text = read_text("/proc/self/mountinfo").value_or("");
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::string skip, root, point, type, source, options;
    fields >> skip >> skip >> skip >> root >> point;
    while (fields >> skip && skip != "-")
      ;
    fields >> type >> source >> options;
    bool right = controller.empty()
      ? type == "cgroup2"
      : type == "cgroup" && lists(options, ',', controller);
    if (!right)
      continue;
    // A container sees its own group as the root of the mount.
    if (root != "/" && group.starts_with(root))
      group = group.substr(root.size());
    return point + (group == "/" ? "" : group);
  }
  return {};
}

/// Makes the instance's directory and proves that we may use it.
std::string make(const std::string& parent, const std::string& name) {
  if (parent.empty())
    return {};
  auto path = parent + "/" + name;
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return {};
  if (::access((path + "/cgroup.procs").c_str(), W_OK) != 0) {
    ::rmdir(path.c_str());
    return {};
  }
  return path;
}

/// v2: a group with processes cannot bound its children, so the processes of a
/// delegated group move to a leaf first. Only if they are all ours.
void vacate(const std::string& own, const std::string& leaf) {
  auto text = read_text(own + "/cgroup.procs").value_or("");
  std::istringstream lines{text};
  std::vector<std::string> pids;
  for (std::string pid; lines >> pid;)
    pids.push_back(pid);
  auto mine = std::to_string(::getpid());
  auto engine = std::to_string(::getppid());
  for (const auto& pid : pids)
    if (pid != mine && pid != engine)
      return;
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST)
    return;
  for (const auto& pid : pids)
    write_text(leaf + "/cgroup.procs", pid);
}

bool has_controller(const std::string& directory, std::string_view name) {
  auto text = read_text(directory + "/cgroup.controllers").value_or("");
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  return lists(text, ' ', name);
}

/// Hands the controllers down to the instance and from there to its runs.
void delegate(cgroup_site& site, const std::string& own,
              const std::string& name) {
  bool memory = has_controller(own, "memory");
  bool pids = has_controller(own, "pids");
  if (!memory && !pids)
    return;
  std::string wanted = memory ? "+memory" : "";
  if (pids)
    wanted += memory ? " +pids" : "+pids";
  if (has_controller(own, "cpu"))
    wanted += " +cpu";
  if (!write_text(own + "/cgroup.subtree_control", wanted)) {
    vacate(own, own + "/" + name + "-engine");
    write_text(own + "/cgroup.subtree_control", wanted);
  }
  write_text(site.unified + "/cgroup.subtree_control", wanted);
  auto given = read_text(site.unified + "/cgroup.subtree_control").value_or("");
  if (!given.empty() && given.back() == '\n')
    given.pop_back();
  site.unified_memory = lists(given, ' ', "memory");
  site.unified_pids = lists(given, ' ', "pids");
  site.unified_cpu = lists(given, ' ', "cpu");
}

} // namespace

cgroup_site make_cgroup_site(const std::string& name) {
  cgroup_site site;
  auto unified = own_directory("");
  site.unified = make(unified, name);
  if (!site.unified.empty())
    delegate(site, unified, name);
  if (!site.unified_memory)
    site.memory = make(own_directory("memory"), name);
  if (!site.unified_pids)
    site.pids = make(own_directory("pids"), name);
  if (!site.unified_cpu)
    site.cpu = make(own_directory("cpu"), name);
  if (site.unified.empty()) {
    site.cpuacct = make(own_directory("cpuacct"), name);
    site.freezer = make(own_directory("freezer"), name);
  }
  return site;
}

} // namespace troupe::isolation
