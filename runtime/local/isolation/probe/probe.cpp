#include "runtime/local/isolation/probe/probe.hpp"

#include "runtime/base/unique_fd.hpp"
#include "runtime/local/isolation/binary_codec.hpp"
#include "runtime/local/isolation/cgroup_files.hpp"
#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/isolation/landlock.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/probe/probe_user_notification.hpp"
#include "runtime/local/isolation/root_tree.hpp"
#include "runtime/local/isolation/seccomp.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace troupe::isolation {

namespace {

/// Contains a child and lets it go again.
outcome try_plan(const plan& p, const probe_context& context) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return failed(step::order);
  unique_fd mine{ends[0]};
  unique_fd its{ends[1]};
  auto child = clone_into(clone_flags(p.layers), -1);
  if (child.pid < 0)
    return failed(step::namespaces);
  if (child.pid == 0) {
    char go = 0;
    mine.reset();
    outcome out{step::order, EPIPE};
    if (::read(its.get(), &go, 1) == 1)
      out = contain(p, nullptr);
    ::_exit(::write(its.get(), &out, sizeof out) == sizeof out ? 0 : 1);
  }
  unique_fd pidfd{child.pidfd};
  its.reset();
  outcome out;
  if (p.layers.user)
    out = write_identity_map(child.pid, context.uid, context.gid,
                             context.privileged);
  if (out.ok()) {
    bool answered = ::write(mine.get(), "g", 1) == 1
      && ::read(mine.get(), &out, sizeof out) == sizeof out;
    if (!answered) // died by the filter, say
      out = {step::seccomp, EPROTO};
  }
  mine.reset();
  ::kill(child.pid, SIGKILL);
  ::waitpid(child.pid, nullptr, 0);
  return out;
}

struct named_layer {
  const char* name;
  bool layer_set::*flag;
  bool core;
};

constexpr std::array<named_layer, 10> named_layers{
  {{"user_namespace", &layer_set::user, true},
   {"private_tree", &layer_set::mounts, true},
   {"pid_namespace", &layer_set::pids, true},
   {"network_namespace", &layer_set::network, true},
   {"ipc_namespace", &layer_set::ipc, true},
   {"uts_namespace", &layer_set::uts, false},
   {"cgroup_namespace", &layer_set::cgroup_view, false},
   {"no_capabilities", &layer_set::capabilities, true},
   {"landlock", &layer_set::landlock, false},
   {"seccomp", &layer_set::seccomp, true}}};

/// Which layer a step belongs to.
bool layer_set::*layer_of(step at) {
  switch (at) {
  case step::open_sources:
  case step::tree:
  case step::bind:
  case step::devices:
  case step::scratch:
  case step::proc:
  case step::pivot:
    return &layer_set::mounts;
  case step::bounding_set:
  case step::securebits:
  case step::no_new_privs:
  case step::capabilities:
  case step::undumpable:
    return &layer_set::capabilities;
  case step::landlock:
    return &layer_set::landlock;
  case step::seccomp:
    return &layer_set::seccomp;
  default:
    return &layer_set::user;
  }
}

std::string advice_for(std::string_view name) {
  if (name == "user_namespace") {
    if (read_number("/proc/sys/user/max_user_namespaces") == 0u)
      return "set the sysctl user.max_user_namespaces to some thousands";
    if (read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0u)
      return "set the sysctl kernel.unprivileged_userns_clone to 1";
    if (read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        == 1u)
      return "give the binary an AppArmor profile with `userns`, or set "
             "kernel.apparmor_restrict_unprivileged_userns to 0";
    return "in a container, allow user namespaces (seccomp profile), or run "
           "with a kernel that has them";
  }
  if (name == "private_tree")
    return "use Linux 5.12 or later; in a container, allow the mount calls";
  if (name == "proc")
    return "in a container, leave /proc unmasked";
  if (name == "landlock")
    return "boot with lsm=landlock,...; the other layers hold without it";
  if (name == "network_broker")
    return "use Linux 5.14 or later with CONFIG_SECCOMP_FILTER; until then "
           "tools run without a network";
  if (name == "seccomp")
    return "use a kernel with CONFIG_SECCOMP_FILTER";
  if (name == "memory_limit" || name == "process_limit")
    return "run as root, or under systemd with Delegate=yes (systemd-run --user"
           " --scope -p Delegate=yes), or accept less with isolation "
           "best-effort";
  return "allow it in the container's configuration";
}

