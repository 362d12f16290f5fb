#include "runtime/local/zygote/module/zygote.hpp"

#include "runtime/local/isolation/namespaces.hpp"
#include "runtime/local/zygote/module/child_allocator.hpp"
#include "runtime/local/zygote/module/huge_text.hpp"
#include "runtime/local/zygote/module/isolate.hpp"
#include "runtime/local/zygote/module/slot.hpp"
#include "runtime/local/zygote/module/zygote_heap.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

std::uint64_t huge_pages = 0;

class zygote {
public:
  zygote(const interpreter& python, int control)
      : python_{python}, control_{control} {}

  [[noreturn]] void serve();

private:
  void obey();
  void make_slot(const packet& order, descriptors& with);
  isolation::outcome clone_slot(const packet& order, descriptors& with,
                                std::int32_t& pid);
  void reap();

  const interpreter& python_;
  int control_;
  int signals_ = -1;
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

void zygote::serve() {
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  sigprocmask(SIG_SETMASK, &chld, nullptr);
  signals_ = signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC);
  // An ordinary user could not write its slots' identity maps any more.
  if (geteuid() == 0)
    prctl(PR_SET_DUMPABLE, 0);
  packet first;
  first.pid = getpid();
  first.huge_pages = huge_pages;
  if (entries("/proc/self/task") != 1) {
    // A thread of a preloaded module would be missing in every child, with
    // the locks it held.
    first.what = word::unfit;
    first.status = static_cast<std::int32_t>(unfit_reason::threads);
  }
  send(control_, first);
  pollfd watched[2] = {{control_, POLLIN, 0}, {signals_, POLLIN, 0}};
  for (;;) {
    if (poll(watched, 2, -1) < 0)
      continue;
    if (watched[1].revents != 0)
      reap();
    if (watched[0].revents != 0)
      obey();
  }
}

void zygote::reap() {
  signalfd_siginfo ignored;
  while (read(signals_, &ignored, sizeof ignored) > 0) {
  }
  packet gone;
  gone.what = word::slot_gone;
  while ((gone.pid = waitpid(-1, &gone.status, WNOHANG)) > 0)
    send(control_, gone);
}

void zygote::obey() {
  packet order;
  descriptors with;
  const auto got = receive(control_, order, with, false);
  if (got == received::closed)
    _exit(0); // the slots die with their parent
  if (got == received::packet && order.what == word::make_slot
      && with.count >= groups_from)
    make_slot(order, with);
  with.close_all();
}

void zygote::make_slot(const packet& order, descriptors& with) {
  packet born;
  born.what = word::slot_born;
  born.slot = order.slot;
  const auto done = clone_slot(order, with, born.pid);
  born.step = static_cast<std::uint32_t>(done.at);
  born.error_number = done.error;
  send(control_, born);
}

isolation::outcome zygote::clone_slot(const packet& order, descriptors& with,
                                      std::int32_t& pid) {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0)
    return isolation::failed(isolation::step::order);
  const auto child = isolation::clone_into(order.clone_flags, -1);
  if (child.pid == 0) {
    close(go[1]);
    close(control_);
    close(signals_);
    serve_slot(python_, order, with, go[0]);
  }
  pid = child.pid;
  auto done = child.pid < 0 ? isolation::failed(isolation::step::namespaces)
                            : isolation::outcome{};
  if (done.ok()) {
    close(child.pidfd);
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

void prepare_memory(const char* tricks) {
  prepare_children();
  if (strstr(tricks, "allocator"))
    prepare_child_allocator();
  if (strstr(tricks, "text"))
    huge_pages += static_cast<std::uint64_t>(move_text());
  if (strstr(tricks, "heap"))
    huge_pages += static_cast<std::uint64_t>(collapse_heap());
}

void serve_zygote(const interpreter& python, int control) {
  zygote{python, control}.serve();
}

} // namespace troupe::zygote
