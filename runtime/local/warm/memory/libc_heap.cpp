// Buys: the blocks that a child asks for come from untouched pages at the end
// of the heap, side by side, where holes between the parent's blocks would cost
// a fault and a copy each; and fork copies an entry per 2 MiB of the heap.
#include "runtime/local/warm/memory/libc_heap.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

void* volatile skipped = nullptr; // or the compiler drops the call

/// Where libc's heap begins; 0: it has none yet.
uintptr_t heap_begin() {
  char room[map_room];
  map_reader maps{room};
  for (mapping m; maps.next(m);)
    if (m.path == "[heap]")
      return m.begin;
  return 0;
}

/// Where it ends for now.
char* heap_top() {
  return static_cast<char*>(sbrk(0)) - mallinfo2().keepcost;
}

} // namespace

void keep_libc_together() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
}

void keep_blocks_ahead(size_t size) {
  constexpr int kept = 7;      // what libc keeps of a size
  void* volatile blocks[kept]; // or the compiler drops the calls
  for (auto& block : blocks)
    block = malloc(size);
  for (auto& block : blocks)
    free(block);
}

void align_libc_heap() {
  const auto top = reinterpret_cast<uintptr_t>(heap_top());
  const auto gap = up(top) - top;
  constexpr uintptr_t header = sizeof(size_t); // of every block of libc's
  constexpr uintptr_t least = 4 * header;
  skipped = gap >= least ? malloc(gap - header) : nullptr;
}

void fill_libc_holes() {
  auto* const top = heap_top();
  size_t size = 512 << 10;
  while (size > 0) {
    auto* p = static_cast<char*>(malloc(size));
    if (p && p < top)
      continue; // it was a hole
    // Freed, a small one would be the next hole.
    if (size > 1024)
      free(p);
    size = size > 1024 ? size / 2 : size - 16;
  }
}

address_range settled_libc_heap() {
  const auto begin = heap_begin();
  fill_libc_holes();
  const auto end = reinterpret_cast<uintptr_t>(heap_top());
  return begin == 0 ? address_range{} : address_range{begin, end};
}

int collapse_libc_heap() {
  const auto begin = heap_begin();
  keep_libc_together();
  fill_libc_holes();
  // What slots and children ask for begins behind the last huge page: written
  // to there, it would be split, in every child once more.
  align_libc_heap();
  return begin == 0
    ? 0
    : collapse(begin, up(reinterpret_cast<uintptr_t>(heap_top())));
}

} // namespace troupe::zygote