/// A layer at work: what is on, tried layer by layer where the whole failed.
class prober {
public:
  explicit prober(const probe_context& context) : context_{context} {
    plan_.tree = standard_tree();
    plan_.rlimits = standard_rlimits({});
    plan_.filter = build_filter({});
    plan_.layers.landlock = landlock_version() > 0;
    reasons_["landlock"] = "the kernel does not support Landlock";
    for (const auto& layer : named_layers)
      if (std::ranges::find(context.without, layer.name)
          != context.without.end())
        leave_out(layer, "disabled by configuration");
  }

  probe_report run() {
    // Each round drops at least one layer, so this ends.
    for (auto no = try_plan(plan_, context_); !no.ok();
         no = try_plan(plan_, context_)) {
      if (no.at == step::namespaces && drop_refused_namespaces())
        continue;
      if (no.at == step::proc && plan_.tree.proc) {
        plan_.tree.proc = false;
        proc_reason_ = std::strerror(no.error);
        continue;
      }
      if (!drop(layer_of(no.at), no))
        break;
    }
    return report();
  }

private:
  void leave_out(const named_layer& layer, std::string reason) {
    plan_.layers.*layer.flag = false;
    reasons_[layer.name] = std::move(reason);
    // Without a user namespace the others are not ours to make.
    if (layer.flag == &layer_set::user)
      for (auto flag :
           {&layer_set::mounts, &layer_set::pids, &layer_set::network,
            &layer_set::ipc, &layer_set::uts, &layer_set::cgroup_view})
        plan_.layers.*flag = false;
  }

  bool drop(bool layer_set::*flag, const outcome& no) {
    for (const auto& layer : named_layers)
      if (layer.flag == flag && plan_.layers.*flag) {
        leave_out(layer,
                  "step " + std::string{to_string(no.at)} + ": "
                    + std::strerror(no.error));
        return true;
      }
    return false;
  }

  /// Finds out which of the clone flags the kernel refuses.
  bool drop_refused_namespaces() {
    bool dropped = false;
    for (const auto& layer : named_layers) {
      layer_set alone{};
      for (const auto& other : named_layers)
        alone.*other.flag = false;
      alone.user = true;
      alone.*layer.flag = true;
      auto flags = clone_flags(alone);
      if (!(plan_.layers.*layer.flag) || flags == 0)
        continue;
      auto child = clone_into(flags, -1);
      if (child.pid == 0)
        ::_exit(0);
      if (child.pid < 0) {
        leave_out(layer, std::string{"clone: "} + std::strerror(errno));
        dropped = true;
        continue;
      }
      ::close(child.pidfd);
      ::waitpid(child.pid, nullptr, 0);
    }
    if (!dropped && plan_.layers.cgroup_view) {
      plan_.layers.cgroup_view = false;
      reasons_["cgroup_namespace"] = "unshare was refused";
      dropped = true;
    }
    return dropped;
  }

  probe_report report() {
    probe_report out;
    for (const auto& layer : named_layers) {
      bool on = plan_.layers.*layer.flag;
      auto reason = reasons_[layer.name];
      if (reason.empty() && !plan_.layers.user)
        reason = "needs a user namespace";
      add(out, layer.name, on ? layer_state::enforced : layer_state::absent,
          layer.core, on ? std::string{} : reason);
    }
    if (plan_.layers.mounts)
      add(out, "proc",
          plan_.tree.proc ? layer_state::enforced : layer_state::degraded,
          false,
          plan_.tree.proc ? "" : "none available inside: " + proc_reason_);
    add_broker(out);
    add_identity(out);
    add_groups(out);
    return out;
  }

  void add_broker(probe_report& out) {
    outcome no{step::seccomp, ENOSYS};
    if (plan_.layers.seccomp && !is_left_out("network_broker"))
      no = try_network_questions();
    if (!no.ok())
      add(out, "network_broker", layer_state::absent, false,
          "step " + std::string{to_string(no.at)} + ": "
            + std::strerror(no.error) + "; runs have no network");
    else if (!try_socket_filter())
      add(out, "network_broker", layer_state::degraded, false,
          "packet filters cannot be attached to sockets");
    else
      add(out, "network_broker", layer_state::enforced, false, "");
  }

