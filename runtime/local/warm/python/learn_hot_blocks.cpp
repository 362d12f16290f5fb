#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "runtime/local/warm/python/learn_hot_blocks.hpp"

#include "runtime/local/warm/python/heap/allocation_log.hpp"
#include "runtime/local/warm/python/heap/arena_heap.hpp"
#include "runtime/local/warm/python/heap/child_allocator.hpp"
#include "runtime/local/warm/python/heap/write_trace.hpp"
#include "runtime/local/warm/python/python_interpreter.hpp"

#include <Python.h>
#include <sys/resource.h>

#include <vector>

namespace troupe::zygote {

int learn_hot_blocks(const char* profile, void* functions) {
  auto* list = static_cast<PyObject*>(functions);
  // It takes two seconds. Should it ever get stuck, it does not for long.
  constexpr rlimit enough{120, 120};
  setrlimit(RLIMIT_CPU, &enough);
  const auto count = PySequence_Size(list);
  if (count <= 0 || !prepare_child_allocator())
    return 0;
  prepare_child_interpreter();
  PyOS_BeforeFork();
  trace_heap();
  if (!begin_write_trace())
    return 0;
  become_child_interpreter();
  constexpr uint32_t at_birth = 1;
  uint32_t in_each = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    next_trace_phase();
    in_each |= at_birth << (i + 1);
    auto* function = PySequence_GetItem(list, i);
    Py_XDECREF(PyObject_CallFunction(function, nullptr));
    PyErr_Clear(); // a module is absent on this host, say
    Py_XDECREF(function);
  }
  size_t size = 0;
  const auto* seen = end_write_trace(size);
  std::vector<written_address> written;
  for (size_t i = 0; i < size; ++i)
    if (const auto& w = seen[i]; w.address != 0)
      written.push_back(
        {w.address,
         (w.phases & at_birth) != 0 || (w.phases & in_each) == in_each});
  return write_profile(profile, written.data(), written.size());
}

} // namespace troupe::zygote
