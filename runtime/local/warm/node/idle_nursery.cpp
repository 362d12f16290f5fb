// Buys: V8 makes new objects in a nursery of some megabytes, all of which has
// been written to when the warm-ups are over, and almost all of which is
// garbage: fork copies an entry for each of its pages, and the child's end
// drops it again, some 6 % of a run's processor time. Pages of garbage are
// given back; a child that gets there finds a page of zeros, which is cheaper
// than a copy. What is garbage is known by what is in it: the boot script has
// filled the nursery with numbers of its own, and let go of them.
#include "runtime/local/warm/node/idle_nursery.hpp"

#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/memory/pagemap.hpp"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

namespace troupe::zygote {

namespace {

constexpr uintptr_t largest = 64u << 20; // more is somebody's reserve

/// Arrays of the number lie behind each other, with a few words between them.
/// A page on which V8 has begun anew has something else at its beginning.
bool is_garbage(uintptr_t begin, uint64_t number) {
  constexpr int words = page / sizeof number;
  constexpr int between = 16;
  const auto* word = reinterpret_cast<const uint64_t*>(begin);
  if (word[0] != number || word[words - 1] != number)
    return false;
  return std::count(word, word + words, number) >= words - between;
}

int drop_from(const pagemap& pages, const mapping& m, uint64_t number) {
  int dropped = 0;
  for (auto at = m.begin; at < m.end; at += page) {
    uint64_t entry = 0; // looking at what is not there would make it
    if (pages.count_present(at, {&entry, 1}) == 1 && is_garbage(at, number))
      dropped += madvise(reinterpret_cast<void*>(at), page, MADV_DONTNEED) == 0;
  }
  return dropped;
}

} // namespace

int drop_idle_nursery(double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  const pagemap pages;
  char room[map_room];
  map_reader maps{room};
  int dropped = 0;
  for (mapping m; maps.next(m);)
    if (m.is_private(PROT_READ | PROT_WRITE) && m.inode == 0 && m.path.empty()
        && m.size() <= largest)
      dropped += drop_from(pages, m, bits);
  return dropped;
}

} // namespace troupe::zygote
