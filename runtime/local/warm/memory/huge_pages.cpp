#include "runtime/local/warm/memory/huge_pages.hpp"

#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

namespace troupe::zygote {

int collapse(uintptr_t begin, uintptr_t end) {
  int made = 0;
  for (begin = up(begin); begin + huge <= end; begin += huge)
    if (madvise(reinterpret_cast<void*>(begin), huge, MADV_COLLAPSE) == 0)
      ++made;
  return made;
}

bool replace(uintptr_t begin, uintptr_t end, int protection) {
  const auto size = end - begin;
  const auto room = size + 2 * huge;
  auto* space = static_cast<char*>(mmap(nullptr, room, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (space == MAP_FAILED)
    return false;
  const auto first = reinterpret_cast<uintptr_t>(space);
  auto* copy = reinterpret_cast<char*>(up(first) + (begin & (huge - 1)));
  madvise(space, room, MADV_HUGEPAGE);
  memcpy(copy, reinterpret_cast<void*>(begin), size);
  const bool done = mprotect(copy, size, protection) == 0
    && mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
              reinterpret_cast<void*>(begin))
      != MAP_FAILED;
  // What is left of the room around the copy, or all of it.
  munmap(space, room);
  return done;
}

} // namespace troupe::zygote
