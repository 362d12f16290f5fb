// Buys: a large interpreter has megabytes of constants, and fork copies an
// entry for each 4 KiB of them that was ever looked at, or every child faults
// them in again. A huge page is one entry. It costs 2 MiB of memory, once, so
// only those are made of which an eighth is in use.
#include "runtime/local/zygote/module/huge_constants.hpp"

#include "runtime/local/zygote/module/huge_pages.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace troupe::zygote {

namespace {

constexpr uintptr_t page = 4096;
constexpr int enough = 64; // pages of 512
constexpr int most_mappings = 16;

struct mapping {
  unsigned long begin = 0;
  unsigned long end = 0;
};

/// What is read-only of the file that is mapped around the address.
int find_constants(uintptr_t inside, mapping* found) {
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
    if (name[0] != 0 && strcmp(mode, "r--p") == 0 && count < most_mappings)
      found[count++] = m;
  }
  fclose(maps);
  return hit ? count : 0;
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
  mapping found[most_mappings];
  const auto count = find_constants(reinterpret_cast<uintptr_t>(inside), found);
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  int made = 0;
  for (int i = 0; i < count; ++i)
    for (auto at = up(found[i].begin); at + huge <= found[i].end; at += huge)
      if (present(pagemap, at) >= enough && replace(at, at + huge, PROT_READ))
        ++made;
  close(pagemap);
  return made;
}

} // namespace troupe::zygote
