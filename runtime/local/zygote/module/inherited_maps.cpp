// Buys: fork leaves out the page tables of a file's mapping, since a child can
// fault the pages in again, 64 KiB at a time; a large interpreter has constants
// and code all over the place, some hundred faults for every child. A mapping
// with one page of its own is copied whole, and what the warm-ups have touched
// is there from the start. Costs 4 KiB of memory per mapping, once.
#include "runtime/local/zygote/module/inherited_maps.hpp"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

namespace troupe::zygote {

namespace {

/// Writes what is there already: the page becomes the process's own.
bool own_one_page(uintptr_t begin, uintptr_t end, int mode) {
  auto* first = reinterpret_cast<volatile char*>(begin);
  auto* place = reinterpret_cast<void*>(begin);
  if (mprotect(place, end - begin, mode | PROT_WRITE) != 0)
    return false;
  *first = *first;
  return mprotect(place, end - begin, mode) == 0;
}

} // namespace

int inherit_maps(const void* inside) {
  const auto address = reinterpret_cast<uintptr_t>(inside);
  if (address == 0)
    return 0;
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return 0;
  struct {
    uintptr_t begin, end;
    int mode;
  } found[8];
  int count = 0;
  bool hit = false;
  char line[4096], last[2048] = "";
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end, inode;
    char mode[5], name[2048] = "";
    const int fields = sscanf(line, "%lx-%lx %4s %*s %*s %lu %2047s", &begin,
                              &end, mode, &inode, name);
    if (fields < 4)
      break;
    // Anonymous memory before or in between is code on huge pages already.
    if (inode != 0 && strcmp(name, last) != 0) {
      if (hit && last[0] != 0)
        break;
      count = 0;
      strcpy(last, name);
    }
    hit = hit || (begin <= address && address < end);
    if (inode != 0 && mode[0] == 'r' && mode[1] == '-' && count < 8)
      found[count++]
        = {begin, end, PROT_READ | (mode[2] == 'x' ? PROT_EXEC : 0)};
  }
  fclose(maps);
  int made = 0;
  for (int i = 0; hit && i < count; ++i)
    made += own_one_page(found[i].begin, found[i].end, found[i].mode) ? 1 : 0;
  return made;
}

} // namespace troupe::zygote
