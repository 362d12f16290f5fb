// Buys: fork does not copy the page table of a file's code, so every child
// faults it in again, 64 KiB at a time. Anonymous memory is copied by fork,
// and a huge page of it is one entry. The copy is moved over the original in
// one call, from code that lies elsewhere; return addresses stay what they are.
#include "runtime/local/zygote/module/huge_text.hpp"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

constexpr uintptr_t huge = 2u << 20;

struct range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

uintptr_t up(uintptr_t address) {
  return (address + huge - 1) & ~(huge - 1);
}

/// The code mapping around an address of the interpreter.
bool find_text(uintptr_t inside, range& out) {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return false;
  char line[512];
  bool found = false;
  while (!found && fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    char mode[5];
    found = sscanf(line, "%lx-%lx %4s", &begin, &end, mode) == 3
      && begin <= inside && inside < end && strcmp(mode, "r-xp") == 0;
    if (found)
      out = {begin, end};
  }
  fclose(maps);
  return found;
}

} // namespace

int move_text() {
  const auto inside = reinterpret_cast<uintptr_t>(
    dlsym(RTLD_DEFAULT, "PyObject_GetAttrString"));
  range text;
  if (!inside || !find_text(inside, text))
    return 0;
  // The copy lies as the original does within huge pages.
  const auto size = text.end - text.begin;
  const auto room = size + 2 * huge;
  auto* space = static_cast<char*>(mmap(nullptr, room, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (space == MAP_FAILED)
    return 0;
  const auto first = reinterpret_cast<uintptr_t>(space);
  auto* copy = reinterpret_cast<char*>(up(first) + (text.begin & (huge - 1)));
  madvise(space, room, MADV_HUGEPAGE);
  memcpy(copy, reinterpret_cast<void*>(text.begin), size);
  int made = 0;
  if (mprotect(copy, size, PROT_READ | PROT_EXEC) == 0
      && mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                reinterpret_cast<void*>(text.begin))
        != MAP_FAILED)
    made = up(text.begin) < text.end
      ? static_cast<int>((text.end - up(text.begin)) / huge)
      : 0;
  // What is left of the room around the copy, or all of it.
  munmap(space, room);
  return made;
}

} // namespace troupe::zygote
