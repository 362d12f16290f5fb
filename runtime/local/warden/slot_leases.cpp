#include "runtime/local/warden/slot_leases.hpp"

#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/isolation/descriptors.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/signals.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::warden {

namespace {

using isolation::failed;
using isolation::outcome;
using isolation::step;

/// So many looks, some milliseconds apart, for a slot to end by itself.
constexpr int patience = 8;

unique_fd plan_memory(const isolation::plan& plan) {
  const auto bytes = isolation::encode(plan);
  unique_fd memory{
    ::memfd_create("troupe-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!memory
      || ::write(memory.get(), bytes.data(), bytes.size())
        != static_cast<ssize_t>(bytes.size())
      || ::fcntl(memory.get(), F_ADD_SEALS,
                 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
        != 0)
    return {};
  return memory;
}

} // namespace

outcome slot_leases::grant(const start_order& order, isolation::plan plan,
                           run_resources& resources, lease_grant& out,
                           std::vector<unique_fd>& descriptors) {
  // And pid 1, the first of a world, and the one of the last world, which dies.
  const auto of_ours = plan.namespaces_per_run ? 3u : 1u;
  isolation::group_limits bounds{order.limits.memory_bytes,
                                 order.limits.processes + of_ours};
  if (auto no = resources.group->begin(bounds); !no.ok())
    return no;
  // It would add up over all runs of the slot; every run sets its own.
  std::erase_if(plan.rlimits,
                [](const auto& r) { return r.resource == RLIMIT_CPU; });
  auto memory = plan_memory(plan);
  if (!memory)
    return failed(step::order);
  auto files = resources.group->open_files();
  out.ticket = order.ticket;
  out.clone_flags = isolation::clone_flags(plan.layers);
  out.new_user = plan.layers.user;
  out.privileged = resources.uid.has_value();
  out.namespaces_per_run = plan.namespaces_per_run;
  out.uid = resources.uid.value_or(::geteuid());
  out.gid = resources.uid.value_or(::getegid());
  out.groups = static_cast<std::uint8_t>(files.procs.size());
  descriptors.push_back(std::move(memory));
  for (auto& procs : files.procs)
    descriptors.push_back(std::move(procs));
  const auto add = [&](unique_fd& file, bool& has) {
    has = static_cast<bool>(file);
    if (has)
      descriptors.push_back(std::move(file));
  };
  add(files.peak, out.has_peak);
  add(files.events, out.has_events);
  add(files.forks, out.has_forks);
  add(files.cpu, out.has_cpu);
  granted_.emplace(order.ticket, std::move(resources));
  return {};
}

bool slot_leases::release(std::uint64_t ticket) {
  auto node = granted_.extract(ticket);
  if (node.empty())
    return std::ranges::find(dying_, ticket, &leftover_processes::ticket)
      != dying_.end();
  dying_.push_back({ticket, std::move(node.mapped()), 0});
  return true;
}

void slot_leases::release_all() {
  while (!granted_.empty())
    release(granted_.begin()->first);
}

std::vector<slot_leases::leftover_processes> slot_leases::bury() {
  std::vector<leftover_processes> gone;
  std::erase_if(dying_, [&](leftover_processes& r) {
    if (!r.resources.group->empty()) {
      // A slot ends at the end of its socket, which is now. Killing the group
      // would cost us the group.
      if (++r.looks > patience)
        r.resources.group->kill();
      return false;
    }
    gone.push_back(std::move(r));
    return true;
  });
  return gone;
}

int spawn_interpreter(const std::vector<std::string>& argv, int control,
                      const std::string& directory) {
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const auto& text : argv)
    arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  // Bound now, or every child would look its functions up again.
  char variables[][40] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
                          "HOME=/tmp", "LD_BIND_NOW=1"};
  char* environment[]
    = {variables[0], variables[1], variables[2], variables[3], nullptr};
  const auto child = isolation::clone_into(0, -1);
  if (child.pid != 0)
    return child.pidfd;
  isolation::default_signals();
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int high = ::fcntl(control, F_DUPFD_CLOEXEC, 16);
  if (isolation::die_with_parent().ok() && ::getppid() > 0
      && ::dup2(null, 0) == 0 && ::dup2(null, 1) == 1 && ::dup2(high, 3) == 3
      && isolation::close_from(4).ok() && ::chdir(directory.c_str()) == 0)
    ::execve(arguments[0], arguments.data(), environment);
  ::_exit(127);
}

} // namespace troupe::warden
