#include "runtime/local/warm/process/zygote.hpp"

#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/warm/process/isolate.hpp"
#include "runtime/local/warm/process/own_program.hpp"
#include "runtime/local/warm/process/prefault.hpp"
#include "runtime/local/warm/process/slot.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

/// Told by a handler and a pipe, not by a signalfd: a thread of the
/// interpreter that does not block the signal would swallow it.
int told_of_child = -1;

void tell_of_child(int) {
  const int keep = errno;
  // Full is as good as told.
  if (write(told_of_child, "c", 1) < 0)
    errno = keep;
}

class zygote {
public:
  zygote(interpreter& in, int control) : interpreter_{in}, control_{control} {}

  /// These return, with true, only in a run's process.
  void serve(memory_report made, bool let_go);

private:
  bool obey();
  bool make_slot(const packet& order, descriptors& with);
  isolation::outcome clone_slot(const packet& order, descriptors& with,
                                std::int32_t& pid, int& pidfd);
  void listen_for_children();
  void say_ready(memory_report made, bool let_go);
  void reap();

  interpreter& interpreter_;
  int control_;
  int children_ = -1;
  struct sigaction before_ {};
};

/// Entries of a directory of /proc/self, without "." and "..".
int entries(const char* directory) {
  auto* open = opendir(directory);
  if (!open)
    return -1;
  int count = 0;
  while (readdir(open))
    ++count;
  closedir(open);
  return count - 2;
}

void zygote::listen_for_children() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    _exit(1);
  children_ = ends[0];
  told_of_child = ends[1];
  struct sigaction action {};
  action.sa_handler = tell_of_child;
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &action, &before_);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void zygote::say_ready(memory_report made, bool let_go) {
  packet first;
  first.pid = getpid();
  first.huge_pages = made.huge_pages;
  first.hot_blocks = made.hot_blocks;
  first.ready_pages = made.ready_pages;
  if (!interpreter_.may_have_threads() && entries("/proc/self/task") != 1) {
    // A thread of a preloaded module would be missing in every child, with
    // the locks it held.
    first.what = word::unfit;
    first.status = static_cast<std::int32_t>(unfit_reason::threads);
  } else if (!let_go) {
    first.what = word::unfit;
    first.status = static_cast<std::int32_t>(unfit_reason::program);
  }
  send(control_, first);
}

void zygote::serve(memory_report made, bool let_go) {
  listen_for_children();
  // An ordinary user could not write its slots' identity maps any more.
  if (geteuid() == 0)
    prctl(PR_SET_DUMPABLE, 0);
  say_ready(made, let_go);
  pollfd watched[2] = {{control_, POLLIN, 0}, {children_, POLLIN, 0}};
  for (;;) {
    if (poll(watched, 2, -1) < 0)
      continue;
    if (watched[1].revents != 0)
      reap();
    if (watched[0].revents != 0 && obey())
      return;
  }
}

void zygote::reap() {
  char ignored[64];
  while (read(children_, ignored, sizeof ignored) > 0) {
  }
  packet gone;
  gone.what = word::slot_gone;
  while ((gone.pid = waitpid(-1, &gone.status, WNOHANG)) > 0)
    send(control_, gone);
}

bool zygote::obey() {
  packet order;
  descriptors with;
  const auto got = receive(control_, order, with, false);
  if (got == received::closed)
    _exit(0); // the slots die with their parent
  if (got == received::packet && order.what == word::make_slot
      && with.count >= groups_from && make_slot(order, with))
    return true; // whose descriptors are not ours to close
  with.close_all();
  return false;
}

bool zygote::make_slot(const packet& order, descriptors& with) {
  packet born;
  born.what = word::slot_born;
  born.slot = order.slot;
  int pidfd = -1;
  const auto done = clone_slot(order, with, born.pid, pidfd);
  if (born.pid == 0)
    return true;
  born.step = static_cast<std::uint32_t>(done.at);
  born.error_number = done.error;
  const bool wanted = (order.flags & has_network) != 0 && pidfd >= 0;
  send(control_, born, &pidfd, wanted ? 1 : 0);
  if (pidfd >= 0)
    close(pidfd);
  return false;
}

isolation::outcome zygote::clone_slot(const packet& order, descriptors& with,
                                      std::int32_t& pid, int& pidfd) {
  int go[2];
  pid = -1;
  if (pipe2(go, O_CLOEXEC) != 0)
    return isolation::failed(isolation::step::order);
  const auto child = isolation::clone_into(order.clone_flags, -1);
  if (child.pid == 0) {
    sigset_t all; // until the slot knows what to do with them
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    sigaction(SIGCHLD, &before_, nullptr);
    for (int fd : {go[1], control_, children_, told_of_child})
      close(fd);
    serve_slot(interpreter_, order, with, go[0]);
    pid = 0;
    return {};
  }
  pid = child.pid;
  auto done = child.pid < 0 ? isolation::failed(isolation::step::namespaces)
                            : isolation::outcome{};
  if (done.ok()) {
    pidfd = child.pidfd;
    if ((order.flags & new_user) != 0)
      done = isolation::write_identity_map(child.pid, order.uid, order.gid,
                                           (order.flags & privileged) != 0);
    if (done.ok() && write(go[1], "g", 1) != 1)
      done = isolation::failed(isolation::step::order);
    if (!done.ok())
      kill(child.pid, SIGKILL); // ours, and not reaped yet
  }
  close(go[0]);
  close(go[1]);
  return done;
}

} // namespace

void serve_zygote(interpreter& in, int control, memory_report made,
                  std::string_view plays) {
  const bool let_go = let_go_of_own_program();
  const int pages = rehearse(in, plays);
  if (pages < 0)
    return;
  made.ready_pages = static_cast<std::uint64_t>(pages);
  zygote{in, control}.serve(made, let_go);
}

} // namespace troupe::zygote
