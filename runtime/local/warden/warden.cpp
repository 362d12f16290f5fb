#include "runtime/local/warden/warden.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/isolation/idmapped_mount.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace troupe::warden {

namespace {

/// How often a group that should be empty is looked at again.
constexpr int burial_interval_ms = 5;

} // namespace

warden::warden(warden_settings settings)
    : settings_{std::move(settings)}, socket_{settings_.socket} {}

int warden::run() {
  if (!open())
    return 1;
  while (!stopping_) {
    epoll_event events[64];
    int count = ::epoll_wait(epoll_.get(), events, 64, wait_time());
    for (int i = 0; i < count; ++i) {
      auto key = events[i].data.u64;
      if (key == engine_key)
        hear_engine();
      else if ((key & 3) == sync_kind)
        hear_run(key >> kind_bits);
      else if ((key & 3) == exit_kind)
        end(key >> kind_bits);
      else
        reap_child(key >> kind_bits);
    }
    check_clocks();
    bury();
    flush();
  }
  clean_up();
  return 0;
}

bool warden::open() {
  sweep_cgroups(settings_.directory); // of a warden before this one
  sweep_dead_instances(settings_.state_dir);
  auto name = "troupe-"
    + std::filesystem::path{settings_.directory}.filename().string();
  auto site = isolation::make_cgroup_site(name);
  if (!record_cgroups(settings_.directory, site.directories()))
    return false;
  uid_lock_
    = claim_uids(settings_.state_dir, settings_.first_uid, settings_.uid_count);
  uids_ = uid_pool{uid_lock_.first, uid_lock_.count};
  isolation::probe_context context;
  context.groups = &site;
  context.privileged = uid_lock_.count > 0;
  context.uid = context.privileged ? uid_lock_.first : ::geteuid();
  context.gid = context.privileged ? uid_lock_.first : ::getegid();
  context.without = settings_.without;
  plans_ = plan_builder{isolation::probe_host(context)};
  groups_ = group_pool{std::move(site)};
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_ || !watch(socket_.get(), engine_key))
    return false;
  message hello;
  hello.what = word::hello;
  hello.hello = plans_.report();
  say(std::move(hello));
  return true;
}

