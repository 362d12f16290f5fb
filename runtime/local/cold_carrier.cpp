#include "runtime/local/cold_carrier.hpp"

#include "runtime/local/launch_block.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// Probing takes milliseconds; sweeping after a crash may take a second.
constexpr std::chrono::seconds hello_time{20};

/// From START to STARTED. Generous: a loaded host builds trees slowly.
constexpr std::chrono::seconds start_time{30};

/// A warden that dies over and over is not started in a tight loop.
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{5'000};

/// So many deaths in a row, and runs are refused instead of kept waiting.
constexpr std::uint32_t hopeless_after = 3;

error unavailable(std::string text) {
  return error{.code = ec::unavailable,
               .text = std::move(text),
               .fields = {},
               .retry_after = {}};
}

std::string why_not_begun(const warden::end_notice& notice) {
  if (!notice.detail.empty())
    return notice.detail;
  std::string text = "step " + std::string{to_string(notice.failure.at)} + ": "
    + std::strerror(notice.failure.error);
  if (notice.failure.at == isolation::step::exec)
    text = "execute the program: " + text;
  return text;
}

} // namespace

cold_carrier::cold_carrier(asio::any_io_executor strand,
                           const local_options& options,
                           const warden::instance& instance)
    : strand_{std::move(strand)}, options_{options},
      instance_directory_{instance.directory()}, state_dir_{options.state_dir},
      restart_{strand_}, hello_deadline_{strand_} {}

void cold_carrier::open(
  std::function<void(result<isolation::probe_report>)> ready) {
  ready_ = std::move(ready);
  spawn();
}

// -- the warden
// ----------------------------------------------------------------

void cold_carrier::spawn() {
  warden::warden_settings settings;
  settings.state_dir = state_dir_;
  settings.directory = instance_directory_;
  settings.first_uid = options_.first_uid;
  settings.uid_count = options_.uid_count;
  settings.without = options_.pretend_absent;
  std::weak_ptr<cold_carrier> weak = weak_from_this();
  warden_process::events listener;
  listener.message = [weak](warden::message m, std::vector<unique_fd> fds) {
    if (auto self = weak.lock())
      self->hear(std::move(m), std::move(fds));
  };
  listener.died = [weak] {
    if (auto self = weak.lock())
      self->lose_warden();
  };
  auto started
    = warden_process::start(strand_, std::move(settings), std::move(listener));
  if (!started) {
    trouble_ = started.error().text;
    lose_warden();
    return;
  }
  warden_ = std::move(*started);
  hello_deadline_.expires_after(hello_time);
  hello_deadline_.async_wait([weak](boost::system::error_code code) {
    auto self = weak.lock();
    if (!code && self && self->warden_)
      self->warden_->kill();
  });
}

std::uint64_t cold_carrier::ask(warden::message m,
                                std::vector<unique_fd> descriptors,
                                answer then) {
  if (!warden_ || !trouble_.empty() || closing_)
    return 0;
  m.ticket = m.start.ticket = next_ticket_++;
  asked_.emplace(m.ticket, std::move(then));
  warden_->send(m, std::move(descriptors));
  return m.ticket;
}

void cold_carrier::release(std::uint64_t ticket) {
  if (!warden_)
    return; // its groups went with it
  warden::message m;
  m.what = warden::word::release;
  m.ticket = ticket;
  warden_->send(m);
}

void cold_carrier::hear(warden::message m, std::vector<unique_fd> descriptors) {
  const auto ticket = m.what == warden::word::leased ? m.grant.ticket
    : m.what == warden::word::ended                  ? m.end.ticket
                                                     : 0;
  if (auto node = asked_.extract(ticket)) {
    node.mapped()(std::move(m), std::move(descriptors));
    return;
  }
  switch (m.what) {
  case warden::word::hello:
    say_ready(m.hello);
    break;
  case warden::word::started:
    mark_started(m.ticket);
    break;
  case warden::word::ended:
    finish(m.end);
    break;
  case warden::word::start:
  case warden::word::kill:
  case warden::word::stop:
  case warden::word::lease:
  case warden::word::release:
  case warden::word::hatch:
    break; // ours to say
  case warden::word::leased:
    release(m.grant.ticket); // nobody waits for it any more
    break;
  }
}

