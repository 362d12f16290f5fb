#include "runtime/local/warden/init.hpp"

#include "runtime/base/packet_socket.hpp"
#include "runtime/local/isolation/containment.hpp"
#include "runtime/local/isolation/descriptors.hpp"
#include "runtime/local/isolation/mounts.hpp"
#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/isolation/rlimits.hpp"
#include "runtime/local/isolation/signals.hpp"
#include "runtime/local/sandbox/inside/keeper.hpp"
#include "runtime/local/sandbox/inside/living_containment.hpp"
#include "runtime/local/sandbox/inside/living_tree.hpp"
#include "runtime/local/warden/launch_block.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <iterator>
#include <string_view>

namespace troupe::warden {

namespace {

using isolation::failed;
using isolation::outcome;
using isolation::step;

[[noreturn]] void give_up(int sync, outcome no) noexcept {
  init_report report;
  report.failure = no;
  ::send(sync, &report, sizeof report, MSG_NOSIGNAL);
  ::_exit(1);
}

void wait_for_go(int sync) noexcept {
  // The socket is the warden's, which never blocks on it.
  pollfd wait{sync, POLLIN, 0};
  char go = 0;
  while (::poll(&wait, 1, -1) < 0 && errno == EINTR)
    ;
  if (::recv(sync, &go, 1, 0) != 1)
    ::_exit(1); // the warden is gone, there is nobody to tell
}

/// Whoever holds the listener answers the filter's questions, so it leaves
/// before the first byte of the tool. It cannot be sent: sendmsg is one of the
/// calls that wait for it. The warden fetches it, which below an ordinary user
/// takes a process that may be looked at; nobody else is in here yet.
void hand_over_listener(int sync, int listener) noexcept {
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  init_report report;
  report.what = report_kind::listening;
  report.listener = listener;
  ::send(sync, &report, sizeof report, MSG_NOSIGNAL);
  wait_for_go(sync);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::close(listener);
}

/// Everything that is not the run's goes away before anything else happens.
outcome keep_only(const init_order& order) noexcept {
  int mine[7 + isolation::max_sources + isolation::max_layers];
  int count = 0;
  for (int fd : {order.sync, order.launch, order.in, order.out, order.err,
                 order.channel, order.control})
    mine[count++] = fd;
  for (const auto& shown : order.plan->tree.shown)
    if (shown.mount >= 0 && count < static_cast<int>(std::size(mine)))
      mine[count++] = shown.mount;
  for (const auto& layer : order.plan->tree.layers)
    if (count < static_cast<int>(std::size(mine)))
      mine[count++] = layer.mount;
  return isolation::keep_only(mine, count);
}

[[noreturn]] void become_tool(const init_order& order, int exec_pipe) noexcept {
  isolation::default_signals();
  int fds[] = {order.in, order.out, order.err, order.channel};
  auto no = isolation::install_fds(fds, order.channel < 0 ? 3 : 4);
  if (no.ok())
    no = isolation::bound_open_files(order.open_files);
  if (no.ok())
    no = {step::exec, execute_launch_block(order.launch)};
  [[maybe_unused]] auto n = ::write(exec_pipe, &no, sizeof no);
  ::_exit(127);
}

/// With what a sandbox writes beside it, for those that are made from it.
void tell_started(int sync, int kept) noexcept {
  init_report report;
  report.what = report_kind::started;
  const std::string_view bytes{reinterpret_cast<const char*>(&report),
                               sizeof report};
  send_packet(sync, bytes, {&kept, kept >= 0 ? 1u : 0u});
  if (kept >= 0)
    ::close(kept);
}

/// A sandbox that lives: there is no tool, the engine says what is executed.
[[noreturn]] void become_keeper(const init_order& order) noexcept {
  const bool copies = order.plan->tree.copies;
  // As long as the host's /proc is there and its user is ours.
  const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  int kept = -1;
  const auto no = copies ? isolation::contain_copier(*order.plan, kept)
                         : isolation::contain_keeper(*order.plan, kept);
  if (!no.ok())
    give_up(order.sync, no);
  tell_started(order.sync, kept);
  if (copies)
    ::_exit(0);
  ::close(order.sync); // from here on the engine alone is heard
  inside::keep({order.plan, order.control, order.open_files, score,
                &execute_launch_block});
}

/// Waits until the tool is another program; fine means it is.
outcome wait_for_exec(int pipe) noexcept {
  outcome no;
  ssize_t n = 0;
  do
    n = ::read(pipe, &no, sizeof no);
  while (n < 0 && errno == EINTR);
  ::close(pipe);
  return n == sizeof no ? no : outcome{};
}

/// Without a pid namespace: our children are whoever was left to us, since we
/// are their subreaper. One generation per round.
void kill_children_by_list() noexcept {
  char text[4096];
  int fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  auto size = ::read(fd, text, sizeof text);
  ::close(fd);
  const char* at = text;
  const char* end = text + (size > 0 ? size : 0);
  while (at < end) {
    pid_t pid = 0;
    auto [next, code] = std::from_chars(at, end, pid);
    if (code != std::errc{})
      break;
    ::kill(pid, SIGKILL); // a child of ours, not reaped: the number is its own
    at = next + 1;
  }
}

void kill_everybody(bool contained) noexcept {
  if (contained && ::getpid() == 1)
    ::kill(-1, SIGKILL);
  else
    kill_children_by_list();
}

void reap_everybody(bool contained) noexcept {
  for (;;) {
    kill_everybody(contained);
    pid_t pid = ::waitpid(-1, nullptr, __WALL);
    if (pid < 0 && errno == ECHILD)
      return;
  }
}

void add_usage(init_report& report) noexcept {
  rusage use{};
  ::getrusage(RUSAGE_CHILDREN, &use);
  auto us = [](const timeval& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000
      + static_cast<std::uint64_t>(t.tv_usec);
  };
  report.cpu_us = us(use.ru_utime) + us(use.ru_stime);
  report.peak_memory_bytes = static_cast<std::uint64_t>(use.ru_maxrss) * 1024;
}

void look_at_scratch(init_report& report) noexcept {
  isolation::scratch_use left;
  constexpr std::uint64_t page = 4096;
  if (isolation::measure_scratch("/tmp", left))
    report.disk_full = left.free_bytes < page || left.free_inodes == 0;
}

/// Reaps until the tool itself has ended.
int wait_for_tool(pid_t tool) noexcept {
  for (;;) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, __WALL);
    if (pid == tool)
      return status;
    if (pid < 0 && errno == ECHILD)
      return 0;
  }
}

} // namespace