bool warden::watch(int fd, std::uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// -- the engine --------------------------------------------------------------

void warden::hear_engine() {
  for (;;) {
    packet from_engine;
    switch (
      receive_packet(socket_.get(), max_packet, max_descriptors, from_engine)) {
    case packet_status::done:
      obey(from_engine);
      break;
    case packet_status::later:
      return;
    case packet_status::closed:
      stopping_ = true;
      return;
    case packet_status::broken:
      break; // one bad packet; what it carried is closed
    }
    if (stopping_)
      return;
  }
}

void warden::obey(packet& from_engine) {
  message m;
  if (!decode(from_engine.bytes, m))
    return;
  if (m.what == word::stop) {
    stopping_ = true;
  } else if (m.what == word::kill) {
    kill(m.ticket);
  } else if (m.what == word::lease) {
    grant(m.start);
  } else if (m.what == word::release) {
    if (!leases_.release(m.ticket)) { // of a warden before this one
      message gone;
      gone.what = word::released;
      gone.ticket = m.ticket;
      say(std::move(gone));
    }
  } else if (m.what == word::spawn_interpreter) {
    hatch_interpreter(m, from_engine.descriptors);
  } else if (m.what == word::broker) {
    start_broker(m.ticket, std::move(from_engine.descriptors));
  } else if (m.what == word::keep) {
    auto& given = from_engine.descriptors;
    if (given.size() == 1)
      keep(m.start, std::move(given.front()));
    else
      refuse(m.start, {isolation::step::order, EBADF}, "");
  } else if (serve_sandbox(m)) {
    return;
  } else if (m.what == word::start) {
    auto& given = from_engine.descriptors;
    std::size_t wanted = 3u + m.start.has_stdin + m.start.has_channel;
    if (given.size() != wanted) {
      refuse(m.start, {isolation::step::order, EBADF}, "");
      return;
    }
    std::size_t next = 0;
    run_descriptors fds;
    fds.launch = std::move(given[next++]);
    if (m.start.has_stdin)
      fds.in = std::move(given[next++]);
    fds.out = std::move(given[next++]);
    fds.err = std::move(given[next++]);
    if (m.start.has_channel)
      fds.channel = std::move(given[next++]);
    start(m.start, std::move(fds));
  }
}

void warden::kill(std::uint64_t ticket) {
  if (auto i = running_.find(ticket); i != running_.end())
    i->second.kill();
  if (auto i = children_.find(ticket); i != children_.end())
    ::syscall(SYS_pidfd_send_signal, i->second.get(), SIGKILL, nullptr, 0);
}

std::optional<isolation::plan> warden::admit(const start_order& order,
                                             build_fn build,
                                             std::string_view what,
                                             run_resources& resources) {
  if (auto why = plans_.refuse(order); !why.empty()) {
    refuse(order, {isolation::step::namespaces, EPERM}, std::move(why));
    return std::nullopt;
  }
  if (!gather(order, resources)) {
    const auto why = isolation::failed(isolation::step::cgroup);
    refuse(order, why,
           "no uid or no control group available for another "
             + std::string{what});
    return std::nullopt;
  }
  auto plan = (plans_.*build)(order);
  if (!resources.work_directory.empty())
    plan.working_dir = resources.work_directory;
  return plan;
}

void warden::start(const start_order& order, run_descriptors fds) {
  run_resources resources;
  auto plan = admit(order, &plan_builder::build, "run", resources);
  if (!plan)
    return;
  std::vector<unique_fd> mounts;
  if (!map_mounts(*plan, resources, mounts)) {
    auto no = isolation::failed(isolation::step::open_sources);
    give_back(std::move(resources));
    refuse(order, no,
           "a writable directory cannot be mapped to the user of the run: use "
           "a file system with id-mapped mounts, or run the engine as an "
           "ordinary user");
    return;
  }
  begin(order, std::move(resources), *plan, fds);
}

void warden::begin(const start_order& order, run_resources resources,
                   const isolation::plan& plan, const run_descriptors& fds) {
  auto [place, fresh]
    = running_.try_emplace(order.ticket, order, std::move(resources));
  if (!fresh)
    return; // the engine counts upwards; a ticket given twice is not obeyed
  auto& slot = place->second;
  auto no = slot.begin(plan, fds);
  if (slot.pidfd() < 0) { // nothing was born
    slot.notice().failure = no;
    dying_.emplace(order.ticket, std::move(slot));
    running_.erase(place);
    return;
  }
  auto key = order.ticket << kind_bits;
  if (no.ok()
      && !(watch(slot.sync(), key | sync_kind)
           && watch(slot.pidfd(), key | exit_kind)
           && ::write(slot.sync(), "g", 1) == 1))
    no = isolation::failed(isolation::step::order);
  if (no.ok())
    return;
  slot.notice().failure = no;
  slot.kill();
  end(order.ticket);
}

void warden::refuse(const start_order& order, isolation::outcome why,
                    std::string detail) {
  message m;
  m.what = word::ended;
  m.end.ticket = order.ticket;
  m.end.failure = why;
  m.end.detail = std::move(detail);
  say(std::move(m));
}

bool warden::map_mounts(isolation::plan& plan, const run_resources& resources,
                        std::vector<unique_fd>& keep) {
  if (!resources.uid || !plan.layers.mounts)
    return true;
  for (auto& shown : plan.tree.shown) {
    if (!shown.writable)
      continue;
    keep.push_back(isolation::mapped_mount(shown.host.c_str(), *resources.uid,
                                           *resources.uid));
    if (!keep.back())
      return false;
    shown.mount = keep.back().get();
  }
  return true;
}

bool warden::gather(const start_order& order, run_resources& out) {
  out.group = groups_.take();
  if (!out.group)
    return false;
  bool off = order.level == isolation_level::off;
  if (!off && uid_lock_.count > 0) {
    out.uid = uids_.take();
    if (!out.uid) {
      groups_.put(std::move(out.group));
      errno = EAGAIN;
      return false;
    }
  }
  if (off && order.working_dir == "/tmp") {
    out.work_directory
      = settings_.directory + "/work-" + std::to_string(order.ticket);
    return ::mkdir(out.work_directory.c_str(), 0700) == 0;
  }
  return true;
}

// -- runs --------------------------------------------------------------------

void warden::hear_run(std::uint64_t ticket) {
  auto i = running_.find(ticket);
  if (i == running_.end() || !i->second.hear()) {
    // End of file is told over and over; the exit is told by the pidfd.
    if (i != running_.end() && i->second.sync_is_closed())
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, i->second.sync(), nullptr);
    return;
  }
  message m;
  m.what = word::started;
  m.ticket = ticket;
  std::vector<unique_fd> files;
  if (auto listener = i->second.take_listener())
    files.push_back(std::move(listener));
  say(std::move(m), std::move(files));
}

