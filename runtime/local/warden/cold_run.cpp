#include "runtime/local/warden/cold_run.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/isolation/cgroup_files.hpp"
#include "runtime/local/isolation/namespaces.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace troupe::warden {

namespace {

using isolation::failed;
using isolation::outcome;
using isolation::step;
using std::chrono::microseconds;

/// More than this many idle groups are removed instead of kept.
constexpr std::size_t max_idle_groups = 256;

/// The soonest that a group's clock is looked at again.
constexpr microseconds least_check{20'000};

} // namespace

std::unique_ptr<isolation::run_group> group_pool::take() {
  if (!idle_.empty()) {
    auto group = std::move(idle_.back());
    idle_.pop_back();
    return group;
  }
  auto group = std::make_unique<isolation::run_group>(
    site_, "r" + std::to_string(++made_));
  return group->good() ? std::move(group) : nullptr;
}

void group_pool::put(std::unique_ptr<isolation::run_group> group) {
  if (group && !group->was_killed() && idle_.size() < max_idle_groups)
    idle_.push_back(std::move(group));
}

uid_pool::uid_pool(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i)
    idle_.push_back(first + i);
}

std::optional<std::uint32_t> uid_pool::take() {
  if (idle_.empty())
    return std::nullopt;
  auto uid = idle_.front();
  idle_.pop_front();
  return uid;
}

cold_run::cold_run(const start_order& order, run_resources resources)
    : order_{order}, resources_{std::move(resources)} {
  notice_.ticket = order.ticket;
}

outcome cold_run::begin(const isolation::plan& plan,
                        const run_descriptors& fds) {
  auto [mine, its] = make_packet_pair();
  if (!mine)
    return failed(step::order);
  init_order order;
  order.plan = &plan;
  order.contained = contained_ = plan.layers.pids;
  order.sync = its.get();
  order.launch = fds.launch.get();
  order.in = fds.in.get();
  order.out = fds.out.get();
  order.err = fds.err.get();
  order.channel = fds.channel.get();
  order.control = fds.control.get();
  keeps_ = static_cast<bool>(fds.control);
  order.open_files = order_.limits.open_files;
  began_ = clock::now();
  isolation::group_limits bounds{order_.limits.memory_bytes,
                                 order_.limits.processes + 1, // and pid 1
                                 !keeps_, order_.cpus};
  if (auto no = resources_.group->begin(bounds); !no.ok())
    return no;
  auto child = isolation::clone_into(isolation::clone_flags(plan.layers),
                                     resources_.group->cgroup_fd());
  if (child.pid < 0)
    return failed(step::namespaces);
  if (child.pid == 0)
    run_init(order);
  pid_ = child.pid;
  pidfd_.reset(child.pidfd);
  sync_ = std::move(mine);
  return plan.layers.user
    ? let_go(child.pid)
    : resources_.group->join(child.pid, resources_.group->cgroup_fd() >= 0);
}

outcome cold_run::let_go(pid_t child) {
  const auto& group = *resources_.group;
  if (auto no = resources_.group->join(child, group.cgroup_fd() >= 0); !no.ok())
    return no;
  auto uid = resources_.uid.value_or(::geteuid());
  auto gid = resources_.uid.value_or(::getegid());
  return isolation::write_identity_map(child, uid, gid,
                                       resources_.uid.has_value());
}

bool cold_run::hear() {
  bool started = false;
  for (;;) {
    packet said;
    const auto got = receive_packet(sync_.get(), sizeof(init_report), 1, said);
    if (got != packet_status::done
        || said.bytes.size() != sizeof(init_report)) {
      sync_closed_ = got != packet_status::later;
      return started;
    }
    init_report report;
    std::memcpy(&report, said.bytes.data(), sizeof report);
    switch (report.what) {
    case report_kind::failed:
      notice_.failure = report.failure;
      break;
    case report_kind::listening:
      fetch_listener(report.listener);
      break;
    case report_kind::started:
      started = true;
      if (!said.descriptors.empty())
        written_ = std::move(said.descriptors.front());
      began_ = clock::now();
      check_cpu();
      break;
    case report_kind::finished:
      finished_ = report;
      break;
    }
  }
}

void cold_run::fetch_listener(int number) {
  listener_.reset(
    static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd_.get(), number, 0)));
  if (listener_ && ::write(sync_.get(), "l", 1) == 1)
    return;
  notice_.failure = failed(step::listener);
  kill();
}

unique_fd cold_run::take_written() {
  resources_.leaves_memory = true;
  return std::move(written_);
}

std::uint64_t cold_run::lend_memory() {
  resources_.leaves_memory = true;
  return resources_.group->memory_bytes();
}

int cold_run::freeze(bool still) {
  frozen_ = frozen_ || still;
  const int error = resources_.group->freeze(still);
  if (error == 0)
    frozen_ = still;
  return error;
}

void cold_run::kill() {
  notice_.killed = true;
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  // What stands still by v1 does not die either; and the group is used again.
  if (frozen_)
    freeze(false);
  if (!contained_)
    resources_.group->kill();
}

void cold_run::check_cpu() {
  next_check_ = clock::time_point::max();
  auto used = resources_.group->cpu_us();
  if (!used || keeps_)
    return; // RLIMIT_CPU has to do; a sandbox lives on its own clock
  auto limit = static_cast<std::uint64_t>(
    std::chrono::duration_cast<microseconds>(order_.limits.cpu).count());
  if (*used >= limit) {
    notice_.cpu_exceeded = true;
    kill();
    return;
  }
  // With every processor at work the rest cannot be gone sooner.
  auto processors = std::max(1u, std::thread::hardware_concurrency());
  next_check_ = clock::now()
    + std::max(least_check, microseconds{(limit - *used) / processors});
}

void cold_run::reap() {
  hear();
  int status = 0;
  ::waitpid(pid_, &status, __WALL);
  pidfd_.reset(); // or the loop would hear of it for ever
  sync_.reset();
  if (frozen_)
    freeze(false);
  auto usage = resources_.group->usage();
  notice_.wall_us = static_cast<std::uint64_t>(
    std::chrono::duration_cast<microseconds>(clock::now() - began_).count());
  notice_.cpu_us = usage.cpu_us.value_or(finished_ ? finished_->cpu_us : 0);
  notice_.peak_memory_bytes = usage.peak_memory_bytes.value_or(
    finished_ ? finished_->peak_memory_bytes : 0);
  notice_.memory_exceeded = usage.oom_kills > 0;
  notice_.processes_exceeded = usage.refused_forks > 0;
  if (finished_) {
    notice_.wait_status = finished_->wait_status;
    notice_.disk_full = finished_->disk_full;
  } else {
    notice_.wait_status = status; // of pid 1: killed, or failed to begin
  }
  if (notice_.failure.ok() && !finished_ && !made_a_copy() && WIFEXITED(status))
    notice_.failure = {step::order, EPIPE}; // it never said why
}

bool cold_run::is_gone() {
  if (resources_.group->empty())
    return true;
  resources_.group->kill();
  return resources_.group->empty();
}

} // namespace troupe::warden
