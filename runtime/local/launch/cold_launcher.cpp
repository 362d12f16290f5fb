#include "runtime/local/launch/cold_launcher.hpp"

#include "runtime/local/warden/launch_block.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

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

cold_launcher::cold_launcher(asio::any_io_executor strand,
                             warden_options options,
                             const warden::instance& instance)
    : strand_{std::move(strand)}, options_{std::move(options)},
      instance_directory_{instance.directory()}, restart_{strand_},
      hello_deadline_{strand_}, answer_watch_{strand_} {}

bool cold_launcher::accepts(const launch&) const {
  return true;
}

void cold_launcher::refuse(const launch& what, carrier_events& events,
                           std::string why) {
  process_exit ending;
  ending.start_failure = std::move(why);
  ending.isolation = report_for(what.run->isolation);
  events.ended(std::move(ending));
}

void cold_launcher::settle_pending() {
  bool hopeless = closing_ || gave_up();
  if (!trouble_.empty() && !hopeless)
    return;
  for (auto& [what, events] : std::exchange(pending_, {}))
    if (hopeless)
      refuse(what, events, trouble_);
    else
      start(std::move(what), std::move(events));
}

void cold_launcher::start(launch what, carrier_events events) {
  if (closing_ || gave_up()) {
    refuse(what, events, closing_ ? "the local backend is stopping" : trouble_);
    return;
  }
  // What dies with a warden may tell us before the warden's own end does.
  if (!trouble_.empty() || !warden_ || warden_->has_hung_up()) {
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
  order.notify_network = brokers(*what.run);
  f.organization = what.run->organization;
  f.network = what.run->network;
  if (auto note = network_note(*what.run); !note.empty())
    f.notes.push_back(std::move(note));
  tickets_[f.id] = order.ticket;
  expect(order.ticket, f, options_.answers, false);
  warden_->send(m, std::move(fds));
}

void cold_launcher::mark_started(std::uint64_t ticket,
                                 std::vector<unique_fd> listener) {
  auto i = flights_.find(ticket);
  if (i == flights_.end())
    return;
  if (!listener.empty()) {
    // Calls that came first wait for whoever reads the listener.
    auto opened = network::broker::open(
      strand_,
      {std::move(listener.front()), i->second.network, options_.network,
       i->second.organization, weak_from_this()});
    if (opened)
      i->second.broker = std::move(*opened);
  }
  if (!i->second.kill_sent)
    i->second.deadline.reset();
  i->second.started = true;
  if (i->second.events.started)
    i->second.events.started();
}

void cold_launcher::finish(const warden::end_notice& notice) {
  auto i = flights_.find(notice.ticket);
  if (i == flights_.end())
    return;
  auto f = std::move(i->second);
  flights_.erase(i);
  tickets_.erase(f.id);
  f.deadline.reset();
  process_exit ending;
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
  if (f.broker)
    ending.add(f.broker->end_run());
  f.events.ended(std::move(ending));
}

bool cold_launcher::brokers(const prepared_run& run) const {
  return run.isolation != isolation_level::off
    && run.network.mode != network_mode::off && probe_.has("network_broker");
}

std::string cold_launcher::network_note(const prepared_run& run) const {
  const bool wants = run.network.mode != network_mode::off;
  if (run.isolation == isolation_level::off)
    return run.network == network_policy{}
      ? ""
      : "isolation is off: the network policy was not enforced";
  return wants && !probe_.has("network_broker")
    ? "no network broker: the run had no network"
    : "";
}

void cold_launcher::kill(const run_id& id) {
  auto waiting = std::ranges::find_if(
    pending_, [&](const auto& entry) { return entry.first.run->id == id; });
  if (waiting != pending_.end()) {
    auto entry = std::move(*waiting);
    pending_.erase(waiting);
    refuse(entry.first, entry.second, "ended before it began");
    return;
  }
  auto i = tickets_.find(id);
  if (i == tickets_.end())
    return;
  if (auto f = flights_.find(i->second); f != flights_.end())
    send_kill(f->first, f->second);
}

void cold_launcher::send_kill(std::uint64_t ticket, flight& f) {
  if (std::exchange(f.kill_sent, true) || !warden_)
    return;
  warden::message m;
  m.what = warden::word::kill;
  m.ticket = ticket;
  warden_->send(m);
  // A warden that does not answer is worth nothing: its death kills all.
  expect(ticket, f, options_.kill_grace, true);
}

void cold_launcher::expect(std::uint64_t ticket, flight& f,
                           std::chrono::milliseconds within,
                           bool then_replace) {
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
      self->replace_warden();
    else
      self->send_kill(ticket, i->second);
  });
}

void cold_launcher::stop() {
  closing_ = true;
  restart_.cancel();
  for (auto& [ticket, f] : flights_)
    send_kill(ticket, f);
}

isolation_report cold_launcher::report_for(isolation_level level) const {
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
