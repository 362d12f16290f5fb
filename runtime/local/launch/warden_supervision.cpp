// Starts the warden, handles its messages, and replaces it when it dies.
#include "runtime/local/launch/cold_launcher.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Probing takes milliseconds; sweeping after a crash may take a second.
constexpr std::chrono::seconds hello_time{20};

/// A warden that dies over and over is not started in a tight loop.
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{5'000};

/// So many deaths in a row, and runs are refused instead of kept waiting.
constexpr std::uint32_t most_warden_deaths = 3;

error unavailable(std::string text) {
  return error{.code = ec::unavailable,
               .text = std::move(text),
               .fields = {},
               .retry_after = {}};
}

warden::message say_warden_died() {
  warden::message gone;
  gone.what = warden::word::ended;
  gone.end.failure = {isolation::step::order, EPIPE};
  gone.end.detail = "the warden died";
  return gone;
}

} // namespace

bool cold_launcher::gave_up() const {
  return deaths_in_a_row_ >= most_warden_deaths;
}

void cold_launcher::open(
  std::function<void(result<isolation::probe_report>)> ready) {
  ready_ = std::move(ready);
  spawn();
}

void cold_launcher::spawn() {
  warden::warden_settings settings;
  settings.state_dir = options_.state_dir;
  settings.directory = instance_directory_;
  settings.first_uid = options_.first_uid;
  settings.uid_count = options_.uid_count;
  settings.without = options_.pretend_absent;
  std::weak_ptr<cold_launcher> weak = weak_from_this();
  warden_process::events listener;
  listener.message = [weak](warden::message m, std::vector<unique_fd> fds) {
    if (auto self = weak.lock())
      self->hear(std::move(m), std::move(fds));
  };
  listener.died = [weak] {
    if (auto self = weak.lock())
      self->on_warden_exit();
  };
  auto started
    = warden_process::start(strand_, std::move(settings), std::move(listener));
  if (!started) {
    trouble_ = started.error().text;
    on_warden_exit();
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

std::uint64_t cold_launcher::ask(warden::message m,
                                 std::vector<unique_fd> descriptors,
                                 answer then) {
  if (!warden_ || !trouble_.empty() || closing_)
    return 0;
  m.ticket = m.start.ticket = next_ticket_++;
  // Of a child of its own it speaks when that ends, which may be never.
  const bool is_child = m.what == warden::word::spawn_interpreter
    || m.what == warden::word::broker || m.what == warden::word::keep;
  const auto by
    = is_child ? clock::time_point::max() : clock::now() + options_.answers;
  asked_.emplace(m.ticket,
                 question{std::move(then), by, m.what == warden::word::keep});
  watch_answers();
  warden_->send(m, std::move(descriptors));
  return m.ticket;
}

/// One timer for all questions: most are answered in a millisecond, and each
/// has been asked for half of its time at least when it is looked at.
void cold_launcher::watch_answers() {
  if (std::exchange(watches_answers_, true))
    return;
  answer_watch_.expires_after(options_.answers / 2);
  answer_watch_.async_wait(
    [weak = weak_from_this()](boost::system::error_code code) {
      if (auto self = weak.lock(); self && !code)
        self->look_for_answers();
    });
}

void cold_launcher::look_for_answers() {
  watches_answers_ = false;
  const auto now = clock::now();
  bool waits = false, late = false;
  const auto look = [&](clock::time_point by) {
    waits = waits || by != clock::time_point::max();
    late = late || by <= now;
  };
  for (const auto& [ticket, q] : asked_)
    look(q.by);
  for (const auto& [ticket, f] : leaving_)
    look(f.by);
  // One that is only starting has its own deadline.
  if (late && warden_ && trouble_.empty())
    replace_warden();
  else if (waits)
    watch_answers();
}

/// Its death kills all that it has made. Who comes until it is buried waits for
/// its successor.
void cold_launcher::replace_warden() {
  trouble_ = "the warden does not answer and is being replaced";
  warden_->kill();
}

void cold_launcher::kill_child(std::uint64_t number) {
  if (!warden_)
    return; // they died together
  warden::message m;
  m.what = warden::word::kill;
  m.ticket = number;
  warden_->send(m);
}

void cold_launcher::drop_layer(std::uint64_t number) {
  if (!warden_)
    return; // it went with it
  warden::message m;
  m.what = warden::word::drop;
  m.ticket = number;
  warden_->send(m);
}

std::uint64_t cold_launcher::start_broker(network::broker_descriptors with) {
  warden::message m;
  m.what = warden::word::broker;
  std::vector<unique_fd> files;
  for (auto* fd : {&with.control, &with.page, &with.account, &with.listener})
    files.push_back(std::move(*fd));
  // That it could not be made, or has ended, its control socket says.
  return ask(std::move(m), std::move(files), [](auto&&...) {});
}

result<std::shared_ptr<network::shared<network::account>>>
cold_launcher::account_of(const organization_id& organization) {
  return accounts_.of(organization);
}

void cold_launcher::release(std::uint64_t ticket, std::function<void()> gone) {
  if (gone)
    leaving_.emplace(
      ticket, farewell{std::move(gone), clock::now() + options_.answers});
  watch_answers();
  if (!warden_)
    return; // its successor sweeps
  warden::message m;
  m.what = warden::word::release;
  m.ticket = ticket;
  warden_->send(m);
}

void cold_launcher::notify_released(std::uint64_t ticket) {
  while (auto node = leaving_.extract(ticket))
    node.mapped().gone();
}

void cold_launcher::hear(warden::message m,
                         std::vector<unique_fd> descriptors) {
  const auto ticket = m.what == warden::word::leased ? m.grant.ticket
    : m.what == warden::word::ended                  ? m.end.ticket
                                                     : 0;
  if (auto node = asked_.extract(ticket)) {
    node.mapped().then(std::move(m), std::move(descriptors));
    return;
  }
  switch (m.what) {
  case warden::word::hello:
    say_ready(m.hello);
    break;
  case warden::word::started:
    mark_started(m.ticket, std::move(descriptors));
    break;
  case warden::word::ended:
    finish(m.end);
    break;
  case warden::word::released:
    notify_released(m.ticket);
    break;
  case warden::word::start:
  case warden::word::kill:
  case warden::word::stop:
  case warden::word::lease:
  case warden::word::release:
  case warden::word::spawn_interpreter:
  case warden::word::broker:
  case warden::word::keep:
  case warden::word::freeze:
  case warden::word::thaw:
  case warden::word::lend:
  case warden::word::cut:
  case warden::word::drop:
    break; // ours to say
  case warden::word::leased:
    release(m.grant.ticket); // nobody waits for it any more
    break;
  }
}

void cold_launcher::say_ready(const isolation::probe_report& report) {
  hello_deadline_.cancel();
  probe_ = report;
  deaths_in_a_row_ = 0;
  trouble_.clear();
  report_lost();
  settle_pending();
  if (auto ready = std::exchange(ready_, nullptr))
    ready(probe_);
}

void cold_launcher::on_warden_exit() {
  warden_.reset();
  // First of all: what is told below may bring us the next run.
  if (trouble_.empty())
    trouble_ = "the warden died and is being replaced";
  hello_deadline_.cancel();
  for (auto& [ticket, f] : flights_)
    f.deadline.reset();
  for (auto& [ticket, q] : std::exchange(asked_, {}))
    if (q.keeps)
      lost_sandboxes_.push_back(std::move(q.then));
    else
      q.then(say_warden_died(), {});
  lost_.merge(flights_);
  flights_.clear();
  tickets_.clear();
  if (closing_) {
    warden::remove_instance(instance_directory_); // it has no successor
    report_lost();
    settle_pending();
    if (auto done = std::exchange(closed_, nullptr))
      done();
    return;
  }
  ++deaths_in_a_row_;
  if (gave_up()) {
    // Nobody will sweep: say so now instead of never.
    report_lost();
    if (auto ready = std::exchange(ready_, nullptr))
      ready(unavailable(trouble_
                        + "; see `troupe doctor` and the state directory "
                        + options_.state_dir));
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

void cold_launcher::report_lost() {
  for (auto& then : std::exchange(lost_sandboxes_, {}))
    then(say_warden_died(), {});
  for (auto& [ticket, f] : std::exchange(lost_, {})) {
    process_exit ending;
    ending.lost = true;
    ending.isolation = report_for(f.level);
    ending.notes = std::move(f.notes);
    f.events.ended(std::move(ending));
  }
  for (auto& [ticket, f] : std::exchange(leaving_, {}))
    f.gone();
}

int cold_launcher::warden_pid() const {
  return warden_ ? warden_->pid() : -1;
}

void cold_launcher::close(std::function<void()> done) {
  closing_ = true;
  restart_.cancel();
  answer_watch_.cancel();
  // Whoever waits for the first word of a warden shall not wait for ever.
  if (auto ready = std::exchange(ready_, nullptr))
    ready(unavailable("the local backend stops"));
  if (!warden_) {
    warden::remove_instance(instance_directory_);
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

} // namespace troupe
