// Buys: fork leaves out the page tables of a file's mapping, since a child can
// fault the pages in again, 64 KiB at a time; a large interpreter has constants
// and code all over the place, some hundred faults for every child. A mapping
// with one page of its own is copied whole, and what the warm-ups have touched
// is there from the start. Costs 4 KiB of memory per mapping, once.
#include "runtime/local/warm/memory/layout_page_tables.hpp"

#include "runtime/local/warm/memory/memory_map.hpp"

#include <stdint.h>
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
  struct {
    uintptr_t begin, end;
    int mode;
  } found[8];
  int count = 0;
  bool hit = false;
  char room[map_room];
  map_reader maps{room};
  mapping last;
  for (mapping m; maps.next(m);) {
    // Anonymous memory before or in between is code on huge pages already.
    if (m.inode != 0 && !m.is_of_same_file(last)) {
      if (hit && last.inode != 0)
        break;
      count = 0;
      last = m;
    }
    hit = hit || m.has(address);
    if (m.inode != 0 && m.is_read_only() && count < 8)
      found[count++] = {m.begin, m.end, m.protection};
  }
  int made = 0;
  for (int i = 0; hit && i < count; ++i)
    made += own_one_page(found[i].begin, found[i].end, found[i].mode) ? 1 : 0;
  return made;
}

} // namespace troupe::zygote
