#include "runtime/local/launch/launch_shape.hpp"
#include "runtime/local/warm/warm_launcher_impl.hpp"

#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace troupe::zygote {

namespace {

using clock = std::chrono::steady_clock;

std::uint64_t cpu_seconds(const limits& l) {
  return static_cast<std::uint64_t>((l.cpu.count() + 999) / 1000);
}

std::chrono::microseconds since(clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock::now()
                                                               - then);
}

} // namespace

slot_carrier::impl::impl(boost::asio::any_io_executor strand,
                         zygote_options options, paths where,
                         std::shared_ptr<grounds> makers,
                         std::weak_ptr<launcher> otherwise)
    : strand_{strand}, options_{std::move(options)}, where_{std::move(where)},
      provisioner_{std::move(makers)}, otherwise_{std::move(otherwise)},
      hatch_timer_{strand}, arm_timer_{strand}, evict_timer_{strand},
      watch_timer_{strand} {
  totals_.trouble = "the interpreter is starting";
  if (where_.family == family::python && options_.hot_blocks
      && !where_.profiles.empty())
    where_.profile = profile_path(where_, options_.preload);
}

/// Most tools are Python without a venv; who never runs anything else shall not
/// pay for it.
void slot_carrier::impl::begin() {
  if (where_.family == family::python && !where_.for_venvs)
    open();
}

void slot_carrier::impl::open() {
  if (!std::exchange(opened_, true))
    hatch();
}

bool slot_carrier::impl::is_for(const launch& what) const {
  const auto& run = *what.run;
  const bool is_python = run.lang == language::python;
  // A slot's uid would not own it: only the warden maps mounts.
  if (std::ranges::any_of(what.shown,
                          &warden::start_order::shown_path::writable))
    return false;
  const bool has_venv = !run.venv.empty();
  return what.is_runner && !what.in && what.channel
    && has_venv == where_.for_venvs && (has_venv || run.interpreter.empty())
    && is_python == (where_.family == family::python);
}

bool slot_carrier::impl::takes(const launch& what) {
  if (stopped_ || !is_for(what))
    return false;
  open(); // if this is the first of its kind, for those to come
  if (!current_)
    return false;
  // A host that has no room for another slot may still have room for a
  // process; beyond that the backend's own queue is the bound.
  return has_room() || pool_.has_free(slot_key(what)) || pool_.coldest_free();
}

void slot_carrier::impl::start(launch what, carrier_events events) {
  auto j = std::make_shared<job>();
  j->key = slot_key(what);
  j->what = std::move(what);
  j->events = std::move(events);
  j->begun = clock::now();
  jobs_[j->what.run->id] = j;
  if (stopped_ || !current_)
    return fail(j, "the local backend stops");
  while (auto s = pool_.take(j->key)) {
    if (s->has_network_left())
      return begin(j, s);
    destroy(s);
  }
  waiting_[j->key].push_back(j);
  ++waiting_count_;
  make_for_waiting();
}

void slot_carrier::impl::begin(const job_ptr& j, const slot_ptr& s) {
  j->on = s;
  j->through_armed = s->now == slot::state::armed;
  running_[s->ticket()] = j;
  const bool sent = s->run(
    cpu_seconds(j->what.run->limits), wants_early_word(*s) ? report_early : 0u,
    j->what.out.get(), j->what.err.get(), j->what.channel.get());
  s->now = slot::state::running;
  s->since = clock::now();
  ++s->runs;
  ++totals_.runs;
  totals_.armed_runs += j->through_armed ? 1u : 0u;
  if (const auto home = home_.find(s->ticket()); home != home_.end())
    ++home->second->runs;
  j->what.out.reset();
  j->what.err.reset();
  j->what.channel.reset();
  watch_soon();
  if (s->is_single_use())
    make_spares(*j);
  fork_ahead(*j);
  if (sent && j->events.started)
    j->events.started();
  // Not sent: the slot is dead, and its end of file tells the rest.
}

/// What the slot said about the end of this run.
process_exit slot_carrier::impl::read_ending(const packet& in, const job& j,
                                             slot& s) {
  process_exit e;
  e.wait_status = in.status;
  e.killed = j.kill_asked;
  e.memory_exceeded = (in.flags & memory_exceeded) != 0;
  e.processes_exceeded = (in.flags & forks_refused) != 0;
  e.disk_full = (in.flags & disk_full) != 0;
  e.cpu = std::chrono::microseconds{in.cpu_microseconds};
  // RLIMIT_CPU ends with SIGXCPU, and with SIGKILL who ignores that.
  e.cpu_exceeded = j.cpu_exceeded
    || (WIFSIGNALED(in.status)
        && ((WTERMSIG(in.status) == SIGXCPU
             && e.has_used(j.what.run->limits.cpu))
            || (WTERMSIG(in.status) == SIGKILL && !j.kill_asked
                && !e.memory_exceeded && e.cpu >= j.what.run->limits.cpu)));
  e.wall = since(j.begun);
  e.peak_memory_bytes = in.peak_bytes;
  e.isolation = s.on().report;
  e.notes = s.on().notes;
  e.add(s.end_network());
  if (e.memory_exceeded)
    s.ran_out_of_memory(); // told with this run, not with the next
  return e;
}

