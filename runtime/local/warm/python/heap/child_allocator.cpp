// Buys: a child that allocates or frees writes to pages of its parent, and
// each first write is a fault and a copy. Fresh blocks from a region of the
// child's own are dense and start as zero pages; `free` of a parent's block
// would only dirty it for a process that lives a millisecond, so it does
// nothing. Measured: about a third of a light run's faults.
#include "runtime/local/warm/python/heap/child_allocator.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/python/heap/python_memory.hpp"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

constexpr size_t region_size = 512u << 20; // address space, not memory
constexpr size_t granule = 1024;           // the unit that has one class
constexpr size_t granules = region_size / granule;
constexpr unsigned longest_chunk = 16; // granules: how far ahead one class goes

struct block {
  block* next;
};

struct size_class {
  block* free = nullptr;
  char* next = nullptr; // of the current chunk
  char* end = nullptr;
  unsigned chunk = 1; // granules of the next chunk
};

char* region = nullptr;
unsigned char* class_of = nullptr; // by granule
size_t used = 0;                   // granules
size_class table[size_classes];
python_allocator parent_mem, parent_obj;
set_python_allocator set_allocator = nullptr;

bool ours(const void* p) {
  return static_cast<size_t>(static_cast<const char*>(p) - region)
    < region_size;
}

unsigned class_at(const void* p) {
  return class_of[static_cast<size_t>(static_cast<const char*>(p) - region)
                  / granule];
}

/// A new chunk for one class; false when the region is used up.
bool refill(size_class& c, unsigned index, size_t size) {
  size_t count = (size + granule - 1) / granule;
  if (count < c.chunk)
    count = c.chunk;
  if (used + count > granules)
    return false;
  memset(class_of + used, static_cast<int>(index), count);
  c.next = region + used * granule;
  c.end = c.next + count * granule;
  used += count;
  if (c.chunk < longest_chunk)
    c.chunk *= 2;
  return true;
}

void* take(size_t size) {
  if (size > largest_classed)
    return nullptr;
  const auto index = class_of_size(size);
  auto& c = table[index];
  if (c.free) {
    auto* b = c.free;
    c.free = b->next;
    return b;
  }
  const auto rounded = size_of_class(index);
  if (static_cast<size_t>(c.end - c.next) < rounded
      && !refill(c, index, rounded))
    return nullptr;
  auto* p = c.next;
  c.next += rounded;
  return p;
}

void give_back(void* p) {
  auto& c = table[class_at(p)];
  auto* b = static_cast<block*>(p);
  b->next = c.free;
  c.free = b;
}

// -- large blocks: libc's, remembered so that they can be told from the
// parent's, which must not be freed -----------------------------------------

constexpr size_t first_slots = 256;
void** large = nullptr; // open addressing, power of two, never full
size_t large_slots = 0;
size_t large_used = 0; // tombstones included
void* const tombstone = reinterpret_cast<void*>(1);

size_t place(const void* p, size_t slots) {
  const auto x = reinterpret_cast<uintptr_t>(p) >> 4;
  return static_cast<size_t>(x * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
}

void put(void** slots, size_t count, void* p) {
  auto i = place(p, count);
  while (slots[i])
    i = (i + 1) & (count - 1);
  slots[i] = p;
}

bool grow_large() {
  if (large_used * 2 < large_slots)
    return true;
  const auto count = large_slots ? large_slots * 2 : first_slots;
  auto** bigger = static_cast<void**>(::calloc(count, sizeof(void*)));
  if (!bigger)
    return false;
  large_used = 0;
  for (size_t i = 0; i < large_slots; ++i)
    if (large[i] && large[i] != tombstone) {
      put(bigger, count, large[i]);
      ++large_used;
    }
  ::free(large);
  large = bigger;
  large_slots = count;
  return true;
}

void** find_large(const void* p) {
  if (large_slots == 0)
    return nullptr;
  for (auto i = place(p, large_slots); large[i];
       i = (i + 1) & (large_slots - 1))
    if (large[i] == p)
      return &large[i];
  return nullptr;
}

void* take_large(size_t size, bool zero) {
  if (!grow_large())
    return nullptr;
  auto* p = zero ? ::calloc(1, size) : ::malloc(size ? size : 1);
  if (p) {
    put(large, large_slots, p);
    ++large_used;
  }
  return p;
}

// -- what the interpreter calls, with the GIL held ---------------------------

void* child_malloc(void*, size_t size) {
  if (auto* p = take(size))
    return p;
  return take_large(size, false);
}

void* child_calloc(void*, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size))
    return nullptr;
  if (auto* p = take(size))
    return memset(p, 0, size);
  return take_large(size, true);
}

void child_free(void*, void* p) {
  if (!p)
    return;
  if (ours(p))
    return give_back(p);
  if (auto** slot = find_large(p)) {
    *slot = tombstone;
    ::free(p);
  }
}

void* move_block(void* p, size_t old, size_t size) {
  auto* q = child_malloc(nullptr, size);
  if (!q)
    return nullptr;
  memcpy(q, p, old < size ? old : size);
  child_free(nullptr, p);
  return q;
}

void* child_realloc(void* context, void* p, size_t size) {
  if (!p)
    return child_malloc(nullptr, size);
  if (ours(p)) {
    const auto index = class_at(p);
    if (size <= largest_classed && class_of_size(size) == index)
      return p;
    return move_block(p, size_of_class(index), size);
  }
  if (auto** slot = find_large(p)) {
    auto* q = ::realloc(p, size ? size : 1);
    if (q && q != p) {
      *slot = tombstone;
      if (!grow_large())
        return q; // forgotten, so never freed: better than lost
      put(large, large_slots, q);
      ++large_used;
    }
    return q;
  }
  // The parent's: only its own allocator knows how long it is.
  return pass_realloc(context, p, size);
}

} // namespace

bool prepare_child_allocator() {
  const auto get = find_python_allocator("PyMem_GetAllocator");
  set_allocator = find_python_allocator("PyMem_SetAllocator");
  if (!get || !set_allocator)
    return false;
  get(mem_domain, &parent_mem);
  get(object_domain, &parent_obj);
  auto* space
    = mmap(nullptr, huge + granules + region_size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) {
    set_allocator = nullptr;
    return false;
  }
  // Before the blocks: the beginnings of both share a page table.
  region = reinterpret_cast<char*>(up(reinterpret_cast<uintptr_t>(space)));
  class_of = reinterpret_cast<unsigned char*>(region);
  region += granules;
  return true;
}

void use_child_allocator() {
  if (!set_allocator)
    return;
  python_allocator of_mem{&parent_mem, child_malloc, child_calloc,
                          child_realloc, child_free};
  python_allocator of_obj{&parent_obj, child_malloc, child_calloc,
                          child_realloc, child_free};
  set_allocator(mem_domain, &of_mem);
  set_allocator(object_domain, &of_obj);
}

} // namespace troupe::zygote
