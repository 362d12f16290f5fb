// Buys: a large interpreter has megabytes of constants, and fork copies an
// entry for each 4 KiB of them that was ever looked at, or every child faults
// them in again. A huge page is one entry. It costs 2 MiB of memory, once, so
// only those are made of which an eighth is in use. Those that lie behind each
// other become one mapping, and their constants executable where any of it is
// code: in a process that runs whatever it is told to, nobody gains by that.
#include "runtime/local/warm/node/huge_constants.hpp"

#include "runtime/local/warm/memory/huge_pages.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <sys/mman.h>

#include <algorithm>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif

namespace troupe::zygote {

namespace {

constexpr size_t enough = 64; // pages of 512
constexpr int most_mappings = 64;

struct part {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = 0; // 0: not the file's, or it may have been written to
};

/// What is mapped between the first and the last part of the file that is
/// mapped around the address, in order.
int find_image(uintptr_t inside, part* found) {
  char room[map_room];
  map_reader maps{room};
  mapping last;
  int count = 0;
  bool hit = false;
  for (mapping m; maps.next(m);) {
    // Anonymous memory in between is code that already lies on huge pages.
    const bool named = !m.path.empty();
    if (named && !m.is_of_same_file(last)) {
      if (hit)
        break;
      count = 0;
      last = m;
    }
    hit = hit || m.has(inside);
    if (count < most_mappings)
      found[count++]
        = {m.begin, m.end, named && m.is_read_only() ? m.protection : 0};
  }
  return hit ? count : 0;
}

/// Of nobody, it is as good as zeros; only memory can be copied.
bool fill_hole(uintptr_t begin, uintptr_t end) {
  return begin >= end
    || mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
    != MAP_FAILED;
}

/// What these 2 MiB are for, if all of them is the file's; else 0.
int protection_of(const part* all, int count, uintptr_t begin) {
  int protection = PROT_READ;
  for (int i = 0; i < count; ++i)
    if (all[i].end > begin && all[i].begin < begin + huge) {
      if (all[i].protection == 0)
        return 0;
      protection |= all[i].protection;
    }
  return protection;
}

bool move(const part* all, int count, uintptr_t begin, uintptr_t end,
          int protection) {
  auto next = begin;
  for (int i = 0; i < count && next < end; ++i)
    if (all[i].end > begin) {
      if (!fill_hole(next, std::min<uintptr_t>(all[i].begin, end)))
        return false;
      next = all[i].end;
    }
  return next >= end && replace(begin, end, protection);
}

/// How many of the pages of one huge page are in memory, and ours to see.
size_t count_present(const pagemap& pages, uintptr_t begin) {
  static uint64_t entries[huge / page];
  return pages.count_present(begin, entries);
}

} // namespace

int move_constants(const void* inside) {
  part all[most_mappings];
  const auto count = find_image(reinterpret_cast<uintptr_t>(inside), all);
  if (count == 0)
    return 0;
  const pagemap pages;
  int made = 0;
  // As many as lie behind each other at a time: they are one mapping then.
  const auto last = down(all[count - 1].end);
  for (auto at = up(all[0].begin), next = at; at < last; at = next + huge) {
    int protection = 0;
    for (next = at; next < last && count_present(pages, next) >= enough;
         next += huge) {
      const int one = protection_of(all, count, next);
      if (one == 0)
        break;
      protection |= one;
    }
    if (next > at && move(all, count, at, next, protection))
      made += static_cast<int>((next - at) / huge);
  }
  return made;
}

} // namespace troupe::zygote
