#include "runtime/local/sandbox/inside/keeper.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/sandbox/inside/command_parent.hpp"
#include "runtime/local/sandbox/inside/hand.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"
#include "runtime/local/sandbox/inside/ports.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <map>
#include <span>
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
    deaths_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    say({});
    while (!over_)
      serve();
  }

private:
  void serve() {
    const bool hears = unsent_.size() < max_unsent;
    const auto at_engine = static_cast<short>(
      (hears ? POLLIN : 0) | (unsent_.empty() ? 0 : POLLOUT));
    std::vector<pollfd> watched{{order_.control, at_engine, 0},
                                {deaths_.get(), POLLIN, 0}};
    std::vector<std::uint64_t> tickets;
    for (const auto& [ticket, socket] : commands_) {
      watched.push_back({socket.get(), POLLIN, 0});
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

  void refuse(std::uint64_t ticket, int error) {
    keeper_message m;
    m.what = keeper_word::ended;
    m.ticket = ticket;
    m.failure = {isolation::step::spawn, error};
    say(m);
  }

  void execute(const keeper_message& m, std::vector<unique_fd>& given) {
    if (given.size() != 3u + m.has_input)
      return refuse(m.ticket, EBADF);
    if (commands_.size() >= max_processes || commands_.contains(m.ticket))
      return refuse(m.ticket, EAGAIN);
    auto [mine, its] = make_packet_pair();
    if (!mine)
      return refuse(m.ticket, errno);
    const auto child = ::fork();
    if (child == 0) {
      command_order order;
      order.plan = order_.plan;
      order.ticket = m.ticket;
      order.keeper = its.get();
      order.launch = given[0].get();
      order.in = m.has_input ? given[1].get() : -1;
      order.out = given[given.size() - 2].get();
      order.err = given[given.size() - 1].get();
      order.cwd = m.cwd.c_str();
      order.open_files = order_.open_files;
      order.execute = order_.execute;
      run_command_parent(order);
    }
    if (child < 0)
      return refuse(m.ticket, errno);
    commands_.emplace(m.ticket, std::move(mine));
  }

  void signal(const keeper_message& m) {
    if (auto i = commands_.find(m.ticket); i != commands_.end())
      send_packet(i->second.get(), encode(m));
    else if (auto hand = hands_.find(m.ticket); hand != hands_.end())
      ::kill(hand->second, SIGKILL); // not reaped: the number is its own
  }

  void make_hand(std::uint64_t ticket, const std::vector<unique_fd>& given) {
    // Its socket closes with this packet: that is the refusal.
    if (given.size() != 1 || hands_.size() >= max_hands
        || hands_.contains(ticket))
      return;
    const auto child = ::fork();
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

  /// What a parent says is in the words of this protocol, and passed on.
  void hear_command(std::uint64_t ticket) {
    const auto place = commands_.find(ticket);
    if (place == commands_.end())
      return;
    packet from_parent;
    const auto got
      = receive_packet(place->second.get(), max_keeper_packet, 0, from_parent);
    if (got == packet_status::later)
      return;
    keeper_message m;
    const bool good = got == packet_status::done && decode(from_parent.bytes, m)
      && m.ticket == ticket
      && (m.what == keeper_word::begun || m.what == keeper_word::ended);
    if (good && m.what == keeper_word::begun)
      return say(m);
    if (!good) {
      m = {};
      m.what = keeper_word::ended;
      m.ticket = ticket;
      m.wait_status = SIGKILL;
      m.lost = true;
    }
    commands_.erase(place);
    say(m);
  }

  /// Orphans of commands, parents of commands, hands.
  void reap() {
    signalfd_siginfo which[16];
    while (::read(deaths_.get(), which, sizeof which) > 0)
      ;
    for (;;) {
      const auto pid = ::waitpid(-1, nullptr, WNOHANG | __WALL);
      if (pid <= 0)
        return;
      std::erase_if(hands_, [&](const auto& h) { return h.second == pid; });
    }
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
  std::map<std::uint64_t, unique_fd> commands_; // sockets to their parents
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