  bool is_left_out(std::string_view name) const {
    return std::ranges::find(context_.without, name) != context_.without.end();
  }

  void add_identity(probe_report& out) {
    if (plan_.layers.user && context_.privileged)
      add(out, "own_uid", layer_state::enforced, false, "");
    else if (plan_.layers.user)
      add(out, "own_uid", layer_state::degraded, false,
          "runs share the host uid " + std::to_string(context_.uid));
    else
      add(out, "own_uid", layer_state::absent, false,
          "runs have the engine's uid");
  }

  void add_groups(probe_report& out) {
    const auto& groups = *context_.groups;
    auto bound = [&](const char* name, bool there, const char* instead) {
      if (is_left_out(name))
        add(out, name, layer_state::absent, true, "disabled by configuration");
      else if (there)
        add(out, name, layer_state::enforced, true, "");
      else
        add(out, name, layer_state::absent, true, instead);
    };
    bound("memory_limit", groups.bounds_memory(),
          "no memory cgroup can be created: limits apply per process");
    bound("process_limit", groups.bounds_pids(),
          "no pids cgroup can be created: RLIMIT_NPROC is used");
    add(out, "cpu_clock",
        groups.counts_cpu() ? layer_state::enforced : layer_state::degraded,
        false, groups.counts_cpu() ? "" : "the CPU limit applies per process");
    add(out, "atomic_kill",
        groups.unified.empty() ? layer_state::degraded : layer_state::enforced,
        false,
        groups.unified.empty()
          ? "no cgroup v2: the pid namespace is used instead"
          : "");
  }

  static void add(probe_report& out, const char* name, layer_state state,
                  bool core, std::string reason) {
    probed_layer layer{name, state, core, std::move(reason), {}};
    if (state != layer_state::enforced)
      layer.advice = advice_for(layer.name);
    out.layers.push_back(std::move(layer));
  }

  const probe_context& context_;
  plan plan_;
  std::map<std::string, std::string, std::less<>> reasons_;
  std::string proc_reason_;
};

} // namespace

const probed_layer* probe_report::find(std::string_view name) const {
  auto i = std::ranges::find(layers, name, &probed_layer::name);
  return i == layers.end() ? nullptr : &*i;
}

bool probe_report::has(std::string_view name) const {
  auto* layer = find(name);
  return layer != nullptr && layer->state != layer_state::absent;
}

std::string probe_report::missing_core() const {
  std::string text;
  for (const auto& layer : layers) {
    if (!layer.core || layer.state != layer_state::absent)
      continue;
    if (!text.empty())
      text += "; ";
    text += layer.name + " is not available";
    if (!layer.reason.empty())
      text += " (" + layer.reason + ")";
    if (!layer.advice.empty())
      text += ": " + layer.advice;
  }
  return text;
}

probe_report probe_host(const probe_context& context) {
  return prober{context}.run();
}

layer_set usable_layers(const probe_report& report) {
  layer_set out;
  for (const auto& layer : named_layers)
    out.*layer.flag = report.has(layer.name);
  return out;
}

std::string encode(const probe_report& report) {
  writer w;
  w.raw(static_cast<std::uint32_t>(report.layers.size()));
  for (const auto& layer : report.layers) {
    w.text(layer.name);
    w.raw(layer.state);
    w.flag(layer.core);
    w.text(layer.reason);
    w.text(layer.advice);
  }
  return w.take();
}

bool decode(std::string_view bytes, probe_report& report) {
  reader r{bytes.data(), bytes.size()};
  report.layers.clear();
  for (auto n = r.count(); n > 0 && r.good(); --n) {
    auto& layer = report.layers.emplace_back();
    std::uint8_t state = 0;
    r.text(layer.name);
    r.raw(state);
    if (state > static_cast<std::uint8_t>(layer_state::absent))
      r.refuse();
    layer.state = static_cast<layer_state>(state);
    r.flag(layer.core);
    r.text(layer.reason);
    r.text(layer.advice);
  }
  return r.done();
}

} // namespace troupe::isolation