void warden::end(std::uint64_t ticket) {
  auto i = running_.find(ticket);
  if (i == running_.end())
    return;
  i->second.reap();
  dying_.emplace(ticket, std::move(i->second));
  running_.erase(i);
}

void warden::bury() {
  for (auto& slot : leases_.bury()) {
    give_back(std::move(slot.resources));
    message m;
    m.what = word::released;
    m.ticket = slot.ticket;
    say(std::move(m));
  }
  for (auto i = dying_.begin(); i != dying_.end();) {
    auto& slot = i->second;
    if (!slot.is_gone()) {
      ++i;
      continue;
    }
    message m;
    m.what = word::ended;
    m.end = slot.notice();
    if (slot.made_a_copy() && m.end.failure.ok())
      add_layer(m.end.ticket, slot.take_written(), m.end);
    give_back(slot.take_resources());
    say(std::move(m));
    i = dying_.erase(i);
  }
}

void warden::check_clocks() {
  auto now = clock::now();
  for (auto& [ticket, slot] : running_)
    if (slot.next_check() <= now)
      slot.check_cpu();
}

int warden::wait_time() const {
  if (!dying_.empty() || leases_.is_burying() || !unsent_.empty())
    return burial_interval_ms;
  auto next = clock::time_point::max();
  for (const auto& [ticket, slot] : running_)
    next = std::min(next, slot.next_check());
  if (next == clock::time_point::max())
    return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void warden::say(message m, std::vector<unique_fd> descriptors) {
  unsent_.push_back({encode(m), std::move(descriptors)});
  flush();
}

void warden::flush() {
  while (!unsent_.empty()) {
    std::vector<int> numbers;
    for (const auto& fd : unsent_.front().descriptors)
      numbers.push_back(fd.get());
    switch (send_packet(socket_.get(), unsent_.front().bytes, numbers)) {
    case packet_status::later:
      return;
    case packet_status::closed:
      stopping_ = true;
      unsent_.clear();
      return;
    case packet_status::done:
    case packet_status::broken:
      unsent_.pop_front();
      break;
    }
  }
}

void warden::clean_up() {
  for (auto& [ticket, slot] : running_)
    slot.kill();
  for (auto& [ticket, slot] : running_)
    slot.reap();
  for (auto& [ticket, child] : children_)
    kill(ticket);
  while (!children_.empty())
    reap_child(children_.begin()->first);
  leases_.release_all();
  leases_.bury();
  running_.clear();
  dying_.clear();
  groups_ = group_pool{};
  remove_instance(settings_.directory);
}

} // namespace troupe::warden
