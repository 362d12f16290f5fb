#include "runtime/local/warden/plan_builder.hpp"

#include "runtime/local/isolation/mounts.hpp"
#include "runtime/local/isolation/root_tree.hpp"
#include "runtime/local/isolation/seccomp.hpp"
#include "runtime/local/warden/sandbox_template.hpp"
#include "runtime/model/sandbox_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace troupe::warden {

namespace {

constexpr isolation::layer_set no_layers{false, false, false, false, false,
                                         false, false, false, false, false};

bool is_degraded(const isolation::probe_report& report, const char* name) {
  auto* layer = report.find(name);
  return layer != nullptr && layer->state == layer_state::degraded;
}

} // namespace

plan_builder::plan_builder(isolation::probe_report report)
    : report_{std::move(report)}, layers_{isolation::usable_layers(report_)},
      tree_{isolation::standard_tree()} {
  tree_.proc = !is_degraded(report_, "proc");
  isolation::filter_options options;
  options.unix_sockets = layers_.network;
  options.own_files = true;
  options.network = layers_.network ? isolation::network_calls::own
                                    : isolation::network_calls::deny;
  living_.closed = isolation::build_filter(options);
  if (layers_.network && report_.has("network_broker")) {
    options.network = isolation::network_calls::leave;
    living_.asking = isolation::build_filter(options);
  }
  options.own_files = false;
  for (auto* made : {&ordinary_, &namespace_making_}) {
    options.makes_namespaces = made == &namespace_making_;
    options.network = isolation::network_calls::deny;
    made->closed = isolation::build_filter(options);
    options.network = isolation::network_calls::notify;
    made->asking = isolation::build_filter(options);
  }
  run_filter_ = isolation::build_run_filter();
}

std::string plan_builder::refuse(const start_order& order) const {
  if (order.level == isolation_level::off
      || order.level == isolation_level::best_effort)
    return {};
  return report_.missing_core();
}

isolation::plan plan_builder::build(const start_order& order) const {
  isolation::plan p;
  bool off = order.level == isolation_level::off;
  p.layers = off ? no_layers : layers_;
  p.working_dir = order.working_dir;
  isolation::process_limits bounds;
  bounds.open_files = 0; // pid 1 juggles with more numbers than a run may
  bounds.file_bytes = order.limits.disk_bytes;
  // One more second: the group's clock decides, this is only the net below.
  bounds.cpu_seconds
    = static_cast<std::uint64_t>(order.limits.cpu.count()) / 1000 + 2;
  // Best effort: without a group of its own, what a process can be held to.
  if (!report_.has("memory_limit"))
    bounds.memory_bytes = order.limits.memory_bytes;
  // Counted per user namespace; without one it would count the engine's.
  if (!report_.has("process_limit") && p.layers.user)
    bounds.processes = order.limits.processes + 1;
  p.rlimits = isolation::standard_rlimits(bounds);
  if (off)
    return p;
  p.tree = tree_;
  p.tree.scratch_bytes = order.limits.disk_bytes;
  p.tree.scratch_inodes = order.limits.inodes;
  for (const auto& path : order.shown)
    p.tree.shown.push_back(
      {path.host, path.inside, path.writable, false, path.exactly, -1});
  p.notify = order.notify_network;
  p.filter = order.notify_network ? ordinary_.asking : ordinary_.closed;
  return p;
}

isolation::plan plan_builder::build_for_slot(const start_order& order) const {
  auto p = build(order);
  const auto& on = p.layers;
  p.namespaces_per_run = order.level == isolation_level::strict && on.user
    && on.mounts && on.pids && on.ipc && on.uts && on.capabilities && on.seccomp
    && p.tree.proc && !isolation::fills_scratch(p.tree);
  if (p.namespaces_per_run) {
    p.filter = order.notify_network ? namespace_making_.asking
                                    : namespace_making_.closed;
    p.run_filter = run_filter_;
  }
  return p;
}

std::string plan_builder::refuse_sandbox(const start_order& order) const {
  if (order.level == isolation_level::off)
    return "a sandbox cannot live without isolation";
  if (auto why = refuse(order); !why.empty())
    return why;
  if (!layers_.user || !layers_.mounts || !layers_.pids || !layers_.seccomp)
    return "a sandbox takes user, mount and pid namespaces and seccomp; see "
           "`troupe doctor`";
  return {};
}

isolation::plan plan_builder::build_for_sandbox(const start_order& order,
                                                const std::string& root) const {
  auto p = build(order);
  // Per process, where the sandbox as a whole is bounded by its group and its
  // file system, or lives for hours.
  std::erase_if(p.rlimits, [](const auto& r) {
    return r.resource == RLIMIT_CPU || r.resource == RLIMIT_FSIZE;
  });
  auto shown = std::exchange(p.tree.shown, {});
  p.tree.shown.push_back({root, "/", false, false, false, -1});
  for (auto& path : shown)
    if (!lies_in_template(path))
      p.tree.shown.push_back(std::move(path));
  p.tree.links.clear();
  p.tree.files.clear();
  p.tree.scratch_bytes = std::min(
    p.tree.scratch_bytes, most_sandbox_files(order.limits.memory_bytes));
  p.tree.told.memory_bytes = order.limits.memory_bytes;
  const auto processors = std::max(1u, std::thread::hardware_concurrency());
  p.tree.told.processors
    = order.cpus > 0 ? std::min(order.cpus, processors) : processors;
  p.filter = living_.closed;
  p.leaving_filter = living_.asking;
  p.notify = false;
  return p;
}

} // namespace troupe::warden
