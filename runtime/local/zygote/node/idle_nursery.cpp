// Buys: V8 makes new objects in a nursery of some megabytes, all of which has
// been written to when the warm-ups are over, and almost all of which is
// garbage: fork copies an entry for each of its pages, and the child's end
// drops it again, some 6 % of a run's processor time. Pages of garbage are
// given back; a child that gets there finds a page of zeros, which is cheaper
// than a copy. What is garbage is known by what is in it: the boot script has
// filled the nursery with numbers of its own, and let go of them.
#include "runtime/local/zygote/node/idle_nursery.hpp"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

constexpr uintptr_t page_size = 4096;
constexpr uintptr_t largest = 64u << 20; // more is somebody's reserve
constexpr uint64_t present = 1ull << 63;

/// Arrays of the number lie behind each other, with a few words between them.
/// A page on which V8 has begun anew has something else at its beginning.
bool is_garbage(uintptr_t page, uint64_t number) {
  constexpr int words = page_size / sizeof number;
  constexpr int between = 16;
  const auto* word = reinterpret_cast<const uint64_t*>(page);
  if (word[0] != number || word[words - 1] != number)
    return false;
  return std::count(word, word + words, number) >= words - between;
}

int drop_from(int pagemap, uintptr_t begin, uintptr_t end, uint64_t number) {
  int dropped = 0;
  for (auto page = begin; page < end; page += page_size) {
    uint64_t entry = 0; // looking at what is not there would make it
    if (pread(pagemap, &entry, sizeof entry,
              static_cast<off_t>(page / page_size * sizeof entry))
          != sizeof entry
        || (entry & present) == 0 || !is_garbage(page, number))
      continue;
    dropped
      += madvise(reinterpret_cast<void*>(page), page_size, MADV_DONTNEED) == 0;
  }
  return dropped;
}

} // namespace

int drop_idle_nursery(double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  auto* maps = pagemap < 0 ? nullptr : fopen("/proc/self/maps", "re");
  int dropped = 0;
  char line[4096];
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long begin, end, inode;
    char mode[5], name[16] = "";
    if (sscanf(line, "%lx-%lx %4s %*s %*s %lu %15s", &begin, &end, mode, &inode,
               name)
          >= 4
        && strcmp(mode, "rw-p") == 0 && inode == 0 && name[0] == 0
        && end - begin <= largest)
      dropped += drop_from(pagemap, begin, end, bits);
  }
  if (maps)
    fclose(maps);
  if (pagemap >= 0)
    close(pagemap);
  return dropped;
}

} // namespace troupe::zygote
