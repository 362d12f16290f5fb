#include "app/cli/host_checks.hpp"

#include "app/assembly/options_from_settings.hpp"
#include "app/assembly/provider_options.hpp"
#include "runtime/local/interpreters.hpp"
#include "runtime/local/local_backend.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

namespace troupe {

namespace {

using state = finding::state;
using findings = std::vector<finding>;

/// The oldest ones that runs are tested with.
constexpr int oldest_python = 309; // 3.9
constexpr int oldest_node = 20;

/// Warm interpreters need a second; a busy host more.
constexpr std::chrono::seconds warm_up_time{20};
constexpr std::chrono::milliseconds look_again{20};

std::string shell_word(std::string_view word) {
  std::string out = "'";
  for (char c : word)
    out += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return out + "'";
}

/// What a program prints, or nothing when it fails.
std::optional<std::string> said_by(const std::string& program,
                                   const std::string& words) {
  const auto line = shell_word(program) + " " + words + " 2>/dev/null";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe{
    ::popen(line.c_str(), "re"), ::pclose};
  if (!pipe)
    return std::nullopt;
  std::array<char, 256> text{};
  const auto size = std::fread(text.data(), 1, text.size(), pipe.get());
  if (::pclose(pipe.release()) != 0)
    return std::nullopt;
  std::string_view all{text.data(), size};
  return std::string{all.substr(0, all.find('\n'))};
}

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void add_layers(findings& out, const isolation::probe_report& report) {
  for (const auto& layer : report.layers) {
    const auto how = layer.state == layer_state::enforced ? state::good
      : layer.state == layer_state::degraded              ? state::weak
                                                          : state::missing;
    out.push_back({layer.name, how, std::string{to_string(layer.state)},
                   layer.core, layer.reason, layer.advice});
  }
}

/// Which hierarchies there are, for who wonders about the limits above.
void add_groups(findings& out) {
  const bool second = ::access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
  const bool first = ::access("/sys/fs/cgroup/memory", F_OK) == 0;
  std::ifstream own{"/proc/self/cgroup"};
  std::string place;
  std::getline(own, place);
  if (first || second)
    out.push_back({"cgroups", state::good, "found", false,
                   (second ? "version 2" : "version 1") + (", ours: " + place),
                   ""});
  else
    out.push_back({"cgroups", state::missing, "absent", false,
                   "/sys/fs/cgroup is not mounted", "mount cgroup2 there"});
}

bool add_interpreter(findings& out, const char* name, const std::string& path,
                     const std::optional<std::string>& version, bool is_old,
                     const std::string& advice) {
  finding f{name, state::good, "found", false, path, ""};
  if (!version) {
    f.how = state::missing;
    f.word = "absent";
    f.reason = path + " cannot be executed";
    f.advice = advice;
  } else {
    f.reason += " " + *version;
    if (is_old) {
      f.how = state::weak;
      f.word = "old";
      f.advice = advice;
    }
  }
  out.push_back(f);
  return version.has_value();
}

void add_installer(findings& out, const char* name, bool works,
                   const char* advice) {
  out.push_back({name, works ? state::good : state::missing,
                 works ? "found" : "absent", false,
                 works ? "" : "tools that require packages will fail",
                 works ? "" : advice});
}

void add_interpreters(findings& out, const local_options& options) {
  const auto found = find_interpreters(options);
  const auto& python = found.python.path;
  const auto its = said_by(python,
                           "-I -c 'import sys; v = sys.version_info;"
                           " print(v[0] * 100 + v[1], \"%d.%d.%d\" % v[:3])'");
  auto version = its;
  if (version)
    version->erase(0, version->find(' ') + 1);
  if (add_interpreter(out, "python", python, version,
                      its && number_in(*its) < oldest_python,
                      "install Python 3.9 or later, or set local.python")) {
    add_installer(out, "venv",
                  said_by(python, "-I -c 'import venv'").has_value(),
                  "install python3-venv");
    add_installer(out, "pip",
                  said_by(python, "-I -m pip --version").has_value(),
                  "install python3-pip");
  }
  const auto& node = found.node.path;
  const auto v = said_by(node, "--version");
  const bool is_old = v
    && number_in(std::string_view{*v}.substr(v->starts_with('v')))
      < oldest_node;
  if (add_interpreter(out, "node", node, v, is_old,
                      is_old ? "each TypeScript and JavaScript run starts its "
                               "own Node.js, 7 ms if one was started ahead, "
                               "else 50: only from Node.js 20 on can runs be "
                               "forked from a warm one, in 2 ms. Install one "
                               "and set local.node: docs/tools.md, Which "
                               "Node.js"
                             : "install Node.js 20 or later for TypeScript and "
                               "JavaScript tools, or set local.node"))
    add_installer(out, "npm", said_by("npm", "--version").has_value(),
                  "install npm");
}

void add_warm(findings& out, const settings& s, local_backend& local) {
  if (!s.local.warm_python) {
    out.push_back({"warm_python", state::unused, "off", false,
                   "local.warm-python is false", ""});
    return;
  }
  const auto end = std::chrono::steady_clock::now() + warm_up_time;
  auto now = local.slots();
  while (now.zygotes == 0 && now.restarts == 0
         && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(look_again);
    now = local.slots();
  }
  if (now.zygotes == 0) {
    out.push_back(
      {"warm_python", state::missing, "absent", false,
       now.trouble.empty() ? "it failed to start" : now.trouble,
       "every run starts cold; check local.python and local.preload"});
    return;
  }
  out.push_back({"warm_python", state::good, "ready", false, "", ""});
  const bool huge = now.huge_pages > 0;
  out.push_back({"huge_pages", huge ? state::good : state::weak,
                 huge ? "used" : "unused", false,
                 huge ? std::to_string(now.huge_pages) + " reserved"
                      : "none available to warm interpreters",
                 huge ? ""
                      : "set /sys/kernel/mm/transparent_hugepage/enabled to "
                        "madvise; runs are slower without huge pages"});
}

void add_backends(findings& out, const settings& s) {
  const auto add = [&](std::string name, bool on, std::string_view way) {
    out.push_back({"backend " + name, on ? state::good : state::unused,
                   on ? "configured" : "unset", false, "",
                   on && name != "local" ? "troupe backend test " + name
                                         : std::string{on ? "" : way}});
  };
  add("local", s.local.enabled, "set local.enabled = true");
  for (const auto& each : provider_accounts(s))
    add(std::string{to_string(each.name)}, each.is_configured(),
        each.provider->way_in);
}

} // namespace

std::vector<finding> check_host(const settings& s, local_backend& local) {
  findings out;
  add_layers(out, local.probe());
  add_groups(out);
  add_interpreters(out, local_options_from(s));
  add_warm(out, s, local);
  add_backends(out, s);
  return out;
}

} // namespace troupe
