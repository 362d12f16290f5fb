#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "runtime/local/warm/python/python_interpreter.hpp"

#include "runtime/local/launch/sandbox_abi.hpp"
#include "runtime/local/warm/process/prefault.hpp"
#include "runtime/local/warm/process/run_process.hpp"
#include "runtime/local/warm/process/stack_guard.hpp"
#include "runtime/local/warm/python/heap/child_allocator.hpp"

#include <Python.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

void close_the_rest() {
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

void become_a_run() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  begin_run_process();
  become_child_interpreter();
}

void call(void* function) {
  Py_XDECREF(PyObject_CallFunction(static_cast<PyObject*>(function), nullptr));
  PyErr_Clear();
}

} // namespace

void prepare_child_interpreter() {
  gc_enable = reinterpret_cast<switch_on>(dlsym(RTLD_DEFAULT, "PyGC_Enable"));
}

void become_child_interpreter() {
  use_child_allocator();
  PyOS_AfterFork_Child();
  enable_gc();
}

python_interpreter::python_interpreter(void* run, void* leave, void* warm)
    : run_{run}, leave_{leave}, warm_{warm} {
  prepare_child_interpreter();
}

/// Never returns.
void python_interpreter::live(packet order, descriptors& with, int preforked) {
  renew_stack_guard();
  become_a_run();
  while (order.what != word::run) {
    const bool warm = order.what == word::warm;
    if (warm && warm_)
      call(warm_);
    make_pages_ready(warm ? waiting::warmed : waiting::forked);
    if (receive(preforked, order, with, true) != received::packet)
      _exit(0);
  }
  place_descriptors(with);
  close_the_rest();
  apply_order(order);
  auto* done
    = PyObject_CallFunction(static_cast<PyObject*>(run_), "iO", abi::channel_fd,
                            static_cast<PyObject*>(leave_));
  if (!done) // SystemExit ends here, as in a program of its own
    PyErr_Print();
  leave(done ? 0 : 1);
}

} // namespace troupe::zygote
