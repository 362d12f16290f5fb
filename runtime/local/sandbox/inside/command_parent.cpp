#include "runtime/local/sandbox/inside/command_parent.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/isolation/descriptors.hpp"
#include "runtime/local/isolation/rlimits.hpp"
#include "runtime/local/isolation/signals.hpp"
#include "runtime/local/sandbox/inside/descendants.hpp"
#include "runtime/local/sandbox/inside/keeper_protocol.hpp"
#include "runtime/local/sandbox/inside/living_containment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>

namespace troupe::inside {

namespace {

using isolation::failed;
using isolation::outcome;
using isolation::step;

[[noreturn]] void report_end(const command_order& order, outcome failure,
                             int wait_status, bool killed) noexcept {
  keeper_message m;
  m.what = keeper_word::ended;
  m.ticket = order.ticket;
  m.failure = failure;
  m.wait_status = wait_status;
  m.killed = killed;
  rusage use{};
  ::getrusage(RUSAGE_CHILDREN, &use);
  for (const auto& t : {use.ru_utime, use.ru_stime})
    m.cpu_us += static_cast<std::uint64_t>(t.tv_sec) * 1'000'000
      + static_cast<std::uint64_t>(t.tv_usec);
  send_packet(order.keeper, encode(m));
  ::_exit(0);
}

/// A process without the filter that shares the descriptors of one that gets
/// it: sends the filter's listener, which who is under it cannot, since that is
/// what waits for the listener.
[[noreturn]] void send_listener(const command_order& order, int from) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  int listener = -1;
  keeper_message m;
  m.what = keeper_word::listener;
  m.ticket = order.ticket;
  const bool sent = ::read(from, &listener, sizeof listener) == sizeof listener
    && listener >= 0
    && send_packet(order.keeper, encode(m), std::span<const int>{&listener, 1})
      == packet_status::done;
  ::_exit(sent ? 0 : 1);
}

outcome confine_leaving(const command_order& order) noexcept {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return failed(step::listener);
  const auto sender = static_cast<pid_t>(
    ::syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0));
  if (sender == 0)
    send_listener(order, pipe[0]);
  if (sender < 0)
    return failed(step::spawn);
  int listener = -1;
  auto no = isolation::confine_command(*order.plan, listener);
  int how = 0;
  // The descriptors are shared until it has ended: none of them is the tool's.
  const bool sent
    = ::write(pipe[1], &listener, sizeof listener) == sizeof listener
    && ::waitpid(sender, &how, 0) == sender && how == 0;
  ::close(listener);
  if (no.ok() && !sent)
    no = failed(step::listener);
  return no;
}

/// In a child that shares our memory until it is another program.
[[noreturn]] void become_command(const command_order& order,
                                 outcome& no) noexcept {
  *order.pid = ::getpid();
  isolation::default_signals();
  int fds[] = {order.in, order.out, order.err, order.channel};
  no = isolation::install_fds(fds, order.channel < 0 ? 3 : 4);
  if (no.ok() && order.terminal
      && (::setsid() < 0 || ::ioctl(0, TIOCSCTTY, 0) != 0))
    no = failed(step::session);
  if (no.ok())
    no = isolation::bound_open_files(order.open_files);
  if (no.ok() && ::chdir(order.cwd) != 0)
    no = failed(step::tree);
  if (no.ok())
    no = order.may_leave ? confine_leaving(order)
                         : isolation::confine_command(*order.plan);
  if (no.ok())
    no = {step::exec, order.execute(order.launch)};
  ::_exit(127);
}

/// Goes on when the command is another program, or will never be one.
pid_t spawn(const command_order& order, outcome& no) noexcept {
  const auto command = ::vfork(); // no copy of what is about to be thrown away
  if (command == 0)
    become_command(order, no);
  if (command < 0)
    no = failed(step::spawn);
  return command;
}

/// Reaps what has ended. True: the command is among them.
bool reap(pid_t command, int& status) noexcept {
  bool ended = false;
  for (;;) {
    int how = 0;
    const auto pid = ::waitpid(-1, &how, WNOHANG | __WALL);
    if (pid <= 0)
      return ended;
    if (pid == command) {
      status = how;
      ended = true;
    }
  }
}

/// Until the command has ended. Signals are delivered meanwhile; one that
/// kills leaves none of the tree.
void attend(const command_order& order, int deaths, pid_t command) noexcept {
  int status = 0;
  pollfd watched[2] = {{order.keeper, POLLIN, 0}, {deaths, POLLIN, 0}};
  for (bool signaled = false;;) {
    if (::poll(watched, 2, -1) < 0)
      continue;
    signalfd_siginfo which[16];
    while (::read(deaths, which, sizeof which) > 0)
      ;
    if (reap(command, status))
      report_end(order, {}, status, signaled);
    if (watched[0].revents == 0)
      continue;
    packet from_keeper;
    const auto got
      = receive_packet(order.keeper, max_keeper_packet, 0, from_keeper);
    if (got == packet_status::closed)
      ::_exit(0); // the sandbox ends
    keeper_message m;
    if (got != packet_status::done || !decode(from_keeper.bytes, m)
        || m.what != keeper_word::signal)
      continue;
    signaled = true;
    if (m.number == SIGKILL)
      report_end(order, {}, kill_descendants(command), true);
    signal_descendants(command, m.number);
  }
}

} // namespace

std::size_t descriptors_with(const keeper_message& exec) {
  return exec.terminal ? 1u : 3u + exec.has_input + exec.has_channel;
}

void set_streams(command_order& order, const keeper_message& exec,
                 const std::vector<unique_fd>& given, int terminal) {
  auto next = given.begin();
  order.launch = next++->get();
  order.terminal = exec.terminal.has_value();
  order.in = order.out = order.err = terminal;
  if (order.terminal)
    return;
  order.in = exec.has_input ? next++->get() : -1;
  order.out = next++->get();
  order.err = next++->get();
  order.channel = exec.has_channel ? next->get() : -1;
}

void run_command_parent(const command_order& order) noexcept {
  int mine[] = {order.keeper, order.launch, order.in,
                order.out,    order.err,    order.channel};
  if (auto no = isolation::keep_only(mine, 6); !no.ok())
    report_end(order, no, 0, false);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const int deaths = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (deaths < 0)
    report_end(order, failed(step::spawn), 0, false);
  outcome no;
  const auto command = spawn(order, no);
  if (!no.ok())
    report_end(order, no, 0, false);
  for (int fd : {order.launch, order.in, order.out, order.err, order.channel})
    if (fd >= 0)
      ::close(fd);
  keeper_message m;
  m.what = keeper_word::begun;
  m.ticket = order.ticket;
  m.pid = command;
  send_packet(order.keeper, encode(m));
  attend(order, deaths, command);
  ::_exit(0);
}

} // namespace troupe::inside
