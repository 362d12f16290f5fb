#pragma once

#include <dlfcn.h>
#include <semaphore.h>
#include <stddef.h>

namespace troupe::zygote {

// As in CPython's pymem.h, which the limited API leaves out; unchanged since
// 3.5 (`calloc` came then).
struct python_allocator {
  void* context;
  void* (*malloc)(void*, size_t);
  void* (*calloc)(void*, size_t, size_t);
  void* (*realloc)(void*, void*, size_t);
  void (*free)(void*, void*);
};

/// All but the first are called with the GIL held.
enum python_domain : int { raw_domain = 0, mem_domain = 1, object_domain = 2 };

/// CPython's, on Linux.
inline constexpr size_t lock_size = sizeof(sem_t);

using set_python_allocator = void (*)(int, python_allocator*);

/// `PyMem_GetAllocator` or `PyMem_SetAllocator` of the interpreter we are in.
inline set_python_allocator find_python_allocator(const char* name) {
  return reinterpret_cast<set_python_allocator>(dlsym(RTLD_DEFAULT, name));
}

// -- in front of the interpreter's own ----------------------------------------

/// The interpreter's own by domain, once there are others in front of them.
extern python_allocator wrapped_python[3];

/// Before the interpreter starts: these are asked from here on, `raw` for what
/// needs no GIL. The context of each is the one in front of which it is.
bool wrap_python_memory(python_allocator objects, python_allocator raw);

// What an allocator has no answer to, the one behind it has.
inline void* pass_malloc(void* context, size_t size) {
  auto& to = *static_cast<python_allocator*>(context);
  return to.malloc(to.context, size);
}
inline void* pass_calloc(void* context, size_t count, size_t each) {
  auto& to = *static_cast<python_allocator*>(context);
  return to.calloc(to.context, count, each);
}
inline void* pass_realloc(void* context, void* p, size_t size) {
  auto& to = *static_cast<python_allocator*>(context);
  return to.realloc(to.context, p, size);
}
inline void pass_free(void* context, void* p) {
  auto& to = *static_cast<python_allocator*>(context);
  to.free(to.context, p);
}

// -- classes of sizes ---------------------------------------------------------

inline constexpr size_t finest_classes = 512;    // steps of 16 up to here ...
inline constexpr size_t largest_classed = 32768; // ... then four per doubling
inline constexpr unsigned fine_classes = finest_classes / 16;
inline constexpr unsigned size_classes = fine_classes + 24;

/// Of a size up to `largest_classed`.
constexpr unsigned class_of_size(size_t size) {
  if (size <= finest_classes)
    return size == 0 ? 0 : static_cast<unsigned>((size - 1) / 16);
  const unsigned top = 63u - static_cast<unsigned>(__builtin_clzll(size - 1));
  const unsigned quarter = static_cast<unsigned>((size - 1) >> (top - 2)) & 3;
  return fine_classes + (top - 9) * 4 + quarter;
}

/// The largest size in a class.
constexpr size_t size_of_class(unsigned index) {
  if (index < fine_classes)
    return (index + 1) * 16;
  const unsigned step = index - fine_classes;
  return (size_t{5} + step % 4) << (7 + step / 4);
}

} // namespace troupe::zygote
