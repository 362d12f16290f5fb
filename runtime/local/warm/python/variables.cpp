// Buys: a run has some variables of its own. `setenv` keeps every value in a
// tree and looks each name up in an array, both on pages of the parent; one
// array of the child's own instead costs a tenth of that, and none of the
// faults. libc copies it as soon as the tool sets another variable.
#define Py_LIMITED_API 0x03090000
#include "runtime/local/warm/python/variables.hpp"

#include <Python.h>
#include <string.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

char** made = nullptr;

} // namespace

bool set_variables(const char* block, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i)
    count += block[i] == 0 ? 1 : 0;
  const auto names = (count + 1) * sizeof(char*);
  auto* memory = static_cast<char*>(PyMem_Malloc(names + size));
  if (!memory)
    return false;
  auto** all = reinterpret_cast<char**>(memory);
  auto* text = static_cast<char*>(memcpy(memory + names, block, size));
  for (size_t i = 0; i < count; text += strlen(text) + 1)
    all[i++] = text;
  all[count] = nullptr;
  auto** before = made;
  made = environ = all;
  PyMem_Free(before);
  return true;
}

} // namespace troupe::zygote