void cold_carrier::say_ready(const isolation::probe_report& report) {
  hello_deadline_.cancel();
  probe_ = report;
  deaths_in_a_row_ = 0;
  trouble_.clear();
  report_lost();
  settle_pending();
  if (auto ready = std::exchange(ready_, nullptr))
    ready(probe_);
}

void cold_carrier::lose_warden() {
  warden_.reset();
  hello_deadline_.cancel();
  for (auto& [ticket, f] : flights_)
    f.deadline.reset();
  for (auto& [ticket, then] : std::exchange(asked_, {})) {
    warden::message gone;
    gone.what = warden::word::ended;
    gone.end.failure = {isolation::step::order, EPIPE};
    gone.end.detail = "the warden died";
    then(std::move(gone), {});
  }
  lost_.merge(flights_);
  flights_.clear();
  tickets_.clear();
  if (closing_) {
    report_lost();
    settle_pending();
    if (auto done = std::exchange(closed_, nullptr))
      done();
    return;
  }
  if (trouble_.empty())
    trouble_ = "the warden died and is being replaced";
  if (++deaths_in_a_row_ >= hopeless_after) {
    // Nobody will sweep: say so now instead of never.
    report_lost();
    if (auto ready = std::exchange(ready_, nullptr))
      ready(unavailable(trouble_
                        + "; see `troupe doctor` and the state directory "
                        + state_dir_));
    settle_pending();
  }
  auto pause = std::min<std::chrono::milliseconds>(
    first_pause * (1u << std::min(deaths_in_a_row_ - 1, 10u)), longest_pause);
  restart_.expires_after(pause);
  restart_.async_wait(
    [weak = weak_from_this()](boost::system::error_code code) {
      auto self = weak.lock();
      if (!code && self && !self->closing_)
        self->spawn();
    });
}

void cold_carrier::report_lost() {
  for (auto& [ticket, f] : std::exchange(lost_, {})) {
    run_ending ending;
    ending.lost = true;
    ending.isolation = report_for(f.level);
    ending.notes = std::move(f.notes);
    f.events.ended(std::move(ending));
  }
}

int cold_carrier::warden_pid() const {
  return warden_ ? warden_->pid() : -1;
}

// -- runs
// ----------------------------------------------------------------------

bool cold_carrier::takes(const launch&) const {
  return true;
}

void cold_carrier::refuse(const launch& what, carrier_events& events,
                          std::string why) {
  run_ending ending;
  ending.start_failure = std::move(why);
  ending.isolation = report_for(what.run->isolation);
  events.ended(std::move(ending));
}

void cold_carrier::settle_pending() {
  bool hopeless = closing_ || deaths_in_a_row_ >= hopeless_after;
  if (!trouble_.empty() && !hopeless)
    return;
  for (auto& [what, events] : std::exchange(pending_, {}))
    if (hopeless)
      refuse(what, events, trouble_);
    else
      start(std::move(what), std::move(events));
}

void cold_carrier::start(launch what, carrier_events events) {
  if (closing_ || deaths_in_a_row_ >= hopeless_after) {
    refuse(what, events, closing_ ? "the local backend is stopping" : trouble_);
    return;
  }
  if (!trouble_.empty()) {
    pending_.emplace_back(std::move(what), std::move(events));
    return;
  }
  auto block = make_launch_block(what.argv, what.env);
  if (!block) {
    refuse(what, events, block.error().text);
    return;
  }
  warden::message m;
  m.what = warden::word::start;
  auto& order = m.start;
  order.ticket = next_ticket_++;
  order.level = what.run->isolation;
  order.limits = what.run->limits;
  order.has_stdin = static_cast<bool>(what.in);
  order.has_channel = static_cast<bool>(what.channel);
  if (!what.working_dir.empty())
    order.working_dir = what.working_dir;
  order.shown = std::move(what.shown);
  std::vector<unique_fd> fds;
  fds.push_back(std::move(*block));
  if (what.in)
    fds.push_back(std::move(what.in));
  fds.push_back(std::move(what.out));
  fds.push_back(std::move(what.err));
  if (what.channel)
    fds.push_back(std::move(what.channel));

  auto& f = flights_[order.ticket];
  f.id = what.run->id;
  f.level = what.run->isolation;
  f.events = std::move(events);
  if (f.level != isolation_level::off
      && what.run->network.mode != network_mode::off)
    f.notes.emplace_back("no network broker: the run could not connect");
  tickets_[f.id.str()] = order.ticket;
  expect(order.ticket, f, start_time, false);
  warden_->send(m, std::move(fds));
}

