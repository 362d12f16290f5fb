#include "runtime/local/warm/memory/layout_moves.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/memory_file.hpp"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif

namespace troupe::zygote {

namespace {

/// A hole is as good as zeros; only memory can be copied.
bool fill_hole(uintptr_t begin, uintptr_t end) {
  return begin >= end
    || mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
    != MAP_FAILED;
}

/// The copy of it that lies at `to` takes its place.
bool move_back(const memory_part& part, char* to) {
  memcpy(to, reinterpret_cast<void*>(part.begin), part.size());
  return mprotect(to, part.size(), part.protection) == 0
    && mremap(to, part.size(), part.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
              reinterpret_cast<void*>(part.begin))
    != MAP_FAILED;
}

} // namespace

bool move_to_huge_pages(std::span<const memory_part> parts, memory_part whole) {
  auto next = whole.begin;
  for (const auto& part : parts)
    if (part.end > next && next < whole.end) {
      if (!fill_hole(next, std::min(part.begin, whole.end)))
        return false;
      next = part.end;
    }
  return next >= whole.end && replace(whole.begin, whole.end, whole.protection);
}

bool join_into_file(address_range whole) {
  return memory_file{"libraries"}.take_over(whole.begin, whole.end,
                                            PROT_READ | PROT_WRITE | PROT_EXEC);
}

int gather_into_huge_pages(std::span<const memory_part> parts) {
  uintptr_t room = 2 * huge;
  for (const auto& part : parts)
    room += part.size();
  auto* space = parts.empty() ? MAP_FAILED
                              : mmap(nullptr, room, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space == MAP_FAILED)
    return 0;
  madvise(space, room, MADV_HUGEPAGE);
  auto* to = reinterpret_cast<char*>(up(reinterpret_cast<uintptr_t>(space)));
  int moved = 0;
  for (const auto& part : parts) {
    moved += move_back(part, to) ? 1 : 0;
    to += part.size();
  }
  munmap(space, room); // what has not been moved out of it
  return moved;
}

} // namespace troupe::zygote
