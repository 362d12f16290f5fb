#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "runtime/local/zygote/module/child.hpp"

#include "runtime/local/abi.hpp"
#include "runtime/local/zygote/module/child_allocator.hpp"

#include <Python.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

/// As the shell has it for a program that could not be run.
constexpr int could_not_start = 126;

/// 1, 2 and 3 from the order, nothing above. What was received is above 3,
/// since the slot keeps 0 to 3 taken.
void take(const descriptors& with) {
  if (with.count != abi::fd_count - 1)
    _exit(could_not_start);
  for (int i = 0; i < with.count; ++i) {
    // What a tool starts has no say in the answer.
    const int flags = i + 1 == abi::channel_fd ? O_CLOEXEC : 0;
    if (dup3(with.fd[i], i + 1, flags) < 0)
      _exit(could_not_start);
  }
  constexpr unsigned first = abi::fd_count;
  if (syscall(SYS_close_range, first, ~0U, 0U) != 0)
    for (int fd = abi::fd_count; fd < 1024; ++fd) // before Linux 5.9
      close(fd);
}

using switch_on = int (*)();
switch_on gc_enable = nullptr; // in the stable ABI since 3.10 only

void enable_gc() {
  if (gc_enable)
    gc_enable();
  else if (auto* gc = PyImport_ImportModule("gc"))
    Py_XDECREF(PyObject_CallMethod(gc, "enable", nullptr));
}

void bound_cpu(std::uint64_t seconds) {
  if (seconds == 0)
    return;
  rlimit now{};
  getrlimit(RLIMIT_CPU, &now);
  // SIGXCPU says what it was; SIGKILL is for who ignores it.
  rlimit limit{seconds, seconds + 1};
  if (now.rlim_max < limit.rlim_max)
    limit.rlim_max = now.rlim_max;
  if (limit.rlim_max < limit.rlim_cur)
    limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
}

void become_a_run() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // In a pid namespace the slot's session is the run's alone, as it is for a
  // cold start; elsewhere a signal to it would reach the slot.
  if (getppid() != 1)
    setsid();
  // As after exec: the run may look at itself in /proc. Its slot may not be
  // looked at, and has a memory of its own by now.
  prctl(PR_SET_DUMPABLE, 1);
  use_child_allocator();
  PyOS_AfterFork_Child();
  enable_gc();
}

void warm_up(const interpreter& python) {
  if (!python.warm)
    return;
  Py_XDECREF(
    PyObject_CallFunction(static_cast<PyObject*>(python.warm), nullptr));
  PyErr_Clear();
}

} // namespace

void prepare_children() {
  gc_enable = reinterpret_cast<switch_on>(dlsym(RTLD_DEFAULT, "PyGC_Enable"));
}

void live(const interpreter& python, packet order, descriptors& with,
          int armed) {
  become_a_run();
  if (order.what == word::arm) {
    warm_up(python);
    if (receive(armed, order, with, true) != received::packet
        || order.what != word::run)
      _exit(0);
  }
  take(with);
  bound_cpu(order.cpu_seconds);
  auto* done = PyObject_CallFunction(static_cast<PyObject*>(python.run), "i",
                                     abi::channel_fd);
  if (!done) // SystemExit ends here, as in a program of its own
    PyErr_Print();
  _exit(done ? 0 : 1);
}

} // namespace troupe::zygote
