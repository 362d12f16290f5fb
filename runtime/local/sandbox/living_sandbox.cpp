#include "runtime/local/sandbox/living_sandbox.hpp"

#include "runtime/base/packet_socket.hpp"

#include <boost/asio/steady_timer.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// What waits to be sent to a keeper that does not read.
constexpr std::size_t max_to_send = 256;
/// Questions without an answer yet.
constexpr std::size_t max_asked = 256;

/// What is heard of one keeper before others have their turn.
constexpr int max_heard_at_once = 64;

/// How long the end of a process that was killed may take; then its sandbox
/// goes. Its parent may be stopped at the one moment in which that cannot be
/// undone, or the kernel does not let go of it.
constexpr std::chrono::seconds kill_patience{10};

error busy(std::string text) {
  return fail(ec::exhausted, std::move(text));
}

error why_not_executed(const isolation::outcome& no) {
  const std::string reason = std::strerror(no.error);
  switch (no.at) {
  case isolation::step::exec:
    return bad_field("/argv", "execute the program: " + reason);
  case isolation::step::tree:
    return bad_field("/cwd", "enter the working directory: " + reason);
  case isolation::step::devices:
    if (no.error == ENOSPC)
      return busy("the sandbox has 64 terminals already; end one, or begin the "
                  "process without 'terminal'");
    break;
  case isolation::step::spawn:
    if (no.error == EAGAIN)
      return busy("the sandbox has as many processes as it may have; end some "
                  "or raise its limit of processes");
    break;
  default:
    break;
  }
  return fail(ec::unavailable,
              "begin a process: step " + std::string{to_string(no.at)} + ": "
                + reason);
}

process_end end_of(const inside::keeper_message& m) {
  process_end end;
  end.signaled = WIFSIGNALED(m.wait_status);
  if (end.signaled)
    end.signal = WTERMSIG(m.wait_status);
  else
    end.exit_code = WEXITSTATUS(m.wait_status);
  if (m.lost)
    end.detail = "another process of the sandbox killed the one that watched "
                 "it: how it ended is not known";
  return end;
}

} // namespace

living_sandbox::living_sandbox(asio::any_io_executor executor,
                               unique_fd control)
    : control_{std::move(executor), control.release()} {}

void living_sandbox::listen(handler told) {
  told_ = std::move(told);
  hear_later();
}

void living_sandbox::hear_later() {
  control_.async_wait(
    asio::posix::stream_descriptor::wait_read,
    [self = shared_from_this()](boost::system::error_code code) {
      if (!code)
        self->hear();
    });
}

void living_sandbox::hear() {
  for (int i = 0; i < max_heard_at_once && control_.is_open(); ++i) {
    packet from_keeper;
    inside::keeper_message m;
    switch (receive_packet(control_.native_handle(), inside::max_keeper_packet,
                           inside::max_keeper_descriptors, from_keeper)) {
    case packet_status::done:
      if (!decode(from_keeper.bytes, m))
        break;
      {
        auto& all = from_keeper.descriptors;
        auto given = all.empty() ? unique_fd{} : std::move(all.front());
        if (is_answer(m.what))
          answer({std::move(m), std::move(given)});
        else if (m.what != inside::keeper_word::listener)
          obey(m, std::move(given));
        else if (given && told_.listener)
          told_.listener(std::move(given));
      }
      break;
    case packet_status::later:
      hear_later();
      return;
    case packet_status::closed:
    case packet_status::broken:
      return hang_up();
    }
  }
  if (control_.is_open())
    hear_later();
}

void living_sandbox::obey(const inside::keeper_message& m, unique_fd given) {
  if (m.what == inside::keeper_word::ready) {
    if (auto ready = std::exchange(told_.ready, nullptr))
      ready();
    return;
  }
  const auto i = processes_.find(m.ticket);
  if (i == processes_.end())
    return;
  if (m.what == inside::keeper_word::ended) {
    finish(m);
  } else if (m.what == inside::keeper_word::begun) {
    i->second.process->mark_begun(m.pid, std::move(given));
    if (auto begun = std::exchange(i->second.begun, nullptr))
      begun(std::nullopt);
  }
}

void living_sandbox::answer(keeper_answer a) {
  if (auto node = asked_.extract(a.said.ticket))
    node.mapped()(std::move(a));
}

result<void> living_sandbox::ask(inside::keeper_message question,
                                 answered then) {
  if (over_)
    return *over_;
  if (asked_.size() >= max_asked || unsent_.size() >= max_to_send)
    return busy("the sandbox is asked for more than it can answer now");
  question.ticket = next_ticket_++;
  asked_.emplace(question.ticket, std::move(then));
  say(question);
  return {};
}

void living_sandbox::finish(const inside::keeper_message& m) {
  auto gone = std::move(processes_.extract(m.ticket).mapped());
  if (auto begun = std::move(gone.begun)) {
    if (!m.failure.ok()) {
      gone.process->forget();
      begun(why_not_executed(m.failure));
    } else { // killed between its fork and our hearing of it
      begun(std::nullopt);
    }
  }
  gone.process->finish(end_of(m));
}

