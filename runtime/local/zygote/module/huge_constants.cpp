// Buys: a large interpreter has megabytes of constants, and fork copies an
// entry for each 4 KiB of them that was ever looked at, or every child faults
// them in again. A huge page is one entry. It costs 2 MiB of memory, once, so
// only those are made of which an eighth is in use. Those that lie behind each
// other become one mapping, and their constants executable where any of it is
// code: in a process that runs whatever it is told to, nobody gains by that.
#include "runtime/local/zygote/module/huge_constants.hpp"

#include "runtime/local/zygote/module/huge_pages.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif

namespace troupe::zygote {

namespace {

constexpr uintptr_t page = 4096;
constexpr int enough = 64; // pages of 512
constexpr int most_mappings = 64;

struct mapping {
  unsigned long begin = 0;
  unsigned long end = 0;
  bool fixed = false; // of the file, and never written to
  bool code = false;
};

/// What is mapped between the first and the last part of the file that is
/// mapped around the address, in order.
int find_image(uintptr_t inside, mapping* found) {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return 0;
  char line[4096], last[2048] = "";
  int count = 0;
  bool hit = false;
  while (fgets(line, sizeof line, maps)) {
    mapping m;
    char mode[5], name[2048] = "";
    if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %2047s", &m.begin, &m.end, mode,
               name)
        < 3)
      break;
    // Anonymous memory in between is code that already lies on huge pages.
    if (name[0] != 0 && strcmp(name, last) != 0) {
      if (hit)
        break;
      count = 0;
      strcpy(last, name);
    }
    hit = hit || (m.begin <= inside && inside < m.end);
    m.fixed = name[0] != 0 && mode[0] == 'r' && mode[1] == '-';
    m.code = mode[2] == 'x';
    if (count < most_mappings)
      found[count++] = m;
  }
  fclose(maps);
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
int protection_of(const mapping* all, int count, uintptr_t begin) {
  int protection = PROT_READ;
  for (int i = 0; i < count; ++i)
    if (all[i].end > begin && all[i].begin < begin + huge) {
      if (!all[i].fixed)
        return 0;
      protection |= all[i].code ? PROT_EXEC : 0;
    }
  return protection;
}

bool move(const mapping* all, int count, uintptr_t begin, uintptr_t end,
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
int present(int pagemap, uintptr_t begin) {
  static uint64_t entries[huge / page];
  const auto at = static_cast<off_t>(begin / page * sizeof *entries);
  if (pread(pagemap, entries, sizeof entries, at) != sizeof entries)
    return 0;
  int count = 0;
  for (auto entry : entries)
    count += static_cast<int>(entry >> 63);
  return count;
}

} // namespace

int move_constants(const void* inside) {
  mapping all[most_mappings];
  const auto count = find_image(reinterpret_cast<uintptr_t>(inside), all);
  if (count == 0)
    return 0;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  int made = 0;
  // As many as lie behind each other at a time: they are one mapping then.
  const auto last = down(all[count - 1].end);
  for (auto at = up(all[0].begin), next = at; at < last; at = next + huge) {
    int protection = 0;
    for (next = at; next < last && present(pagemap, next) >= enough;
         next += huge) {
      const int one = protection_of(all, count, next);
      if (one == 0)
        break;
      protection |= one;
    }
    if (next > at && move(all, count, at, next, protection))
      made += static_cast<int>((next - at) / huge);
  }
  close(pagemap);
  return made;
}

} // namespace troupe::zygote
