#include "runtime/local/sandbox/inside/keeper.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/sandbox/inside/command_parent.hpp"
#include "runtime/local/sandbox/inside/descendants.hpp"
#include "runtime/local/sandbox/inside/hand.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"
#include "runtime/local/sandbox/inside/ports.hpp"
#include "runtime/local/sandbox/inside/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <deque>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::inside {

namespace {

/// Heard no further while so many answers wait to be taken.
constexpr std::size_t max_unsent = 4 * max_processes;

class keeper {
public:
  explicit keeper(const keeper_order& order) : order_{order} {}

  void run() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    if (pids_ == MAP_FAILED)
      return;
    deaths_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    // Before anything of a tenant's could put something else there.
    terminals_.reset(::open("/dev/pts", O_PATH | O_DIRECTORY | O_CLOEXEC));
    say({});
    while (!over_)
      serve();
  }

private:
  struct command {
    unique_fd parent; // a socket; closed: it was killed
    pid_t parent_pid = 0;
    std::size_t slot = 0; // where it says its number itself
    pid_t pid = 0;        // 0: not known to be executed
    bool killed = false;
    unique_fd terminal{}; // the engine's end of it, until it is begun
  };

  void serve() {
    const bool hears = unsent_.size() < max_unsent;
    const auto at_engine = static_cast<short>(
      (hears ? POLLIN : 0) | (unsent_.empty() ? 0 : POLLOUT));
    std::vector<pollfd> watched{{order_.control, at_engine, 0},
                                {deaths_.get(), POLLIN, 0}};
    std::vector<std::uint64_t> tickets;
    for (const auto& [ticket, one] : commands_) {
      watched.push_back({one.parent.get(), POLLIN, 0}); // -1 is passed over
      tickets.push_back(ticket);
    }
    if (::poll(watched.data(), watched.size(), -1) < 0)
      return; // a signal
    for (std::size_t i = 0; i < tickets.size(); ++i)
      if (watched[i + 2].revents != 0)
        hear_command(tickets[i]);
    if (watched[1].revents != 0)
      reap();
    if ((watched[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
      hear_engine();
    flush();
  }

  void hear_engine() {
    packet from_engine;
    switch (receive_packet(order_.control, max_keeper_packet,
                           max_keeper_descriptors, from_engine)) {
    case packet_status::done:
      obey(from_engine);
      break;
    case packet_status::closed:
      over_ = true;
      break;
    case packet_status::later:
    case packet_status::broken:
      break;
    }
  }

  void obey(packet& from_engine) {
    keeper_message m;
    if (!decode(from_engine.bytes, m))
      return;
    if (m.what == keeper_word::exec)
      execute(m, from_engine.descriptors);
    else if (m.what == keeper_word::signal)
      signal(m);
    else if (m.what == keeper_word::hand)
      make_hand(m.ticket, from_engine.descriptors);
    else if (m.what == keeper_word::connect)
      connect(m);
    else if (m.what == keeper_word::ports)
      tell_ports(m.ticket);
  }

  /// When memory runs out the kernel is to kill what was forked, however small
  /// that is beside us: without us the whole sandbox would go.
  pid_t fork_as_victim() const {
    const auto set = [this](std::string_view score) {
      return order_.score < 0
        || ::write(order_.score, score.data(), score.size()) > 0;
    };
    set("500"); // half of the memory more than it has
    const auto child = ::fork();
    if (child != 0)
      set("0");
    return child;
  }

  void refuse(std::uint64_t ticket, int error,
              isolation::step at = isolation::step::spawn) {
    keeper_message m;
    m.what = keeper_word::ended;
    m.ticket = ticket;
    m.failure = {at, error};
    say(m);
  }

  void execute(const keeper_message& m, std::vector<unique_fd>& given) {
    if (given.size() != descriptors_with(m))
      return refuse(m.ticket, EBADF);
    if (m.may_leave && order_.plan->leaving_filter.empty())
      return refuse(m.ticket, ENOSYS);
    if (commands_.size() >= max_processes || commands_.contains(m.ticket))
      return refuse(m.ticket, EAGAIN);
    terminal_ends terminal;
    if (m.terminal)
      terminal = make_terminal(terminals_.get(), *m.terminal);
    if (m.terminal && !terminal.its)
      return refuse(m.ticket, errno, isolation::step::devices);
    auto [mine, its] = make_packet_pair();
    if (!mine)
      return refuse(m.ticket, errno);
    const auto slot = free_slot();
    pid_of(slot) = 0;
    const auto child = fork_as_victim();
    if (child == 0) {
      command_order order;
      order.pid = &pid_of(slot);
      order.plan = order_.plan;
      order.ticket = m.ticket;
      order.keeper = its.get();
      set_streams(order, m, given, terminal.its.get());
      order.may_leave = m.may_leave;
      order.cwd = m.cwd.c_str();
      order.open_files = order_.open_files;
      order.execute = order_.execute;
      run_command_parent(order);
    }
    if (child < 0)
      return refuse(m.ticket, errno);
    commands_.emplace(m.ticket,
                      command{std::move(mine), child, slot, 0, false,
                              std::move(terminal.ours)});
  }

  pid_t& pid_of(std::size_t slot) const {
    return static_cast<pid_t*>(pids_)[slot];
  }
  /// There are as many as commands may be.
  std::size_t free_slot() const {
    std::bitset<max_processes> taken;
    for (const auto& [ticket, one] : commands_)
      taken.set(one.slot);
    std::size_t slot = 0;
    while (taken.test(slot))
      ++slot;
    return slot;
  }

  void signal(const keeper_message& m) {
    if (auto i = commands_.find(m.ticket); i != commands_.end())
      signal_command(i->second, m);
    else if (auto hand = hands_.find(m.ticket); hand != hands_.end())
      ::kill(hand->second, SIGKILL); // not reaped: the number is its own
  }

  /// One without a parent is ours: what can be seen of its tree gets it.
  static void signal_command(command& one, const keeper_message& m) {
    if (one.parent) {
      send_packet(one.parent.get(), encode(m));
      return;
    }
    one.killed = true;
    if (one.pid > 0)
      signal_tree(one.pid, m.number);
  }

  void make_hand(std::uint64_t ticket, const std::vector<unique_fd>& given) {
    // Its socket closes with this packet: that is the refusal.
    if (given.size() != 1 || hands_.size() >= max_hands
        || hands_.contains(ticket))
      return;
    const auto child = fork_as_victim();
    if (child == 0)
      run_hand(given.front().get());
    if (child > 0)
      hands_.emplace(ticket, child);
  }

  void connect(const keeper_message& asked) {
    keeper_message m;
    m.what = keeper_word::connected;
    m.ticket = asked.ticket;
    auto socket = connect_to_port(asked.port);
    m.error = socket ? 0 : errno;
    say(m, std::move(socket));
  }

  void tell_ports(std::uint64_t ticket) {
    keeper_message m;
    m.what = keeper_word::listening;
    m.ticket = ticket;
    m.error = list_ports(m.ports);
    say(m);
  }

  /// What a parent says is in the words of this protocol, and passed on. True:
  /// it has said something, and may say more.
  bool hear_command(std::uint64_t ticket) {
    const auto place = commands_.find(ticket);
    if (place == commands_.end() || !place->second.parent)
      return false;
    auto& one = place->second;
    packet from_parent;
    const auto got
      = receive_packet(one.parent.get(), max_keeper_packet, 1, from_parent);
    if (got == packet_status::later)
      return false;
    keeper_message m;
    if (got != packet_status::done || !decode(from_parent.bytes, m)
        || m.ticket != ticket) {
      one.parent.reset(); // what became of it is seen when it is reaped
      return false;
    }
    unique_fd given;
    if (m.what == keeper_word::begun) {
      one.pid = m.pid;
      given = std::move(one.terminal);
    } else if (m.what == keeper_word::listener) {
      if (auto& all = from_parent.descriptors; !all.empty())
        given = std::move(all.front());
    } else if (m.what == keeper_word::ended) {
      commands_.erase(place);
    } else {
      return true;
    }
    say(m, std::move(given));
    return m.what != keeper_word::ended;
  }

  /// Orphans of commands, parents of commands, hands.
  void reap() {
    signalfd_siginfo which[16];
    while (::read(deaths_.get(), which, sizeof which) > 0)
      ;
    for (;;) {
      int how = 0;
      const auto pid = ::waitpid(-1, &how, WNOHANG | WUNTRACED | __WALL);
      if (pid <= 0)
        return;
      if (WIFSTOPPED(how))
        wake(pid);
      else
        bury(pid, how);
    }
  }

  /// They share the user of commands, which may stop them: then nothing would
  /// be heard of a command any more, nor could it be killed.
  void wake(pid_t stopped) {
    const bool ours
      = std::ranges::any_of(
          commands_,
          [&](const auto& c) { return c.second.parent_pid == stopped; })
      || std::ranges::any_of(
          hands_, [&](const auto& h) { return h.second == stopped; });
    if (ours)
      ::kill(stopped, SIGCONT);
  }

  void bury(pid_t dead, int how) {
    std::erase_if(hands_, [&](const auto& h) { return h.second == dead; });
    const auto of = std::ranges::find_if(commands_, [&](const auto& c) {
      return c.second.parent_pid == dead || pid_of(c.second.slot) == dead;
    });
    if (of == commands_.end())
      return;
    const auto ticket = of->first;
    if (of->second.parent_pid != dead) // by now it was a child of ours
      return publish_end(ticket, how, false);
    while (hear_command(ticket)) // up to its last word
      ;
    if (const auto left = commands_.find(ticket); left != commands_.end())
      adopt(left->second, ticket);
  }

  /// Its parent was killed by another process of the sandbox. It goes on as a
  /// child of ours, unless it was never forked, or has ended and was reaped.
  void adopt(command& one, std::uint64_t ticket) {
    const auto pid = pid_of(one.slot);
    siginfo_t about{};
    if (pid == 0
        || ::waitid(P_PID, static_cast<id_t>(pid), &about,
                    WEXITED | WNOHANG | WNOWAIT | __WALL)
          != 0)
      return publish_end(ticket, SIGKILL, true);
    if (std::exchange(one.pid, pid) != 0)
      return;
    keeper_message m;
    m.what = keeper_word::begun;
    m.ticket = ticket;
    m.pid = pid;
    say(m, std::move(one.terminal));
  }

  void publish_end(std::uint64_t ticket, int wait_status, bool lost) {
    keeper_message m;
    m.what = keeper_word::ended;
    m.ticket = ticket;
    m.wait_status = wait_status;
    m.lost = lost;
    m.killed = commands_.at(ticket).killed;
    commands_.erase(ticket);
    say(m);
  }

  void say(const keeper_message& m, unique_fd file = {}) {
    unsent_.push_back({encode(m), std::move(file)});
    flush();
  }

  void flush() {
    while (!unsent_.empty()) {
      const auto& next = unsent_.front();
      const int file = next.file.get();
      switch (send_packet(
        order_.control, next.bytes,
        std::span<const int>{&file, static_cast<std::size_t>(file >= 0)})) {
      case packet_status::later:
        return;
      case packet_status::closed:
        over_ = true;
        unsent_.clear();
        return;
      case packet_status::done:
      case packet_status::broken:
        unsent_.pop_front();
        break;
      }
    }
  }

  keeper_order order_;
  unique_fd deaths_;
  unique_fd terminals_; // their directory
  void* pids_
    = ::mmap(nullptr, max_processes * sizeof(pid_t), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::map<std::uint64_t, command> commands_;
  std::map<std::uint64_t, pid_t> hands_;
  struct outgoing {
    std::string bytes;
    unique_fd file; // perhaps
  };
  std::deque<outgoing> unsent_;
  bool over_ = false;
};

} // namespace

void keep(const keeper_order& order) noexcept {
  keeper{order}.run();
  ::_exit(0);
}

} // namespace troupe::inside
