#include "runtime/local/warm/process/slot.hpp"

#include "runtime/local/warm/process/isolate.hpp"
#include "runtime/local/warm/process/leftovers.hpp"
#include "runtime/local/warm/process/run_namespaces.hpp"
#include "runtime/local/warm/process/run_process.hpp"
#include "runtime/local/warm/process/sole_process.hpp"
#include "runtime/local/warm/process/usage_meter.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <optional>

namespace troupe::zygote {

namespace {

class slot {
public:
  slot(interpreter& in, const packet& order, int orders, int preforked,
       int signals, const usage_meter& used, const sole_process& alone,
       int listener)
      : interpreter_{in}, id_{order.slot}, orders_{orders},
        preforked_{preforked}, signals_{signals}, listener_{listener},
        used_{used}, alone_{alone} {}

  /// Returns only in a run's process; so do the two below, with true.
  void serve(const isolation::plan& plan);

private:
  bool obey();
  bool start(const packet& order, descriptors& with);
  void tell_of_failure(isolation::outcome why);
  void hear();
  void on_only_init_left();
  void on_run_leaving(const signalfd_siginfo& from);
  void reap();
  void kill_all();
  void finish();
  void end_the_rest();
  void say(packet what);
  void let_go_of_listener();

  interpreter& interpreter_;
  std::uint64_t id_;
  int orders_;
  int preforked_;
  int signals_;
  int listener_; // of the filter, until the engine has it
  std::optional<run_namespaces> namespaces_; // where every run gets one
  packet order_;                             // of the run that begins in it
  descriptors with_;
  usage_meter used_;
  sole_process alone_;
  leftovers residue_;
  pid_t child_ = 0;
  bool left_ = false; // by itself, and well
};

void slot::say(packet what) {
  what.slot = id_;
  if (!send(orders_, what))
    _exit(0); // nobody is interested any more
}

/// Before any run is born: who holds the listener answers the questions.
void slot::let_go_of_listener() {
  if (listener_ < 0)
    return;
  prctl(PR_SET_DUMPABLE, 0);
  close(listener_);
  listener_ = -1;
}

void slot::serve(const isolation::plan& plan) {
  used_.begin_slot();
  // The files of a world of its own are gone with it.
  residue_.remember({.files = plan.layers.mounts && !plan.namespaces_per_run,
                     .system_v = plan.layers.ipc,
                     .limits = !plan.layers.seccomp || plan.filter.empty()});
  if (plan.namespaces_per_run)
    namespaces_.emplace(plan);
  if (namespaces_ && __builtin_setjmp(namespaces_->resume_point()) != 0) {
    interpreter_.live(order_, with_, preforked_);
    return;
  }
  packet ready;
  ready.what = word::slot_ready;
  ready.pid = getpid();
  ready.listener = listener_;
  // An engine without rights over our old user namespace fetches it all the
  // same. Nobody else is in here yet.
  if (listener_ >= 0)
    prctl(PR_SET_DUMPABLE, 1);
  say(ready);
  pollfd watched[3]
    = {{orders_, POLLIN, 0},
       {signals_, POLLIN, 0},
       {namespaces_ ? namespaces_->only_init_left_fd() : -1, POLLIN, 0}};
  for (;;) {
    if (poll(watched, 3, -1) < 0)
      continue;
    if (watched[2].revents != 0)
      on_only_init_left();
    if (watched[1].revents != 0)
      hear();
    if (watched[0].revents != 0 && obey())
      return;
  }
}

/// Everybody but us, which `kill(-1)` means only for the first process of a
/// pid namespace; anywhere else it would mean the whole machine. There it is
/// our children, who become more with every one that dies: we are the
/// subreaper.
void slot::kill_all() {
  if (getpid() == 1) {
    kill(-1, SIGKILL);
    return;
  }
  char text[4096];
  const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  const auto size = list < 0 ? 0 : read(list, text, sizeof text - 1);
  close(list);
  text[size > 0 ? size : 0] = 0;
  char* next = text;
  for (long pid; (pid = strtol(next, &next, 10)) > 0;)
    kill(static_cast<pid_t>(pid), SIGKILL); // ours, and not reaped yet
}

bool slot::obey() {
  if (namespaces_)
    namespaces_->wait_until_forked();
  packet order;
  descriptors with;
  switch (receive(orders_, order, with, false)) {
  case received::nothing:
    return false;
  case received::closed: // the engine let go of the slot
    kill_all();
    _exit(0);
  case received::packet:
    break;
  }
  let_go_of_listener();
  if (order.what == word::run || order.what == word::prefork) {
    if (start(order, with))
      return true; // whose descriptors are not ours to close
  } else if (order.what == word::kill) {
    kill_all();
  }
  with.close_all();
  return false;
}

bool slot::start(const packet& order, descriptors& with) {
  if (child_ > 0)
    return false; // one at a time, and the engine knows
  used_.begin_run();
  left_ = false;
  if (namespaces_) {
    order_ = order;
    with_ = with;
    child_ = namespaces_->make(interpreter_);
  } else {
    child_ = interpreter_.fork();
  }
  if (child_ == 0) {
    interpreter_.live(order, with, preforked_);
    return true;
  }
  if (child_ < 0)
    tell_of_failure(namespaces_ ? namespaces_->failure()
                                : isolation::failed(isolation::step::spawn));
  return false;
}

void slot::tell_of_failure(isolation::outcome why) {
  child_ = 0;
  packet failed;
  failed.what = word::exited;
  failed.flags = never_began | (namespaces_ ? 0u : clean);
  failed.error_number = why.ok() ? EAGAIN : why.error;
  failed.step = static_cast<std::uint32_t>(why.at);
  say(failed);
}

void slot::hear() {
  // Either is pending at most once, however often it was sent.
  signalfd_siginfo heard[2];
  const auto size = read(signals_, heard, sizeof heard);
  const int count = size > 0 ? static_cast<int>(size / sizeof *heard) : 0;
  for (int i = 0; i < count; ++i)
    if (heard[i].ssi_signo == leaving_signal)
      on_run_leaving(heard[i]);
  reap();
}

/// The run says that it leaves, and waits to be killed. Where nobody else ever
/// was, no instruction of the tool is executed from then on: what is left is
/// the kernel's work, and nobody has to wait for that.
void slot::on_run_leaving(const signalfd_siginfo& from) {
  if (child_ <= 0 || from.ssi_code != SI_QUEUE
      || from.ssi_pid != static_cast<std::uint32_t>(child_)
      || from.ssi_int != leaving_value)
    return; // a tool's own signal
  left_ = true;
  // Not here, where the word of it goes out now.
  cpu_set_t others;
  memset(&others, 0xff, sizeof others);
  CPU_CLR(sched_getcpu(), &others);
  sched_setaffinity(child_, sizeof others, &others);
  kill(child_, SIGKILL);
  if (!used_.sees_memory() || !alone_.of(child_))
    return; // all of it is known when all of it is reaped
  used_.look_at_scratch();
  auto over = used_.result_so_far(child_);
  over.what = word::over;
  say(over);
}

/// Its first process is left, which is ours and dies.
void slot::on_only_init_left() {
  if (!namespaces_->has_only_init_left() || child_ <= 0)
    return;
  used_.add(namespaces_->used());
  used_.ended(namespaces_->end_of_run(0));
  finish();
}

void slot::reap() {
  for (;;) {
    int status = 0;
    rusage used{};
    const auto pid = wait4(-1, &status, WNOHANG, &used);
    if (pid <= 0)
      return;
    if (namespaces_ && pid != child_)
      continue; // of a world that was deserted before
    used_.add(used);
    if (pid != child_)
      continue;
    if (namespaces_ && !namespaces_->has_begun())
      return tell_of_failure(namespaces_->failure());
    if (left_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      status = 0; // that was us
    used_.ended(namespaces_ ? namespaces_->end_of_run(status) : status);
    finish();
    return;
  }
}

/// What a run has sent here and nobody takes counts against the user that is
/// the next run's as well.
void discard_signals() {
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGCHLD); // these have a descriptor
  sigdelset(&others, leaving_signal);
  const timespec at_once{};
  while (sigtimedwait(&others, nullptr, &at_once) > 0) {
  }
}

/// The run's own process is dead: so is everything that it left, before
/// anybody hears of it.
void slot::finish() {
  child_ = 0;
  if (!namespaces_) {
    used_.look_at_scratch();
    end_the_rest();
  } else if (namespaces_->scratch_was_full()) {
    used_.scratch_was_full();
  }
  discard_signals();
  residue_.restore_times();
  auto exited = used_.result();
  exited.what = word::exited;
  if (!residue_.none())
    exited.flags &= ~static_cast<std::uint32_t>(clean);
  say(exited);
}

void slot::end_the_rest() {
  // Whoever it left is our child by now: without one there is nobody to kill,
  // and killing everybody looks at every process of the host.
  int options = WNOHANG;
  for (;;) {
    int status = 0;
    rusage used{};
    const auto pid = wait4(-1, &status, options | __WALL, &used);
    if (pid > 0)
      used_.add(used);
    else if (pid < 0 && errno == ECHILD)
      break;
    kill_all();
    options = 0;
  }
}

} // namespace

void reserve_low_fds(interpreter& in) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0)
    return;
  for (int fd = 0; fd < 4; ++fd)
    if (fd != null)
      dup2(null, fd);
  in.enter_slot(null);
  if (null > 3)
    close(null);
}

