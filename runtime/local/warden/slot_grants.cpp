// The part of the warden that serves slots of warm interpreters. The engine
// talks to those itself; here is only what takes the warden's rights.
#include "runtime/local/egress/broker_process.hpp"
#include "runtime/local/warden/warden.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

namespace troupe::warden {

void warden::grant(const start_order& order) {
  run_resources resources;
  auto plan = admit(order, &plan_builder::build_for_slot, "slot", resources);
  if (!plan)
    return;
  // A slot lives for many runs of one shape; its children have this bound.
  plan->rlimits.push_back({RLIMIT_NOFILE, order.limits.open_files});
  message m;
  m.what = word::leased;
  std::vector<unique_fd> files;
  auto no = leases_.grant(order, std::move(*plan), resources, m.grant, files);
  if (no.ok()) {
    say(std::move(m), std::move(files));
    return;
  }
  give_back(std::move(resources));
  refuse(order, no, "");
}

void warden::hatch_interpreter(const message& m,
                               const std::vector<unique_fd>& given) {
  start_order about;
  about.ticket = m.ticket;
  if (given.size() != 1 || m.argv.empty())
    refuse(about, {isolation::step::order, EINVAL}, "");
  else
    keep_child(m.ticket,
               unique_fd{spawn_interpreter(m.argv, given.front().get(),
                                           settings_.directory)});
}

void warden::start_broker(std::uint64_t ticket, std::vector<unique_fd> given) {
  start_order about;
  about.ticket = ticket;
  if (given.size() != 4)
    return refuse(about, {isolation::step::order, EINVAL}, "");
  network::broker_descriptors with{std::move(given[0]), std::move(given[1]),
                                   std::move(given[2]), std::move(given[3])};
  keep_child(ticket, network::fork_broker(std::move(with)).pidfd);
}

void warden::keep_child(std::uint64_t ticket, unique_fd pidfd) {
  if (pidfd && watch(pidfd.get(), ticket << kind_bits | child_kind)) {
    children_.emplace(ticket, std::move(pidfd));
    return;
  }
  start_order about;
  about.ticket = ticket;
  refuse(about, isolation::failed(isolation::step::spawn), "");
}

void warden::reap_child(std::uint64_t ticket) {
  auto i = children_.find(ticket);
  if (i == children_.end())
    return;
  siginfo_t end{};
  ::waitid(P_PIDFD, static_cast<id_t>(i->second.get()), &end, WEXITED);
  children_.erase(i);
  message m;
  m.what = word::ended;
  m.end.ticket = ticket;
  m.end.wait_status = end.si_status;
  say(std::move(m));
}

void warden::give_back(run_resources resources) {
  if (!resources.leaves_memory) // or its next user would pay for the layer
    groups_.put(std::move(resources.group));
  if (resources.uid)
    uids_.put(*resources.uid);
  if (!resources.work_directory.empty()) {
    std::error_code code;
    std::filesystem::remove_all(resources.work_directory, code);
  }
}

} // namespace troupe::warden