result<void> living_sandbox::begin(command what) {
  if (over_)
    return *over_;
  if (processes_.size() >= inside::max_processes
      || unsent_.size() >= max_to_send)
    return busy("the sandbox runs " + std::to_string(inside::max_processes)
                + " processes of its caller already; end some first");
  inside::keeper_message m;
  m.what = inside::keeper_word::exec;
  m.ticket = next_ticket_++;
  m.has_input = static_cast<bool>(what.ends.in);
  m.has_channel = static_cast<bool>(what.ends.channel);
  m.may_leave = what.may_leave;
  m.cwd = std::move(what.cwd);
  m.terminal = what.terminal;
  std::vector<unique_fd> files;
  files.push_back(std::move(what.launch));
  for (auto* end :
       {&what.ends.in, &what.ends.out, &what.ends.err, &what.ends.channel})
    if (*end)
      files.push_back(std::move(*end));
  what.process->set_signal(
    [weak = weak_from_this(), ticket = m.ticket](std::int32_t number) {
      auto self = weak.lock();
      return self ? self->send_signal(ticket, number)
                  : fail(ec::conflict, "the sandbox has ended");
    });
  what.process->begin_reading();
  last_begun_ = std::chrono::steady_clock::now();
  processes_.emplace(m.ticket,
                     running{std::move(what.process), std::move(what.begun)});
  say(m, std::move(files));
  return {};
}

result<void> living_sandbox::send_signal(std::uint64_t ticket,
                                         std::int32_t number) {
  if (over_)
    return *over_;
  if (unsent_.size() >= max_to_send)
    return busy("the sandbox takes no more signals now");
  inside::keeper_message m;
  m.what = inside::keeper_word::signal;
  m.ticket = ticket;
  m.number = number;
  say(m);
  if (number == SIGKILL)
    watch_killed(ticket);
  return {};
}

void living_sandbox::watch_killed(std::uint64_t ticket) {
  const auto i = processes_.find(ticket);
  if (i == processes_.end() || std::exchange(i->second.killed, true))
    return;
  auto clock = std::make_shared<asio::steady_timer>(control_.get_executor(),
                                                    kill_patience);
  clock->async_wait([weak = weak_from_this(), ticket,
                     clock](boost::system::error_code code) {
    auto self = weak.lock();
    if (!code && self && self->processes_.contains(ticket) && self->told_.stuck)
      self->told_.stuck();
  });
}

result<living_sandbox::hand_socket> living_sandbox::make_hand() {
  if (over_)
    return *over_;
  auto [mine, its] = make_packet_pair();
  if (!mine || unsent_.size() >= max_to_send)
    return busy("the sandbox takes no more file calls now");
  inside::keeper_message m;
  m.what = inside::keeper_word::hand;
  m.ticket = next_ticket_++;
  std::vector<unique_fd> files;
  files.push_back(std::move(its));
  say(m, std::move(files));
  return hand_socket{m.ticket, std::move(mine)};
}

void living_sandbox::end_hand(std::uint64_t ticket) {
  (void)send_signal(ticket, SIGKILL);
}

void living_sandbox::hang_up() {
  if (!over_)
    over_ = fail(ec::unavailable, "the sandbox is lost: its keeper has ended");
  boost::system::error_code ignored;
  control_.close(ignored);
  unsent_.clear();
  told_.ready = nullptr;
  told_.listener = nullptr;
}

void living_sandbox::end(error why) {
  auto self = shared_from_this();
  over_ = why;
  hang_up();
  for (auto& [ticket, gone] : std::exchange(processes_, {})) {
    if (gone.begun)
      gone.begun(why);
    gone.process->finish(why);
  }
  for (auto& [ticket, then] : std::exchange(asked_, {}))
    then(why);
}

void living_sandbox::say(const inside::keeper_message& m,
                         std::vector<unique_fd> files) {
  unsent_.push_back({encode(m), std::move(files)});
  flush();
}

void living_sandbox::flush() {
  while (!unsent_.empty() && control_.is_open() && !waits_to_send_) {
    auto& next = unsent_.front();
    std::vector<int> numbers;
    for (const auto& fd : next.files)
      numbers.push_back(fd.get());
    const auto sent
      = send_packet(control_.native_handle(), next.bytes, numbers);
    if (sent == packet_status::closed)
      return; // the reading side hears of it, too
    if (sent == packet_status::later) {
      waits_to_send_ = true;
      control_.async_wait(
        asio::posix::stream_descriptor::wait_write,
        [self = shared_from_this()](boost::system::error_code code) {
          self->waits_to_send_ = false;
          if (!code)
            self->flush();
        });
      return;
    }
    if (sent == packet_status::broken) // or its sender would wait for ever
      return hang_up(); // the keeper ends, and with it the sandbox
    unsent_.pop_front();
  }
}

} // namespace troupe