void serve_slot(interpreter& in, const packet& order, descriptors& with,
                int go) {
  reserve_low_fds(in);
  sole_process alone;
  alone.open_count();
  const int orders = with.fd[orders_fd];
  packet failed;
  failed.what = word::slot_failed;
  failed.slot = order.slot;
  isolation::outcome done{isolation::step::order, EINVAL};
  int listener = -1;
  isolation::plan plan;
  if (read_plan(with.fd[plan_fd], plan)) {
    make_room_for_interpreter(plan);
    done = isolate(plan, order, with, go, &listener);
  }
  if (!done.ok()) {
    failed.step = static_cast<std::uint32_t>(done.at);
    failed.error_number = done.error;
    send(orders, failed);
    _exit(1);
  }
  // Once more, of the slot's own tree: a run hands on what it has.
  reserve_low_fds(in);
  if (getpid() != 1)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // The interpreter's handlers would run for whatever a run sends here.
  sigset_t all, ours;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  sigaddset(&ours, leaving_signal);
  const int signals = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
  close(go);
  close(with.fd[plan_fd]);
  int next = groups_from;
  for (std::uint32_t i = 0; i < order.groups; ++i)
    close(with.fd[next++]);
  const int peak = (order.flags & has_peak) != 0 ? with.fd[next++] : -1;
  const int events = (order.flags & has_events) != 0 ? with.fd[next++] : -1;
  const int forks = (order.flags & has_forks) != 0 ? with.fd[next++] : -1;
  slot{in,      order,
       orders,  with.fd[preforked_fd],
       signals, usage_meter{peak, events, forks},
       alone,   listener}
    .serve(plan);
}

} // namespace troupe::zygote
