#include "runtime/local/warm/warm_run.hpp"

#include <sys/wait.h>

#include <csignal>

namespace troupe::zygote {

/// One more second: the group's clock decides, this is only the net below. The
/// kernel counts for it by ticks, which are off when processors are busy.
std::uint64_t warm_run::cpu_seconds() const {
  return static_cast<std::uint64_t>(what.run->limits.cpu.count()) / 1000 + 2;
}

std::chrono::microseconds warm_run::age() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock::now()
                                                               - begun);
}

process_exit read_exit(const warm_run& run, const packet& in, slot& s) {
  process_exit e;
  e.wait_status = in.status;
  e.killed = run.kill_asked;
  e.memory_exceeded = (in.flags & memory_exceeded) != 0;
  e.processes_exceeded = (in.flags & forks_refused) != 0;
  e.disk_full = (in.flags & disk_full) != 0;
  e.cpu = std::chrono::microseconds{in.cpu_microseconds};
  const auto limit = run.what.run->limits.cpu;
  // RLIMIT_CPU ends with SIGXCPU, and with SIGKILL who ignores that.
  e.cpu_exceeded = run.cpu_exceeded
    || (WIFSIGNALED(in.status)
        && ((WTERMSIG(in.status) == SIGXCPU && e.has_used(limit))
            || (WTERMSIG(in.status) == SIGKILL && !run.kill_asked
                && !e.memory_exceeded && e.cpu >= limit)));
  e.wall = run.age();
  e.peak_memory_bytes = in.peak_bytes;
  e.isolation = s.on().report;
  e.notes = s.on().notes;
  e.add(s.end_network());
  if (e.memory_exceeded)
    s.ran_out_of_memory(); // told with this run, not with the next
  if ((in.flags & never_began) != 0)
    e.start_failure
      = "no process could be created in the slot: " + describe(in).text;
  return e;
}

process_exit exit_with_slot(const warm_run& run, slot& s) {
  process_exit e;
  e.isolation = s.on().report;
  e.add(s.end_network());
  e.killed = run.kill_asked;
  e.cpu_exceeded = run.cpu_exceeded;
  // With cgroup v2 the kernel kills a group as a whole, our slot included.
  e.memory_exceeded = s.ran_out_of_memory();
  e.lost = !run.kill_asked && !e.memory_exceeded;
  e.wait_status = SIGKILL;
  e.wall = run.age();
  return e;
}

process_exit unstarted_exit(const warm_run& run, std::string why) {
  process_exit e;
  e.start_failure = std::move(why);
  e.killed = run.kill_asked;
  e.wall = run.age();
  return e;
}

void waiting_runs::add(const warm_run_ptr& run) {
  lists_[run->key()].push_back(run);
  ++count_;
}

warm_run_ptr waiting_runs::take(const std::string& key) {
  const auto list = lists_.find(key);
  if (list == lists_.end())
    return nullptr;
  auto run = std::move(list->second.front());
  list->second.pop_front();
  --count_;
  if (list->second.empty())
    lists_.erase(list);
  return run;
}

warm_run_ptr waiting_runs::take_any() {
  return lists_.empty() ? nullptr : take(std::string{lists_.begin()->first});
}

void waiting_runs::remove(const warm_run_ptr& run) {
  const auto list = lists_.find(run->key());
  if (list == lists_.end())
    return;
  count_ -= std::erase(list->second, run);
  if (list->second.empty())
    lists_.erase(list);
}

std::size_t waiting_runs::count(const std::string& key) const {
  const auto list = lists_.find(key);
  return list == lists_.end() ? 0 : list->second.size();
}

warm_run_ptr waiting_runs::first(const std::string& key) const {
  const auto list = lists_.find(key);
  return list == lists_.end() ? nullptr : list->second.front();
}

std::vector<std::string> waiting_runs::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, list] : lists_)
    all.push_back(key);
  return all;
}

} // namespace troupe::zygote
