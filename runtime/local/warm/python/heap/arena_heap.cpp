// Buys: fork copies one page-table entry per 4 KiB page of the zygote's heap,
// or one per 2 MiB huge page. With the default preload that is some 40 us; with
// a preload of hundreds of megabytes it is the difference between 1 and 10 ms.
// The interpreter asks for its arenas one by one, a mapping each; taken from
// one region they also save a mapping each that fork would have to copy.
#include "runtime/local/warm/python/heap/arena_heap.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/libc_heap.hpp"
#include "runtime/local/warm/python/heap/python_memory.hpp"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

// As in CPython's objimpl.h, which the limited API leaves out.
struct arena_allocator {
  void* context;
  void* (*alloc)(void*, size_t);
  void (*free)(void*, void*, size_t);
};
using change = void (*)(arena_allocator*);

constexpr size_t region_size = 1024u << 20; // address space, not memory

/// Less than that is no arena but the interpreter's stack: every run writes to
/// it, so it lies at the far end, where no huge page has to be split for it.
constexpr size_t least_arena = 128u << 10;

char* region = nullptr;
size_t used = 0;
size_t used_at_end = 0;
arena_allocator original;

bool ours(const void* p) {
  return region
    && static_cast<size_t>(static_cast<const char*>(p) - region) < region_size;
}

void* take_arena(void*, size_t size) {
  if (size < least_arena && used + used_at_end + size <= region_size) {
    used_at_end += size;
    return region + region_size - used_at_end;
  }
  // An arena must begin at a multiple of its size for the newer pymalloc.
  const auto begin = (used + size - 1) / size * size;
  if (begin + size + used_at_end > region_size)
    return original.alloc(original.context, size);
  used = begin + size;
  return region + begin;
}

void drop_arena(void*, void* arena, size_t size) {
  if (ours(arena))
    madvise(arena, size, MADV_DONTNEED);
  else
    original.free(original.context, arena, size);
}

using take = void* (*)(size_t);

/// As `fill_libc_holes`, for what the interpreter's own allocator has freed.
void fill_interpreter_holes() {
  const auto allocate
    = reinterpret_cast<take>(dlsym(RTLD_DEFAULT, "PyObject_Malloc"));
  constexpr size_t largest_small = 512; // of the interpreter's own allocator
  for (size_t size = 16; allocate && size <= largest_small; size += 16)
    while (!ours(allocate(size))) {
    }
}

bool take_arenas() {
  const auto get = reinterpret_cast<change>(
    dlsym(RTLD_DEFAULT, "PyObject_GetArenaAllocator"));
  const auto set = reinterpret_cast<change>(
    dlsym(RTLD_DEFAULT, "PyObject_SetArenaAllocator"));
  if (!get || !set)
    return false;
  get(&original);
  auto* space = mmap(nullptr, region_size + huge, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    return false;
  region = reinterpret_cast<char*>(up(reinterpret_cast<uintptr_t>(space)));
  arena_allocator side_by_side{nullptr, take_arena, drop_arena};
  set(&side_by_side);
  return true;
}

} // namespace

void gather_heap_from_the_start() {
  keep_libc_together();
  keep_blocks_ahead(lock_size); // the interpreter's first locks
  align_libc_heap();
  take_arenas();
}

bool gather_heap() {
  if (region)
    return true; // from the start
  keep_libc_together();
  if (!take_arenas())
    return false;
  fill_interpreter_holes();
  fill_libc_holes();
  return true;
}

std::array<address_range, 2> settled_heap() {
  fill_interpreter_holes();
  address_range arenas;
  if (region)
    arenas = {reinterpret_cast<uintptr_t>(region),
              reinterpret_cast<uintptr_t>(region) + used};
  return {arenas, settled_libc_heap()};
}

int collapse_heap() {
  int made = 0;
  if (region)
    made += collapse(reinterpret_cast<uintptr_t>(region),
                     up(reinterpret_cast<uintptr_t>(region) + used));
  return made + collapse_libc_heap();
}

} // namespace troupe::zygote
