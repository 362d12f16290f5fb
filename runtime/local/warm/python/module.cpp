#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "runtime/local/warm/memory/cold_memory.hpp"
#include "runtime/local/warm/memory/memory_layout.hpp"
#include "runtime/local/warm/process/run_process.hpp"
#include "runtime/local/warm/process/start_strings.hpp"
#include "runtime/local/warm/process/zygote.hpp"
#include "runtime/local/warm/python/heap/arena_heap.hpp"
#include "runtime/local/warm/python/heap/child_allocator.hpp"
#include "runtime/local/warm/python/hot_blocks/hot_blocks.hpp"
#include "runtime/local/warm/python/python_interpreter.hpp"
#include "runtime/local/warm/python/sample_calls.hpp"
#include "runtime/local/warm/python/variables.hpp"
#include "runtime/model/warm_optimizations.hpp"

#include <Python.h>
#include <dlfcn.h>
#include <unistd.h>

#include <initializer_list>

namespace troupe::zygote {

namespace {

/// After the preload, before the first fork.
memory_report prepare_memory(const warm_optimizations& on) {
  int huge_pages = 0;
  finalize_lock_allocator();
  if (on.child_allocator)
    prepare_child_allocator();
  // Of the interpreter, libc, zlib, and ours.
  const void* const used[] = {dlsym(RTLD_DEFAULT, "PyObject_GetAttrString"),
                              dlsym(RTLD_DEFAULT, "gnu_get_libc_version"),
                              dlsym(RTLD_DEFAULT, "crc32"),
                              dlsym(RTLD_DEFAULT, "PyInit_troupe_zygote")};
  huge_pages += lay_out_memory({.used = used,
                                .huge_text = on.huge_text,
                                .joined_libraries = on.joined_libraries,
                                .gathered_pages = on.gathered_pages});
  if (on.gathered_pages)
    gather_hot_blocks();
  if (on.cold_memory)
    put_away_cold_memory();
  if (on.huge_heap)
    huge_pages += collapse_heap();
  return {static_cast<std::uint64_t>(huge_pages),
          static_cast<std::uint64_t>(hot_blocks_placed())};
}

/// For what was made since the last time: a child would tie its first object
/// to the last of it, and make its own from what was freed, wherever that lies.
void freeze_collector() {
  if (auto* gc = PyImport_ImportModule("gc"))
    for (const char* step : {"collect", "freeze"})
      Py_XDECREF(PyObject_CallMethod(gc, step, nullptr));
  PyErr_Clear();
}

PyObject* serve(PyObject*, PyObject* args) {
  int control = -1;
  PyObject* run = nullptr;
  PyObject* leave = nullptr;
  PyObject* warm = nullptr;
  const char* tricks = nullptr;
  const char* plays = nullptr;
  Py_ssize_t size = 0;
  if (!PyArg_ParseTuple(args, "iOOOsy#", &control, &run, &leave, &warm, &tricks,
                        &plays, &size))
    return nullptr;
  python_interpreter python{run, leave, warm == Py_None ? nullptr : warm};
  freeze_collector();
  const auto made = prepare_memory(only_named(tricks));
  // Once for all forks to come: the locks stay taken in the zygote and its
  // slots, which never run Python again, and each child releases its own.
  PyOS_BeforeFork();
  serve_zygote(python, control, made, {plays, static_cast<size_t>(size)});
  _exit(0); // never: a child of ours does not return
}

PyObject* learn(PyObject*, PyObject* args) {
  const char* profile = nullptr;
  PyObject* functions = nullptr;
  if (!PyArg_ParseTuple(args, "sO", &profile, &functions))
    return nullptr;
  _exit(learn_from_calls(profile, functions) > 0 ? 0 : 1);
}

PyObject* chapter(PyObject*, PyObject* args) {
  const char* title = nullptr;
  if (!PyArg_ParseTuple(args, "s", &title))
    return nullptr;
  next_chapter(title);
  Py_RETURN_NONE;
}

PyObject* set_all(PyObject*, PyObject* args) {
  const char* block = nullptr;
  Py_ssize_t size = 0;
  if (!PyArg_ParseTuple(args, "y#", &block, &size))
    return nullptr;
  if (!set_variables(block, static_cast<size_t>(size)))
    return PyErr_NoMemory();
  Py_RETURN_NONE;
}

PyObject* show_start(PyObject*, PyObject* args) {
  const char* arguments = nullptr;
  Py_ssize_t size = 0;
  if (!PyArg_ParseTuple(args, "y#", &arguments, &size))
    return nullptr;
  show_start_as({arguments, static_cast<size_t>(size)});
  Py_RETURN_NONE;
}

PyObject* exit_now(PyObject*, PyObject* args) {
  int status = 1;
  if (!PyArg_ParseTuple(args, "i", &status))
    return nullptr;
  leave(status);
}

PyObject* gather(PyObject*, PyObject*) {
  return PyBool_FromLong(gather_heap());
}

PyMethodDef methods[] = {
  {"gather_heap", gather, METH_NOARGS,
   "Puts everything that is allocated from here on side by side."},
  {"serve", serve, METH_VARARGS,
   "serve(control, run, leave, warm, tricks, plays): forks slots until the "
   "control "
   "socket "
   "ends."},
  {"chapter", chapter, METH_VARARGS,
   "chapter(title): what is allocated from here on is something new."},
  {"set_variables", set_all, METH_VARARGS,
   "set_variables(block): these, each closed by a zero, and no others."},
  {"show_start_as", show_start, METH_VARARGS,
   "show_start_as(arguments): each closed by a zero, in /proc from here on."},
  {"learn", learn, METH_VARARGS,
   "learn(profile, functions): finds out what they write to, and ends."},
  {"exit", exit_now, METH_VARARGS, "exit(status): at once."},
  {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
  PyModuleDef_HEAD_INIT,
  "troupe_zygote",
  nullptr,
  -1,
  methods,
  nullptr,
  nullptr,
  nullptr,
  nullptr,
};

} // namespace

} // namespace troupe::zygote

extern "C" __attribute__((visibility("default"))) PyObject*
PyInit_troupe_zygote() {
  return PyModule_Create(&troupe::zygote::definition);
}