void cold_carrier::mark_started(std::uint64_t ticket) {
  auto i = flights_.find(ticket);
  if (i == flights_.end())
    return;
  if (!i->second.kill_sent)
    i->second.deadline.reset();
  i->second.started = true;
  if (i->second.events.started)
    i->second.events.started();
}

void cold_carrier::finish(const warden::end_notice& notice) {
  auto i = flights_.find(notice.ticket);
  if (i == flights_.end())
    return;
  auto f = std::move(i->second);
  flights_.erase(i);
  tickets_.erase(f.id.str());
  f.deadline.reset();
  run_ending ending;
  if (!notice.failure.ok() && !f.started)
    ending.start_failure = why_not_begun(notice);
  ending.wait_status = notice.wait_status;
  ending.killed = notice.killed;
  ending.memory_exceeded = notice.memory_exceeded;
  ending.processes_exceeded = notice.processes_exceeded;
  ending.cpu_exceeded = notice.cpu_exceeded;
  ending.disk_full = notice.disk_full;
  ending.wall = std::chrono::microseconds{notice.wall_us};
  ending.cpu = std::chrono::microseconds{notice.cpu_us};
  ending.peak_memory_bytes = notice.peak_memory_bytes;
  ending.isolation = report_for(f.level);
  ending.notes = std::move(f.notes);
  f.events.ended(std::move(ending));
}

void cold_carrier::kill(const run_id& id) {
  auto waiting = std::ranges::find_if(
    pending_, [&](const auto& entry) { return entry.first.run->id == id; });
  if (waiting != pending_.end()) {
    auto entry = std::move(*waiting);
    pending_.erase(waiting);
    refuse(entry.first, entry.second, "ended before it began");
    return;
  }
  auto i = tickets_.find(id.str());
  if (i == tickets_.end())
    return;
  if (auto f = flights_.find(i->second); f != flights_.end())
    send_kill(f->first, f->second);
}

void cold_carrier::send_kill(std::uint64_t ticket, flight& f) {
  if (std::exchange(f.kill_sent, true) || !warden_)
    return;
  warden::message m;
  m.what = warden::word::kill;
  m.ticket = ticket;
  warden_->send(m);
  // A warden that does not answer is worth nothing: its death kills all.
  expect(ticket, f, options_.kill_grace, true);
}

void cold_carrier::expect(std::uint64_t ticket, flight& f,
                          std::chrono::milliseconds within, bool then_replace) {
  f.deadline = std::make_unique<asio::steady_timer>(strand_, within);
  f.deadline->async_wait([weak = weak_from_this(), ticket,
                          then_replace](boost::system::error_code code) {
    auto self = weak.lock();
    if (code || !self)
      return;
    auto i = self->flights_.find(ticket);
    if (i == self->flights_.end())
      return;
    if (then_replace && self->warden_)
      self->warden_->kill();
    else
      self->send_kill(ticket, i->second);
  });
}

void cold_carrier::stop() {
  closing_ = true;
  restart_.cancel();
  for (auto& [ticket, f] : flights_)
    send_kill(ticket, f);
}

void cold_carrier::close(std::function<void()> done) {
  closing_ = true;
  restart_.cancel();
  if (!warden_) {
    report_lost();
    done();
    return;
  }
  closed_ = std::move(done);
  warden::message m;
  m.what = warden::word::stop;
  warden_->send(m);
  hello_deadline_.expires_after(options_.kill_grace);
  hello_deadline_.async_wait(
    [weak = weak_from_this()](boost::system::error_code code) {
      auto self = weak.lock();
      if (!code && self && self->warden_)
        self->warden_->kill();
    });
}

isolation_report cold_carrier::report_for(isolation_level level) const {
  isolation_report report;
  report.level = level;
  for (const auto& layer : probe_.layers) {
    isolation_layer entry{layer.name, layer.state, layer.reason};
    if (level == isolation_level::off && layer.name != "memory_limit"
        && layer.name != "process_limit" && layer.name != "cpu_clock"
        && layer.name != "atomic_kill") {
      entry.state = layer_state::absent;
      entry.reason = "isolation is off";
    }
    report.layers.push_back(std::move(entry));
  }
  return report;
}

} // namespace troupe