void slot_carrier::impl::on_exited(slot& s, const packet& in) {
  const auto found = running_.find(s.ticket());
  const auto self = pool_.find(s.ticket());
  no_longer_over(s);
  bool is_clean = (in.flags & clean) != 0;
  if (found == running_.end()) {
    // It was answered before, or a waiting child died before its run came.
    free_slot(self, is_clean && s.now != slot::state::armed);
    return;
  }
  const auto j = found->second;
  running_.erase(found);
  auto ending = read_ending(in, *j, s);
  if ((in.flags & never_began) != 0)
    ending.start_failure
      = "no process could be created in the slot: " + describe(in).text;
  if (j->through_armed && s.has_unread_run()) {
    // The waiting child was dead already. The order must not reach the next.
    ending.start_failure = "the waiting process died";
    is_clean = false;
  }
  free_slot(self, is_clean);
  end(j, std::move(ending));
}

void slot_carrier::impl::end(const job_ptr& j, process_exit ending) {
  jobs_.erase(j->what.run->id);
  j->on.reset();
  if (auto ended = std::move(j->events.ended))
    ended(std::move(ending));
}

/// It never began, and for no fault of its own.
void slot_carrier::impl::fail(const job_ptr& j, std::string why) {
  if (auto other = otherwise_.lock(); other && !j->kill_asked && !stopped_) {
    jobs_.erase(j->what.run->id);
    return other->start(std::move(j->what), std::move(j->events));
  }
  process_exit ending;
  ending.start_failure = std::move(why);
  ending.killed = j->kill_asked;
  ending.wall = since(j->begun);
  end(j, std::move(ending));
}

job_ptr slot_carrier::impl::next_waiting(const std::string& key) {
  const auto list = waiting_.find(key);
  if (list == waiting_.end())
    return nullptr;
  auto j = std::move(list->second.front());
  list->second.pop_front();
  --waiting_count_;
  if (list->second.empty())
    waiting_.erase(list);
  return j;
}

void slot_carrier::impl::kill(const run_id& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    if (auto other = otherwise_.lock())
      other->kill(id);
    return;
  }
  const auto j = found->second;
  j->kill_asked = true;
  if (j->on) {
    j->kill_by = std::min(j->kill_by, clock::now() + options_.kill_grace);
    watch_soon();
    return j->on->kill();
  }
  auto& list = waiting_[j->key];
  waiting_count_ -= std::erase(list, j);
  if (list.empty())
    waiting_.erase(j->key);
  fail(j, "killed before it began");
}

void slot_carrier::impl::stop() {
  stopped_ = true;
  hatch_timer_.cancel();
  arm_timer_.cancel();
  evict_timer_.cancel();
  std::vector<run_id> ids;
  for (const auto& [id, j] : jobs_)
    ids.push_back(id);
  for (const auto& id : ids)
    kill(id);
  for (const auto& s : pool_.all())
    if (s->now != slot::state::running)
      destroy(s);
  if (hatching_)
    hatching_->close();
  hatching_.reset();
  if (auto z = std::exchange(current_, nullptr))
    retire(z);
}

slot_counts slot_carrier::impl::counts() const {
  auto now = totals_;
  now.zygotes = (current_ ? 1u : 0u) + retiring_.size();
  now.slots = pool_.size();
  now.idle = pool_.count(slot::state::idle);
  now.armed = pool_.armed();
  now.running = running_.size();
  now.zygote_pid = current_ ? current_->pid() : 0;
  now.huge_pages = current_ ? current_->huge_pages() : 0;
  now.hot_blocks = current_ ? current_->hot_blocks() : 0;
  now.ready_pages = current_ ? current_->ready_pages() : 0;
  return now;
}

slot_carrier::slot_carrier(boost::asio::any_io_executor strand,
                           zygote_options options, paths where,
                           std::shared_ptr<grounds> makers,
                           std::weak_ptr<launcher> otherwise)
    : impl_{std::make_shared<impl>(std::move(strand), std::move(options),
                                   std::move(where), std::move(makers),
                                   std::move(otherwise))} {
  impl_->begin();
}

slot_carrier::~slot_carrier() {
  impl_->stop();
}

bool slot_carrier::takes(const launch& what) const {
  return impl_->takes(what);
}
void slot_carrier::start(launch what, carrier_events events) {
  impl_->start(std::move(what), std::move(events));
}
void slot_carrier::kill(const run_id& id) {
  impl_->kill(id);
}
void slot_carrier::stop() {
  impl_->stop();
}
slot_counts slot_carrier::counts() const {
  return impl_->counts();
}
bool slot_carrier::has_failed() const {
  return impl_->has_failed();
}

} // namespace troupe::zygote
