#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "runtime/local/warm/python/sample_calls.hpp"

#include "runtime/local/warm/python/heap/arena_heap.hpp"
#include "runtime/local/warm/python/heap/child_allocator.hpp"
#include "runtime/local/warm/python/hot_blocks/learn_hot_blocks.hpp"
#include "runtime/local/warm/python/python_interpreter.hpp"

#include <Python.h>
#include <sys/resource.h>

namespace troupe::zygote {

namespace {

class sample_calls final : public sample_runs {
public:
  explicit sample_calls(PyObject* functions) : functions_{functions} {}

  int count() const override {
    return static_cast<int>(PySequence_Size(functions_));
  }
  void become_child() override { become_child_interpreter(); }
  void run(int index) override {
    auto* function = PySequence_GetItem(functions_, index);
    Py_XDECREF(PyObject_CallFunction(function, nullptr));
    PyErr_Clear(); // a module is absent on this host, say
    Py_XDECREF(function);
  }

private:
  PyObject* functions_;
};

} // namespace

int learn_from_calls(const char* profile, void* functions) {
  sample_calls calls{static_cast<PyObject*>(functions)};
  // It takes two seconds. Should it ever get stuck, it does not for long.
  constexpr rlimit enough{120, 120};
  setrlimit(RLIMIT_CPU, &enough);
  if (calls.count() <= 0 || !prepare_child_allocator())
    return 0;
  prepare_child_interpreter();
  PyOS_BeforeFork();
  return learn_hot_blocks(profile, settled_heap(), calls);
}

} // namespace troupe::zygote
