// Buys: the blocks that a child asks for come from untouched pages at the end
// of the heap, side by side, where holes between the parent's blocks would cost
// a fault and a copy each; and fork copies an entry per 2 MiB of the heap.
#include "runtime/local/zygote/module/libc_heap.hpp"

#include "runtime/local/zygote/module/huge_pages.hpp"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

namespace troupe::zygote {

namespace {

[[maybe_unused]] void* skipped = nullptr; // or the compiler drops the call

/// Where libc's heap ends for now.
char* heap_top() {
  return static_cast<char*>(sbrk(0)) - mallinfo2().keepcost;
}

} // namespace

int collapse(uintptr_t begin, uintptr_t end) {
  int made = 0;
  for (begin = up(begin); begin + huge <= end; begin += huge)
    if (madvise(reinterpret_cast<void*>(begin), huge, MADV_COLLAPSE) == 0)
      ++made;
  return made;
}

void keep_libc_together() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
}

void align_libc_heap() {
  const auto top = reinterpret_cast<uintptr_t>(heap_top());
  const auto gap = up(top) - top;
  constexpr uintptr_t least = 4096; // headers, and what malloc rounds up
  skipped = gap > 2 * least ? malloc(gap - least) : nullptr;
}

void fill_libc_holes() {
  auto* const top = heap_top();
  size_t size = 512 << 10;
  while (size > 0) {
    auto* p = static_cast<char*>(malloc(size));
    if (p && p < top)
      continue; // it was a hole
    free(p);
    size = size > 1024 ? size / 2 : size - 16;
  }
}

int collapse_libc_heap() {
  fill_libc_holes();
  const auto top = up(reinterpret_cast<uintptr_t>(heap_top()));
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return 0;
  int made = 0;
  char line[512];
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    if (strstr(line, "[heap]") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
      made += collapse(begin, top < end ? top : end);
  }
  fclose(maps);
  return made;
}

} // namespace troupe::zygote