void run_init(const init_order& order) noexcept {
  isolation::default_signals();
  if (auto no = keep_only(order); !no.ok())
    give_up(order.sync, no);
  wait_for_go(order.sync);
  if (order.control >= 0)
    become_keeper(order);
  if (!order.contained)
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int listener = -1;
  if (auto no = isolation::contain(*order.plan, &listener); !no.ok())
    give_up(order.sync, no);
  if (listener >= 0)
    hand_over_listener(order.sync, listener);

  int exec_pipe[2];
  if (::pipe2(exec_pipe, O_CLOEXEC) != 0)
    give_up(order.sync, failed(step::spawn));
  auto tool = ::fork();
  if (tool < 0)
    give_up(order.sync, failed(step::spawn));
  if (tool == 0)
    become_tool(order, exec_pipe[1]);
  ::close(exec_pipe[1]);
  for (int fd : {order.launch, order.in, order.out, order.err, order.channel})
    if (fd >= 0)
      ::close(fd);
  if (auto no = wait_for_exec(exec_pipe[0]); !no.ok())
    give_up(order.sync, no);

  init_report report;
  report.what = report_kind::started;
  ::send(order.sync, &report, sizeof report, MSG_NOSIGNAL);
  report.what = report_kind::finished;
  report.wait_status = wait_for_tool(tool);
  // Looked at before the killing: what dies gives its files back.
  if (order.contained)
    look_at_scratch(report);
  reap_everybody(order.contained);
  add_usage(report);
  ::send(order.sync, &report, sizeof report, MSG_NOSIGNAL);
  ::_exit(0);
}

} // namespace troupe::warden
